package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// traces are files that record in which order samples are read, one a node.
type traces struct {
	dir   string // "" records nothing
	files []*traceFile
}

type traceFile struct {
	file *os.File
	w    *bufio.Writer
	err  error // the first
}

func openTraces(dir string) (*traces, error) {
	if dir == "" {
		return &traces{}, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("trace-orders: %w", err)
	}
	return &traces{dir: dir}, nil
}

// trace returns what flow.RunOptions takes.
func (t *traces) trace() func(node string) func(line []byte) {
	if t.dir == "" {
		return nil
	}
	return func(node string) func(line []byte) {
		f := &traceFile{}
		t.files = append(t.files, f)
		if f.file, f.err = os.OpenFile(filepath.Join(t.dir, node+".trace"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666); f.err != nil {
			return func([]byte) {}
		}
		f.w = bufio.NewWriter(f.file)
		return func(line []byte) {
			if _, err := f.w.Write(line); f.err == nil {
				f.err = err
			}
		}
	}
}

func (t *traces) close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.err)
		if f.w != nil {
			errs = append(errs, f.w.Flush(), f.file.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return failure{fmt.Errorf("trace-orders: %w", err)}
	}
	return nil
}

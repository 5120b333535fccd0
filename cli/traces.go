package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// traces are files that record in which order samples are read, one a node. They
// have their names once they are complete.
type traces struct {
	dir   string // "" records nothing
	check func(path string) error
	files []*traceFile
}

type traceFile struct {
	path string
	file *os.File
	w    *bufio.Writer
	err  error // the first
}

// openTraces makes the folder. check is asked about each file that is to be
// written there.
func openTraces(dir string, check func(path string) error) (*traces, error) {
	if dir == "" {
		return &traces{}, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("trace-orders: %w", err)
	}
	return &traces{dir: dir, check: check}, nil
}

// trace returns what flow.RunOptions takes.
func (t *traces) trace() func(node string) func(line []byte) {
	if t.dir == "" {
		return nil
	}
	return func(node string) func(line []byte) {
		f := &traceFile{path: filepath.Join(t.dir, node+".trace")}
		t.files = append(t.files, f)
		if f.err = t.check(f.path); f.err == nil {
			f.file, f.err = newFile(f.path)
		}
		if f.err != nil {
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
		errs = append(errs, f.close())
	}
	if err := errors.Join(errs...); err != nil {
		return failure{fmt.Errorf("trace-orders: %w", err)}
	}
	return nil
}

// close gives the file its name.
func (f *traceFile) close() error {
	if f.file == nil {
		return f.err
	}
	err := errors.Join(f.err, f.w.Flush(), f.file.Close())
	if err == nil {
		return os.Rename(f.file.Name(), f.path)
	}
	return errors.Join(err, os.Remove(f.file.Name()))
}

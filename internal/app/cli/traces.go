package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// traces are files that record the order in which samples are read, one per
// node. They get their names once they are complete.
type traces struct {
	dir   string // "" records nothing
	check func(path string) error
	files []*traceFile
}

type traceFile struct {
	file *output.Staged
	w    *bufio.Writer
	err  error // the first
}

// openTraces creates the directory. It calls check for each file to be written
// there.
func openTraces(dir string, check func(path string) error) (*traces, error) {
	if dir == "" {
		return &traces{}, nil
	}
	dir = pathguard.Resolve(dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("trace-orders: %w", err)
	}
	return &traces{dir: dir, check: check}, nil
}

// trace returns the function for flow.RunOptions.
func (t *traces) trace() func(node string) func(line []byte) {
	if t.dir == "" {
		return nil
	}
	return func(node string) func(line []byte) {
		f, path := &traceFile{}, filepath.Join(t.dir, node+".trace")
		t.files = append(t.files, f)
		if f.err = t.check(path); f.err == nil {
			f.file, f.err = output.Stage(path)
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

func (f *traceFile) close() error {
	if f.file == nil {
		return f.err
	}
	defer f.file.Discard()
	if err := errors.Join(f.err, f.w.Flush()); err != nil {
		return err
	}
	return f.file.Publish(true)
}

package mapper

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
)

// mostLogged bounds what is kept of what one command writes to stderr.
const mostLogged = 16 << 20

// A sampleLog is the file of what a command writes to stderr about one sample. It takes
// its name when the command has ended, in place of that of an earlier run.
type sampleLog struct {
	file *os.File // nil where nothing is logged
	path string
	left int
}

// logsOf returns the folder of a node's logs, a folder of its name in that of the run; ""
// if nobody wants them. It is not one that the flow reads.
func logsOf(env *component.Env) (dir string, err error) {
	if env.Logs == "" {
		return "", nil
	}
	place := component.Path(filepath.Join(env.Logs, url.PathEscape(env.Node)))
	if dir, err = output.FilesPlace(context.Background(), env, place); err != nil {
		err = fmt.Errorf("logs: %w", err)
	}
	return dir, err
}

// openLog makes the log of the sample that a command is run for, SAMPLE.log.
func openLog(ctx context.Context, dir string) (*sampleLog, error) {
	at, ok := dataset.PlaceOf(ctx)
	if dir == "" || !ok {
		return &sampleLog{}, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".unfinished-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fmt.Sprintf("%06d.log", at.Index))
	return &sampleLog{f, path, mostLogged}, f.Chmod(0o666 &^ output.Umask())
}

// Write takes all there is, and keeps the first part of it.
func (l *sampleLog) Write(b []byte) (int, error) {
	if l.file == nil || l.left == 0 {
		return len(b), nil
	}
	n := min(len(b), l.left)
	if l.left -= n; l.left == 0 {
		_, err := fmt.Fprintf(l.file, "%s\n(more than %d MiB: the rest is left out)\n", b[:n], mostLogged>>20)
		return len(b), err
	}
	_, err := l.file.Write(b[:n])
	return len(b), err
}

// close gives the log its name, or removes one of which nothing was written.
func (l *sampleLog) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if l.left == mostLogged {
		if rerr := os.Remove(l.path); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return errors.Join(err, os.Remove(l.file.Name()))
	}
	return errors.Join(err, os.Rename(l.file.Name(), l.path))
}

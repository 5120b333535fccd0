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
	"github.com/larder-data/larder/internal/fs/regularfile"
	"github.com/larder-data/larder/internal/proc/process"
)

// maxLogged bounds the log of one command's stderr, in bytes.
const maxLogged = 16 << 20

// A sampleLog is the file of a command's stderr for one sample, or for a batch, with a
// name for each of its samples. It gets its names when the command has ended, and
// replaces those of an earlier run.
type sampleLog struct {
	file  *os.File // nil without a log
	paths []string
	left  int
}

// logDir is the directory of the logs of a node.
type logDir struct {
	dir  string      // "" for no logs
	mode os.FileMode // of files there
}

// logsOf returns where the logs of a node are: in a directory of its name below that of
// the run. It must not be an input of the flow.
func logsOf(env *component.Env) (logDir, error) {
	if env.Logs == "" {
		return logDir{}, nil
	}
	place := component.Path(filepath.Join(env.Logs, url.PathEscape(env.Node)))
	dir, err := output.FilesPlace(context.Background(), env, place)
	if err != nil {
		return logDir{}, fmt.Errorf("logs: %w", err)
	}
	return logDir{dir, 0o666 &^ regularfile.Mask()}, nil
}

// openLog creates the log of the samples that a command runs for, with the name
// SAMPLE.log for each.
func openLog(ctx context.Context, in logDir) (*sampleLog, error) {
	at := dataset.PlacesOf(ctx)
	if in.dir == "" || len(at) == 0 {
		return &sampleLog{}, nil
	}
	if err := os.MkdirAll(in.dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(in.dir, ".unfinished-")
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(at))
	for i, p := range at {
		paths[i] = filepath.Join(in.dir, fmt.Sprintf("%06d.log", p.Index))
	}
	return &sampleLog{f, paths, maxLogged}, f.Chmod(in.mode)
}

// stderrWriter receives a command's stderr. It keeps the end for errors, and all for the log.
type stderrWriter struct {
	end *process.Tail
	all *sampleLog
}

// Write calls concrete types, because the code identity of a transform cannot follow an
// interface.
func (s *stderrWriter) Write(b []byte) (int, error) {
	_, _ = s.end.Write(b) // which cannot fail
	return s.all.Write(b)
}

// Write accepts all bytes, and stores the first part.
func (l *sampleLog) Write(b []byte) (int, error) {
	if l.file == nil || l.left == 0 {
		return len(b), nil
	}
	n := min(len(b), l.left)
	if l.left -= n; l.left == 0 {
		_, err := fmt.Fprintf(l.file, "%s\n(truncated after %d MiB)\n", b[:n], maxLogged>>20)
		return len(b), err
	}
	_, err := l.file.Write(b[:n])
	return len(b), err
}

// close gives the log its names, or removes it if nothing was written.
func (l *sampleLog) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if l.left == maxLogged {
		for _, path := range l.paths {
			if rerr := os.Remove(path); !errors.Is(rerr, os.ErrNotExist) {
				err = errors.Join(err, rerr)
			}
		}
		return errors.Join(err, os.Remove(l.file.Name()))
	}
	for _, path := range l.paths[1:] {
		err = errors.Join(err, l.also(path))
	}
	return errors.Join(err, os.Rename(l.file.Name(), l.paths[0]))
}

// also gives the log another name: a hard link, or a copy if the file system has no
// hard links.
func (l *sampleLog) also(path string) error {
	unfinished := l.file.Name() + "-also"
	if os.Link(l.file.Name(), unfinished) != nil {
		if err := copyFile(l.file.Name(), unfinished); err != nil {
			return errors.Join(err, os.Remove(unfinished))
		}
	}
	return os.Rename(unfinished, path)
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(from) // at most maxLogged bytes and a line
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm())
}

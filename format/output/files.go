package output

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/entries"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/objectstore"
)

// Files is a destination for the files of a sink: a local path, or a URL. A file is
// identified by its name in the directory there, or by "" if it is the destination
// itself. One goroutine at a time uses it.
type Files interface {
	// Path returns the path of a file for messages.
	Path(name string) string
	// Check refuses files that are inputs of the flow.
	Check(ctx context.Context, names ...string) error
	// LockOutput locks the destination, so that processes with a shared cache do not write it
	// at the same time. release releases the lock.
	LockOutput(ctx context.Context) (release func(), err error)
	// Names calls f with the names of the files in the directory, in any order. A missing
	// directory has none.
	Names(ctx context.Context, f func(name string)) error
	// Tidy removes what killed writers left of files with such names. It is called before
	// Write, so that writing many files lists the directory once.
	Tidy(named func(name string) bool) error
	// Write calls write to write a file that appears when it is complete, or not at all. An
	// existing file with the same content is not changed. The result is the number of bytes
	// written, 0 if none were needed.
	Write(ctx context.Context, name string, how Overwrite, write func(io.Writer) error) (int64, error)
	// Remove removes a file, if it exists.
	Remove(ctx context.Context, name string) error
	// Settle returns an error if the files of such names at a URL are not those written
	// here, because no lock excludes writers on other machines. It is called last.
	Settle(ctx context.Context, named func(name string) bool) error
}

// FilesAt returns the destination of a sink for a parameter. It refuses one that is, or
// is inside, an input of the flow (package pathguard).
func FilesAt(ctx context.Context, env *component.Env, p component.Path) (Files, error) {
	if objectstore.Is(string(p)) {
		return farAt(ctx, env, string(p))
	}
	path, err := FilesPlace(ctx, env, p)
	return &near{env, path}, err
}

// CheckPath refuses a URL that cannot be written. It accepts every local path, and sends
// no request.
func CheckPath(p component.Path) error {
	path := string(p)
	if !objectstore.Is(path) {
		return nil
	}
	if strings.Contains(path, "{") {
		return errors.New("path: braces in a URL are a pattern for several files; write %7B for a literal brace")
	}
	if strings.HasSuffix(objectstore.Name(path), "/") {
		path = inDir(path, "file")
	}
	return objectstore.CheckPut(path)
}

// CheckFile refuses the URL of a directory for a single file.
func CheckFile(p component.Path) error {
	if objectstore.Is(string(p)) && strings.HasSuffix(objectstore.Name(string(p)), "/") {
		return errors.New("path names a directory, not a file; give a file name, or set shard-bytes or shard-samples")
	}
	return nil
}

// PathIn returns the path or URL of a file in a directory.
func PathIn(dir, name string) string {
	if objectstore.Is(dir) {
		return inDir(dir, name)
	}
	return filepath.Join(dir, name)
}

// near writes local files.
type near struct {
	env  *component.Env
	path string // with links followed
}

func (n *near) Path(name string) string {
	if name == "" {
		return n.path
	}
	return filepath.Join(n.path, name)
}

func (n *near) Check(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := n.at(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// at returns the path of a file to write. A link of that name in the directory is
// replaced, so it cannot lead out of the directory.
func (n *near) at(ctx context.Context, name string) (string, error) {
	if name == "" {
		return n.path, nil // already checked
	}
	o := pathguard.Output{Owner: "node " + n.env.Node, Path: n.Path(name), Itself: true}
	if err := n.env.Inputs.Check(ctx, o); err != nil {
		return "", err
	}
	return o.Place(), nil
}

func (n *near) LockOutput(ctx context.Context) (release func(), err error) {
	return LockOutput(ctx, n.env, n.path)
}

func (n *near) Names(_ context.Context, f func(name string)) error {
	err := entries.Each(n.path, func(e fs.DirEntry) {
		if !e.IsDir() {
			f(e.Name())
		}
	})
	return removed(err)
}

func (n *near) Tidy(named func(name string) bool) error {
	if named("") {
		return tidy(n.path)
	}
	return removeStale(takeStaleOf(n.path, named))
}

func (n *near) Write(ctx context.Context, name string, how Overwrite, write func(io.Writer) error) (int64, error) {
	path, err := n.at(ctx, name)
	if err != nil {
		return 0, err
	}
	return writeFile(ctx, path, how, stage, write)
}

func (n *near) Remove(ctx context.Context, name string) error {
	path, err := n.at(ctx, name)
	if err != nil {
		return err
	}
	return removed(os.Remove(path))
}

// Settle does nothing, because of LockOutput.
func (n *near) Settle(context.Context, func(name string) bool) error { return nil }

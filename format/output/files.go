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
	"github.com/larder-data/larder/place"
)

// Files is where a sink writes files: a path of this machine, or a URL. A file is called by its
// name in the folder there, or by "" if it is the place itself. One goroutine at a time uses it.
type Files interface {
	// Path is that of a file, as it may be shown.
	Path(name string) string
	// Check refuses files that are what the flow reads.
	Check(ctx context.Context, names ...string) error
	// TakeTurn keeps two processes that share a cache from writing the place at the same time.
	// release ends the turn.
	TakeTurn(ctx context.Context) (release func(), err error)
	// Names calls f with the names of the files in the folder, in any order. Where there is no
	// folder there are none.
	Names(ctx context.Context, f func(name string)) error
	// Tidy removes what killed writers of files of such names left. It comes before Write, so that
	// each of many files does not go through all others.
	Tidy(named func(name string) bool) error
	// Write has write write a file that appears when it is complete, or not at all. One that is
	// there with the same content is left untouched. The result is the number of bytes written,
	// 0 if none were needed.
	Write(ctx context.Context, name string, how Overwrite, write func(io.Writer) error) (int64, error)
	// Remove removes a file, if it is there.
	Remove(ctx context.Context, name string) error
	// Settle returns an error if the files of such names are others than were written, at a URL:
	// where nothing keeps those apart that write there from other machines. It comes last.
	Settle(ctx context.Context, named func(name string) bool) error
}

// FilesAt returns where a sink writes files for a parameter. It refuses a place that is, or lies
// in, what the flow reads (package guard).
func FilesAt(ctx context.Context, env *component.Env, p component.Path) (Files, error) {
	if place.Is(string(p)) {
		return farAt(ctx, env, string(p))
	}
	path, err := FilesPlace(ctx, env, p)
	return &near{env, path}, err
}

// CheckPath refuses the URL of a place at which nothing can be written. It asks nobody, and takes
// every path of this machine.
func CheckPath(p component.Path) error {
	path := string(p)
	if !place.Is(path) {
		return nil
	}
	if strings.Contains(path, "{") {
		return errors.New("path: a URL with braces is read as a pattern that stands for several files; write %7B for a brace in the name of one")
	}
	if strings.HasSuffix(place.Name(path), "/") {
		path = inFolder(path, "file")
	}
	return place.CheckPut(path)
}

// CheckFile refuses a URL that names a folder, where one file is written.
func CheckFile(p component.Path) error {
	if place.Is(string(p)) && strings.HasSuffix(place.Name(string(p)), "/") {
		return errors.New("path: it names a folder, where a file is needed; give the file a name, or say shard-bytes or shard-samples to write several")
	}
	return nil
}

// PathIn is the path of a file in a folder of this machine, or its URL in one at a URL.
func PathIn(folder, name string) string {
	if place.Is(folder) {
		return inFolder(folder, name)
	}
	return filepath.Join(folder, name)
}

// near are files of this machine.
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

// at is where a file is written. A link that has its name in the folder is replaced, and leads
// nothing out of that.
func (n *near) at(ctx context.Context, name string) (string, error) {
	if name == "" {
		return n.path, nil // it was checked
	}
	o := pathguard.Output{Who: "node " + n.env.Node, Path: n.Path(name), Itself: true}
	if err := n.env.Inputs.Check(ctx, o); err != nil {
		return "", err
	}
	return o.Place(), nil
}

func (n *near) TakeTurn(ctx context.Context) (release func(), err error) {
	return TakeTurn(ctx, n.env, n.path)
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

// Settle has nothing to look at: see TakeTurn.
func (n *near) Settle(context.Context, func(name string) bool) error { return nil }

package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/larder-data/larder/internal/fs/pathguard"
)

// A watcher reports changes of files and of the content of directories. It
// watches directories only: the named ones with their subdirectories, and all
// parents up to the root. So it detects files that are replaced under the same
// name, however many there are.
type watcher struct {
	fs     *fsnotify.Watcher
	signal chan struct{} // of a change; has capacity for one
	done   chan struct{}

	mu      sync.Mutex
	paths   []string
	picks   map[string][]func(file string) bool // by path: the filters of all its readers for files there
	own     []string                            // written by the run itself
	near    string                              // a directory in which all files count
	changed []string
	err     error
}

// Up to maxNoted changes are recorded and up to maxNamed named.
const (
	maxNoted = 64
	maxNamed = 3
)

func newWatcher() (*watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{fs: fs, signal: make(chan struct{}, 1), done: make(chan struct{})}
	go w.listen()
	return w, nil
}

func (w *watcher) close() {
	if err := w.fs.Close(); err == nil {
		<-w.done
	}
}

// listen records changes until the watcher is closed.
func (w *watcher) listen() {
	defer close(w.done)
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if e.Op&^fsnotify.Chmod != 0 { // permissions, times and links do not change content
				w.note(e.Name)
			}
		case err, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.note("") // anything may have changed
			}
		}
	}
}

// note records a change, with "" for an unknown name.
func (w *watcher) note(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name != "" && !w.counts(name) {
		return
	}
	if !slices.Contains(w.changed, name) && len(w.changed) < maxNoted {
		w.changed = append(w.changed, name)
	}
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// wait waits for changes, and for the end of their burst. It returns false if
// ctx ends before. It ignores logs of the program's own output, because every
// run would lead to another. It finds them here and not at each change, because
// that needs a scan of all processes.
func (w *watcher) wait(ctx context.Context) bool {
	for burst(ctx, w.signal) {
		logs := printedTo()
		w.mu.Lock()
		if len(w.changed) < maxNoted { // otherwise anything may have changed
			w.changed = slices.DeleteFunc(w.changed, logs.has)
		}
		left := len(w.changed) > 0
		w.mu.Unlock()
		if left {
			return true
		}
	}
	return false
}

// counts reports whether a change of this name matters: the name equals, lies
// in or contains a watched path. Outputs of the run do not matter, unless they
// are watched.
func (w *watcher) counts(name string) bool {
	if w.near != "" && filepath.Dir(name) == w.near {
		return true
	}
	return slices.ContainsFunc(w.paths, func(path string) bool {
		if !pathguard.Inside(path, name) && !pathguard.Inside(name, path) || w.passed(path, name) {
			return false
		}
		return !slices.ContainsFunc(w.own, func(own string) bool { return !pathguard.Inside(own, path) && wrote(own, name) })
	})
}

// passed reports whether no reader of a path reads the file name. A missing
// file may have been a directory with files that a reader reads.
func (w *watcher) passed(path, name string) bool {
	picks := w.picks[path]
	within, err := filepath.Rel(path, name)
	if len(picks) == 0 || err != nil || !filepath.IsLocal(within) || within == "." {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && !slices.ContainsFunc(picks, func(pick func(string) bool) bool { return pick(filepath.ToSlash(within)) })
}

// wrote reports whether name is the output own, or its temporary name.
func wrote(own, name string) bool {
	hidden := filepath.Join(filepath.Dir(own), "."+filepath.Base(own)+".")
	return pathguard.Inside(own, name) || strings.HasPrefix(name, hidden)
}

// look sets the watched paths. It ignores outputs of the run, and files that
// the picks of a path exclude.
func (w *watcher) look(paths, own []string, near string, picks map[string][]func(file string) bool) {
	all := map[string][]func(file string) bool{}
	for path, p := range picks {
		for _, real := range withReal([]string{path}) {
			all[real] = append(all[real], p...)
		}
	}
	paths, own = withReal(paths), withReal(own)
	w.mu.Lock()
	w.paths, w.own, w.near, w.picks = paths, own, near, all
	w.mu.Unlock()
	for _, p := range paths {
		w.around(p)
		w.within(p)
	}
}

// withReal returns absolute paths, and the same paths with links resolved.
func withReal(paths []string) (all []string) {
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil || p == "" {
			continue
		}
		all = append(all, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
			all = append(all, real)
		}
	}
	return all
}

// around watches the parents of a path. It leaves out unreadable ones, which
// seldom change.
func (w *watcher) around(path string) {
	for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
		_ = w.fs.Add(dir)
	}
}

// within watches a directory and its subdirectories.
func (w *watcher) within(path string) {
	err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = w.fs.Add(path)
		}
		if errors.Is(err, fs.ErrNotExist) { // its creation will be seen
			return nil
		}
		return err
	})
	if err != nil {
		w.mu.Lock()
		w.err = cmp.Or(w.err, err)
		w.mu.Unlock()
	}
}

// problem returns the reason why some changes will not be seen.
func (w *watcher) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// changes lists the changes, relative to a directory.
func (w *watcher) changes(from string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, name := range w.changed {
		if rel, err := filepath.Rel(from, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		names = append(names, printable(cmp.Or(name, "more than could be noted")))
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], "more")
	}
	return strings.Join(names, ", ")
}

// A burst of changes ends after quietTime without a change, or after burstTime
// at the latest.
const (
	quietTime = 200 * time.Millisecond
	burstTime = 5 * time.Second
)

// burst waits for a burst of signals and for its end. It returns false if ctx
// ends before.
func burst(ctx context.Context, signals <-chan struct{}) bool {
	select {
	case <-signals:
	case <-ctx.Done():
		return false
	}
	end := time.After(burstTime)
	for {
		select {
		case <-signals:
		case <-time.After(quietTime):
			return true
		case <-end:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

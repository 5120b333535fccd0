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

// A watcher tells of changes of files and of what is in folders, by watching
// folders only: those that are named with all in them, and those that these lie
// in, up to the root. So what is replaced under the same name is seen, however
// many files there are.
type watcher struct {
	fs     *fsnotify.Watcher
	signal chan struct{} // of a change; holds one
	done   chan struct{}

	mu      sync.Mutex
	paths   []string
	picks   map[string][]func(file string) bool // for paths: which of the files there are read, by any of who reads it
	own     []string                            // what the run itself writes
	near    string                              // a folder all of whose files count
	changed []string
	err     error
}

// Of changes, mostNoted are noted and mostNamed named.
const (
	mostNoted = 64
	mostNamed = 3
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

// listen notes changes until the watcher is closed.
func (w *watcher) listen() {
	defer close(w.done)
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if e.Op&^fsnotify.Chmod != 0 { // permissions, times and links are no content
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

// note takes in that something has changed, "" if it is not known what.
func (w *watcher) note(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name != "" && !w.counts(name) {
		return
	}
	if !slices.Contains(w.changed, name) && len(w.changed) < mostNoted {
		w.changed = append(w.changed, name)
	}
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// wait waits for changes, and until their burst is over. It returns false if ctx ends
// before. Logs of what the program prints are found now and not at each change, as it
// takes looking at all processes, and passed over, or every run would lead to another.
func (w *watcher) wait(ctx context.Context) bool {
	for burst(ctx, w.signal) {
		logs := printedTo()
		w.mu.Lock()
		if len(w.changed) < mostNoted { // or anything may have changed
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

// counts reports whether a change of this name matters: it is, lies in, or lies
// around what is looked at. What the run writes does not, unless it is looked at
// all the same.
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

// passed reports whether a file at a path is read by nobody who reads the path. What is
// gone may have been a folder with files that were.
func (w *watcher) passed(path, name string) bool {
	picks := w.picks[path]
	within, err := filepath.Rel(path, name)
	if len(picks) == 0 || err != nil || !filepath.IsLocal(within) || within == "." {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && !slices.ContainsFunc(picks, func(pick func(string) bool) bool { return pick(filepath.ToSlash(within)) })
}

// wrote reports whether name is what is written as own, or what that is called
// until it is complete.
func wrote(own, name string) bool {
	hidden := filepath.Join(filepath.Dir(own), "."+filepath.Base(own)+".")
	return pathguard.Inside(own, name) || strings.HasPrefix(name, hidden)
}

// look sets what is looked at. What the run itself writes is passed over, and so is what
// picks say of paths that nobody reads.
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

// withReal returns paths, absolute, and what they are called without links.
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

// around watches the folders that a path lies in. Those that may not be read
// are left out: they seldom change.
func (w *watcher) around(path string) {
	for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
		_ = w.fs.Add(dir)
	}
}

// within watches a folder and those in it.
func (w *watcher) within(path string) {
	err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = w.fs.Add(path)
		}
		if errors.Is(err, fs.ErrNotExist) { // its coming will be seen
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

// problem is why some changes will not be seen.
func (w *watcher) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// changes names what has changed, as seen from a folder.
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
	if len(names) > mostNamed {
		names = append(names[:mostNamed], "more")
	}
	return strings.Join(names, ", ")
}

// A burst of changes is over when there was none for quietTime, and is not
// waited for any longer than burstTime.
const (
	quietTime = 200 * time.Millisecond
	burstTime = 5 * time.Second
)

// burst waits for a burst of signals, and until it is over. It returns false if
// ctx ends before.
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

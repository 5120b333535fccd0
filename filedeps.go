package larder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

// usedFile is a file that a computation reads itself, with its earlier state and the
// links and directories on its path.
type usedFile struct {
	path   string
	way    way
	state  key.FileStat // zero if it did not exist
	digest key.Digest
}

// unchanged reports whether the file was unchanged all the time. It reads a recently
// written file again, because a write through a mapping sets no new time.
func (f usedFile) unchanged() bool {
	if !f.way.unchanged() {
		return false
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return f.state == key.FileStat{} && errors.Is(err, fs.ErrNotExist)
	}
	if key.StatOf(info) != f.state {
		return false
	}
	if f.state.Settled(time.Now()) {
		return true
	}
	d, _, err := key.DigestFile(context.Background(), f.path, nil)
	return err == nil && d == f.digest
}

// way has the links on a path, the file or directory at its end, and the directories
// around all of them.
type way struct {
	path    string
	links   []string
	end     string
	states  map[string]key.FileStat // of existing links and directories
	missing bool                    // the end does not exist
}

func wayTo(path string) way {
	w := way{path: path, states: map[string]key.FileStat{}}
	w.links, w.end = pathguard.ResolveLinks(path)
	for _, at := range append([]string{w.end}, w.links...) {
		if info, err := os.Lstat(at); err != nil {
			w.missing = true
		} else if at != w.end {
			w.states[at] = key.StatOf(info)
		}
		for dir := filepath.Dir(at); w.states[dir] == (key.FileStat{}); dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err == nil {
				w.states[dir] = key.StatOf(info)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return w
}

// unchanged reports whether the way was unchanged all the time. A directory gets a new
// time when an entry is added, removed or renamed, and when it is renamed itself. It
// may have been replaced for a while only if its parent has a new time, too.
func (w way) unchanged() bool {
	now := wayTo(w.path)
	if now.missing != w.missing || now.end != w.end || !slices.Equal(now.links, w.links) || len(now.states) != len(w.states) {
		return false
	}
	for at, before := range w.states {
		s := now.states[at]
		around := filepath.Dir(at)
		switch {
		case s == before:
		case s.Dev != before.Dev || s.Ino != before.Ino || slices.Contains(w.links, at):
			return false
		case now.states[around] != w.states[around] || w.missing && w.nearest() == at:
			return false
		}
	}
	return true
}

// nearest returns the innermost existing directory around a missing end.
func (w way) nearest() string {
	dir := filepath.Dir(w.end)
	for w.states[dir] == (key.FileStat{}) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

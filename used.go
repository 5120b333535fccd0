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

// usedFile is a file that a computation reads by itself, as it was before, with
// the way to it: a name may lead to another file meanwhile.
type usedFile struct {
	path   string
	way    way
	state  key.FileStat // zero if it was not there
	digest key.Digest
}

// steady reports whether the file is what it was, and was that all the time.
// What was written to of late is read again: a write through a mapping leaves
// no new time.
func (f usedFile) steady() bool {
	if !f.way.steady() {
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

// way is the links that a path leads through, the file or folder that it comes
// to, and the folders around all of them.
type way struct {
	path    string
	links   []string
	end     string
	states  map[string]key.FileStat // of links and folders that are there
	missing bool                    // there is nothing at the end
}

// wayTo returns the way that leads from a path.
func wayTo(path string) way {
	w := way{path: path, states: map[string]key.FileStat{}}
	w.links, w.end = pathguard.Trail(path)
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

// steady reports whether the way is what it was, and was that all the time. A
// folder has a new time when something in it comes, goes or gets another name,
// and when it gets another name itself: only if the one around it has a new time,
// too, may it have been another one meanwhile.
func (w way) steady() bool {
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

// nearest is the innermost folder that is there around what is missing.
func (w way) nearest() string {
	dir := filepath.Dir(w.end)
	for w.states[dir] == (key.FileStat{}) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/format/internal/entries"
)

// A pending file or directory is hidden next to its final path and named
// ".NAME.larder-DIGITS". If an exchange takes two moves, the old directory has that name
// with "-old" in between.
const (
	stagingMark = ".larder-"
	asideMark   = "-old"
)

// stagingPattern returns the name pattern of pending files of a path, for [os.MkdirTemp]
// and [os.CreateTemp].
func stagingPattern(path string) string { return "." + filepath.Base(path) + stagingMark }

// stagings lists the pending files and directories of some names in a directory. Links
// are ignored.
func stagings(dir string, named func(name string) bool) (paths []string, err error) {
	err = entries.Each(dir, func(e fs.DirEntry) {
		name := strings.TrimSuffix(e.Name(), asideMark)
		mark := strings.LastIndex(name, stagingMark)
		if mark < 1 || name[0] != '.' {
			return
		}
		digits := name[mark+len(stagingMark):]
		if named(name[1:mark]) && e.Type()&fs.ModeSymlink == 0 && digits != "" && strings.Trim(digits, "0123456789") == "" {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	})
	return paths, err
}

// A stale is a locked file or directory that a killed writer left.
type stale struct {
	path string // of a file or directory
	lock io.Closer
}

// takeStale locks and returns what killed writers of some paths in one directory left.
// It omits files of live writers, and returns nothing if the system cannot tell.
func takeStale(of ...string) ([]stale, error) {
	if len(of) == 0 {
		return nil, nil
	}
	names := make(map[string]bool, len(of))
	for _, path := range of {
		names[filepath.Base(path)] = true
	}
	return takeStaleOf(filepath.Dir(of[0]), func(name string) bool { return names[name] })
}

// takeStaleOf is takeStale for names in a directory.
func takeStaleOf(dir string, named func(name string) bool) ([]stale, error) {
	if !canLock {
		return nil, nil
	}
	paths, err := stagings(dir, named)
	if err != nil {
		return nil, err
	}
	var all []stale
	for _, p := range paths {
		if lock, err := takeLock(p); err == nil { // else another process has it, or has just moved it
			all = append(all, stale{p, lock})
		}
	}
	return all, nil
}

// remove removes it.
func (s stale) remove() error { return errors.Join(os.RemoveAll(s.path), s.lock.Close()) }

// tidy removes what killed writers of some paths in one directory left.
func tidy(paths ...string) error {
	stale, err := takeStale(paths...)
	return removeStale(stale, err)
}

// removeStale removes what was found; a missing directory is not an error.
func removeStale(stale []stale, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, s := range stale {
		err = errors.Join(err, s.remove())
	}
	return err
}

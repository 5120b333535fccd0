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

// A file or folder that is being written is hidden beside its place and called
// ".NAME.larder-DIGITS". The old folder, while the two change places where that
// takes two moves, is called the same with "-old".
const (
	stagingMark = ".larder-"
	asideMark   = "-old"
)

// stagingPattern is the name of what is written for a path, for [os.MkdirTemp]
// and [os.CreateTemp].
func stagingPattern(path string) string { return "." + filepath.Base(path) + stagingMark }

// stagings lists what is or was being written for some files of a folder, by their
// names. A link is neither.
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

// A stale is what a killed writer left, now locked so that nobody else takes
// it.
type stale struct {
	path string // of a file or folder
	lock io.Closer
}

// takeStale returns what killed writers of some paths left, which lie in one folder.
// What has a writer that is alive is not among it, nor is anything where that cannot be
// told.
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

// takeStaleOf is takeStale for the files of a folder whose names are such.
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
		if lock, err := takeLock(p); err == nil { // else somebody has it, or has just moved it
			all = append(all, stale{p, lock})
		}
	}
	return all, nil
}

// remove removes it.
func (s stale) remove() error { return errors.Join(os.RemoveAll(s.path), s.lock.Close()) }

// tidy removes what killed writers of some paths left, which lie in one folder.
func tidy(paths ...string) error {
	stale, err := takeStale(paths...)
	return removeStale(stale, err)
}

// removeStale removes what was found; where there is no folder there is nothing.
func removeStale(stale []stale, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, s := range stale {
		err = errors.Join(err, s.remove())
	}
	return err
}

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/store"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// marks are the files that say of a folder that it is a store, and how each
// begins. One is enough, as any may be damaged.
var marks = []struct{ name, start string }{
	{formatFile, format.VersionStart},
	{tagFile, cachedirTag},
	{readmeFile, readme[:strings.IndexByte(readme, '.')]},
}

// folders are those of a store. Their names alone prove nothing: anybody may
// have some like them.
var folders = []string{quarantineDir, tempDir, trashDir, packsDir, blobsDir, manifestsDir, touchDir}

// checkOurs refuses a folder that is neither a store nor empty, with an error
// that wraps store.ErrForeign: what is in a store is removed as it sees fit.
func (s *Store) checkOurs() error {
	if s.isMarked() {
		return nil
	}
	other := s.firstForeign()
	if other == "" || s.isMarked() { // it may just have become one
		return nil
	}
	return fmt.Errorf("the folder holds %s, and so is %w; name an empty folder, or one that is not there yet", other, store.ErrForeign)
}

func (s *Store) isMarked() bool {
	for _, m := range marks {
		text, err := readSmall(filepath.Join(s.dir, m.name), 4096)
		if err == nil && strings.HasPrefix(string(text), m.start) {
			return true
		}
	}
	return false
}

// firstForeign names something in the folder that is not left by whoever began
// to make a store there, "" if there is nothing.
func (s *Store) firstForeign() string {
	entries, _ := os.ReadDir(s.dir) // what is wrong shows when it is written
	for _, e := range entries {
		if !s.isBegun(e) {
			return e.Name()
		}
	}
	return ""
}

// isBegun reports whether e may be of a store that has no mark yet: an empty
// folder of it, but for temporary files, or an empty file to lock.
func (s *Store) isBegun(e fs.DirEntry) bool {
	if e.Name() == leasesFile || e.Name() == collectFile {
		info, err := e.Info()
		return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
	}
	if !e.IsDir() || !slices.Contains(folders, e.Name()) {
		return false
	}
	held, err := os.ReadDir(filepath.Join(s.dir, e.Name()))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(held, func(h fs.DirEntry) bool {
		return e.Name() != tempDir || !isTempName(h.Name()) || !h.Type().IsRegular()
	})
}

// mark sees to it that the folder is marked before anything else is in it, if
// it was deleted while in use, or had no room for a mark.
func (s *Store) mark() error {
	path := filepath.Join(s.dir, formatFile)
	if _, err := os.Lstat(path); !isObstructed(err) {
		return nil
	}
	if err := s.checkOurs(); err != nil {
		return err
	}
	return s.writeMark()
}

func (s *Store) writeMark() error {
	return s.fill(filepath.Join(s.dir, formatFile), []byte(format.VersionText(format.Version)))
}

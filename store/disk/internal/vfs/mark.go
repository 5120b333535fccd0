package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
)

// marks are the files that mark a directory as a store, and their first bytes. One is
// enough, because any may be damaged.
var marks = []struct{ name, start string }{
	{FormatFile, format.VersionStart},
	{TagFile, cachedirTag},
	{ReadmeFile, readme[:strings.IndexByte(readme, '.')]},
}

// dirs are the directories in a store. Their names alone prove nothing, because other
// directories may have them.
var dirs = []string{Quarantine, Temps, Trash, Packs, Blobs, Manifests, Touches}

// CheckOurs returns an error that wraps store.ErrForeign for a directory that is neither a
// store nor empty, because a store removes files in its directory.
func (f *Directory) CheckOurs() error {
	if f.isMarked() {
		return nil
	}
	other := f.firstForeign()
	if other == "" || f.isMarked() { // it may just have become one
		return nil
	}
	return fmt.Errorf("the directory holds %s and is %w; name an empty or new directory", other, store.ErrForeign)
}

func (f *Directory) isMarked() bool {
	for _, m := range marks {
		text, err := f.Read(f.Path(m.name), 4096)
		if err == nil && strings.HasPrefix(string(text), m.start) {
			return true
		}
	}
	return false
}

// firstForeign names an entry of the directory that an unfinished creation of a store did
// not leave, "" if there is none.
func (f *Directory) firstForeign() string {
	entries, _ := f.List(f.Dir) // errors show when it is written
	for _, e := range entries {
		if !f.isBegun(e) {
			return e.Name()
		}
	}
	return ""
}

// isBegun reports whether e may be part of a store without a mark yet: one of its
// directories, empty except for temporary files, or an empty lock file.
func (f *Directory) isBegun(e fs.DirEntry) bool {
	if e.Name() == LeasesFile || e.Name() == CollectFile {
		info, err := e.Info()
		return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
	}
	if !e.IsDir() || !slices.Contains(dirs, e.Name()) {
		return false
	}
	held, err := f.List(f.Path(e.Name()))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(held, func(h fs.DirEntry) bool {
		return e.Name() != Temps || !IsTempName(h.Name()) || !h.Type().IsRegular()
	})
}

// Mark marks the directory before it gets other content, if it was deleted while in use, or
// if a full disk prevented the mark.
func (f *Directory) Mark() error {
	path := f.Path(FormatFile)
	if _, err := f.Lstat(path); !IsObstructed(err) {
		return nil
	}
	if err := f.CheckOurs(); err != nil {
		return err
	}
	return f.WriteMark()
}

// WriteMark marks the directory as a store of the version that this program writes.
func (f *Directory) WriteMark() error {
	return f.fill(f.Path(FormatFile), func(w io.Writer) error {
		_, err := io.WriteString(w, format.VersionText(format.Version))
		return err
	})
}

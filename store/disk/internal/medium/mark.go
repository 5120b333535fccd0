package medium

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

// marks are the files that say of a folder that it is a store, and how each
// begins. One is enough, as any may be damaged.
var marks = []struct{ name, start string }{
	{FormatFile, format.VersionStart},
	{TagFile, cachedirTag},
	{ReadmeFile, readme[:strings.IndexByte(readme, '.')]},
}

// folders are those of a store. Their names alone prove nothing: anybody may
// have some like them.
var folders = []string{Quarantine, Temps, Trash, Packs, Blobs, Manifests, Touches}

// CheckOurs refuses a folder that is neither a store nor empty, with an error
// that wraps store.ErrForeign: what is in a store is removed as it sees fit.
func (f *Folder) CheckOurs() error {
	if f.isMarked() {
		return nil
	}
	other := f.firstForeign()
	if other == "" || f.isMarked() { // it may just have become one
		return nil
	}
	return fmt.Errorf("the folder holds %s, and so is %w; name an empty folder, or one that is not there yet", other, store.ErrForeign)
}

func (f *Folder) isMarked() bool {
	for _, m := range marks {
		text, err := f.Read(f.Path(m.name), 4096)
		if err == nil && strings.HasPrefix(string(text), m.start) {
			return true
		}
	}
	return false
}

// firstForeign names something in the folder that is not left by whoever began
// to make a store there, "" if there is nothing.
func (f *Folder) firstForeign() string {
	entries, _ := f.List(f.Dir) // what is wrong shows when it is written
	for _, e := range entries {
		if !f.isBegun(e) {
			return e.Name()
		}
	}
	return ""
}

// isBegun reports whether e may be of a store that has no mark yet: an empty
// folder of it, but for temporary files, or an empty file to lock.
func (f *Folder) isBegun(e fs.DirEntry) bool {
	if e.Name() == LeasesFile || e.Name() == CollectFile {
		info, err := e.Info()
		return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
	}
	if !e.IsDir() || !slices.Contains(folders, e.Name()) {
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

// Mark sees to it that the folder is marked before anything else is in it, if
// it was deleted while in use, or had no room for a mark.
func (f *Folder) Mark() error {
	path := f.Path(FormatFile)
	if _, err := f.Lstat(path); !IsObstructed(err) {
		return nil
	}
	if err := f.CheckOurs(); err != nil {
		return err
	}
	return f.WriteMark()
}

// WriteMark marks the folder as a store of the version that this program writes.
func (f *Folder) WriteMark() error {
	return f.fill(f.Path(FormatFile), func(w io.Writer) error {
		_, err := io.WriteString(w, format.VersionText(format.Version))
		return err
	})
}

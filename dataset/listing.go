package dataset

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
)

// A Listing says when files were listed, and in which folders. Items of its
// files are read only as long as all are of one state: a file that was changed
// since, or that lies in another folder that has taken the name of the one that
// was listed, is an error that wraps [ErrChanged]. So a dataset that is replaced
// while it is read is never read in part as it was and in part as it is.
//
// That a file was changed is seen by its times, which on most systems do not
// show a change within a few milliseconds after the listing; of a file with
// several names (hard links) only a change of its content is seen.
type Listing struct {
	at      time.Time
	folders map[string]fs.FileInfo
	now     func() time.Time // another one in tests
}

// NewListing begins a listing: it is made before any folder is listed.
func NewListing() *Listing {
	return &Listing{at: time.Now(), folders: map[string]fs.FileInfo{}, now: time.Now}
}

// Folder notes a folder that is about to be listed, itself or one below it.
func (l *Listing) Folder(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		l.folders[filepath.Clean(path)] = info
	}
	return err
}

// File returns the item in a file that was listed, as [File] does.
// A nil listing knows of none.
func (l *Listing) File(path string, memo key.Memo) *Item {
	f := newFile(path, memo)
	f.listing = l
	return ItemFrom(f)
}

// Check reports whether the folders that were noted are still there, for the end
// of the listing.
func (l *Listing) Check() error {
	for _, path := range slices.Sorted(maps.Keys(l.folders)) {
		if err := l.folder(path, path); err != nil {
			return err
		}
	}
	return nil
}

// file reports whether a file is still what was listed. A nil listing says so of
// any.
func (l *Listing) file(path string) error {
	if l == nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	now, s := time.Now(), key.StatOf(info)
	since := func(t int64) bool { // times to come are of a clock that was set back, and say nothing
		return t > l.at.UnixNano() && t <= now.UnixNano()
	}
	if since(s.Mtime) || since(s.Ctime) && !linked(info) {
		return fmt.Errorf("%s: it is not what was there when its folder was listed: %w", path, ErrChanged)
	}
	return l.folderOf(path)
}

// still is [Listing.file] for a file that was just seen to be in a state. One that is
// older than the listing was in it then.
func (l *Listing) still(path string, s key.FileStat) error {
	if l == nil {
		return nil
	}
	if at := l.at.UnixNano(); s.Ctime == 0 || s.Ctime > at || s.Mtime > at {
		return l.file(path)
	}
	return l.folderOf(path)
}

// folderOf reports whether the noted folder in which a file lies has its name still.
func (l *Listing) folderOf(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, noted := l.folders[dir]; noted {
			return l.folder(dir, path)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// folder reports whether a folder that was noted has its name still; path is
// what is read in it.
func (l *Listing) folder(dir, path string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(info, l.folders[dir]) {
		return fmt.Errorf("%s: another folder has the name %s since it was listed: %w", path, dir, ErrChanged)
	}
	return nil
}

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

// A Listing records when files were listed, and in which directories. Items of its files
// are read only while all files are in one state. A file that was changed since, or
// whose directory was replaced by another one of that name, is an error that wraps
// [ErrChanged]. So a dataset that is replaced during reads never returns a mixture of
// old and new.
//
// Changes of files are detected by their times, which on most systems do not show a
// change within a few milliseconds after the listing. For a file with several names
// (hard links) only changes of its content are detected.
type Listing struct {
	at   time.Time
	dirs map[string]fs.FileInfo
	now  func() time.Time // replaced in tests
}

// NewListing begins a listing. Call it before listing any directory.
func NewListing() *Listing {
	return &Listing{at: time.Now(), dirs: map[string]fs.FileInfo{}, now: time.Now}
}

// Dir records a directory that is about to be listed: the root or one below it.
func (l *Listing) Dir(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		l.dirs[filepath.Clean(path)] = info
	}
	return err
}

// File returns the item in a listed file, as [File] does. A nil listing is allowed and
// checks nothing.
func (l *Listing) File(path string, memo key.Memo) *Item {
	f := newFile(path, memo)
	f.listing = l
	return ItemFrom(f)
}

// Check returns an error if a recorded directory was replaced. Call it at the end of the
// listing.
func (l *Listing) Check() error {
	for _, path := range slices.Sorted(maps.Keys(l.dirs)) {
		if err := l.dir(path, path); err != nil {
			return err
		}
	}
	return nil
}

// file returns an error if a file is not in its listed state. A nil listing accepts any.
func (l *Listing) file(path string) error {
	if l == nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	now, s := time.Now(), key.StatOf(info)
	since := func(t int64) bool { // future times are of a clock that was set back, and prove nothing
		return t > l.at.UnixNano() && t <= now.UnixNano()
	}
	if since(s.Mtime) || since(s.Ctime) && !linked(info) {
		return fmt.Errorf("%s: replaced after its directory was listed: %w", path, ErrChanged)
	}
	return l.dirOf(path)
}

// still is [Listing.file] for a file that was just seen in a state. A file older than
// the listing was in that state then.
func (l *Listing) still(path string, s key.FileStat) error {
	if l == nil {
		return nil
	}
	if at := l.at.UnixNano(); s.Ctime == 0 || s.Ctime > at || s.Mtime > at {
		return l.file(path)
	}
	return l.dirOf(path)
}

// dirOf returns an error if the recorded directory of a file no longer has its name.
func (l *Listing) dirOf(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, noted := l.dirs[dir]; noted {
			return l.dir(dir, path)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// dir returns an error if a recorded directory no longer has its name; path is the
// file read in it.
func (l *Listing) dir(dir, path string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(info, l.dirs[dir]) {
		return fmt.Errorf("%s: directory %s was replaced after it was listed: %w", path, dir, ErrChanged)
	}
	return nil
}

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// Every process adds its own touch files; a process that finds many merges them.
const (
	touchSuffix   = ".touch"
	maxTouchFiles = 16
	// maxNotes is how many uses are collected before they are written.
	maxNotes = 1 << 18
)

// touchEvery is the precision of the last use of a record: a use soon after another, or
// after the record was made, is not noted.
const touchEvery = time.Hour

// touches holds the last uses of records, for records older than touchEvery.
type touches struct {
	mu    sync.Mutex
	known map[uint64]uint32 // in minutes; nil until the files are read
	fresh map[uint64]uint32 // not in a file yet
}

func minutes(t time.Time) uint32 { return uint32(t.Unix() / 60) }

// note notes that the record fp with the given stamp is used now.
func (t *touches) note(s *Store, fp uint64, stamp int64) {
	now := time.Now()
	if now.UnixNano()-stamp < int64(touchEvery) || s.files.ReadOnly {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readAll(s)
	at := minutes(now)
	if at < t.known[fp]+uint32(touchEvery/time.Minute) || len(t.fresh) >= maxNotes {
		return
	}
	if t.fresh == nil {
		t.fresh = make(map[uint64]uint32)
	}
	t.known[fp], t.fresh[fp] = at, at
}

// used returns when the record fp with the given stamp was last used.
func (t *touches) used(s *Store, fp uint64, stamp int64) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readAll(s)
	used := time.Unix(0, stamp)
	if at := time.Unix(int64(t.known[fp])*60, 0); at.After(used) {
		return at
	}
	return used
}

// readAll reads the touch files, once.
func (t *touches) readAll(s *Store) {
	if t.known == nil {
		t.known = make(map[uint64]uint32)
		s.readTouches(t.known)
	}
}

// reread reads the files again, for the uses noted by other processes.
func (t *touches) reread(s *Store) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = nil
	t.readAll(s)
	mergeTouches(t.known, t.fresh)
}

// flush writes the noted uses, and merges the files if there are many.
func (t *touches) flush(s *Store) error {
	t.mu.Lock()
	fresh := t.fresh
	t.fresh = nil
	t.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	if err := s.writeTouches(fresh); err != nil {
		return err
	}
	if len(s.touchFiles()) > maxTouchFiles {
		return s.compactTouches(func(uint64) bool { return true })
	}
	return nil
}

// flushTouches is flush for callers that cannot handle an error.
func (s *Store) flushTouches() {
	if err := s.touches.flush(s); err != nil {
		s.files.Report(vfs.Touches, "cannot note uses of records", err)
	}
}

// compactTouches merges all files into one, with the records for which keep returns true.
// Two processes may do so concurrently: a file that one removes is part of the other's
// file.
func (s *Store) compactTouches(keep func(fp uint64) bool) error {
	merged := make(map[uint64]uint32)
	files := s.readTouches(merged)
	for fp := range merged {
		if !keep(fp) {
			delete(merged, fp)
		}
	}
	if len(merged) > 0 {
		if err := s.writeTouches(merged); err != nil {
			return err
		}
	}
	for _, path := range files {
		if err := s.files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store: merge %s: %w", path, err)
		}
	}
	return nil
}

func (s *Store) writeTouches(t map[uint64]uint32) error {
	path := s.files.Path(vfs.Touches, fmt.Sprintf("%016x%s", vfs.RandomID(), touchSuffix))
	return s.files.Write(path, format.EncodeTouches(t))
}

// readTouches adds the content of all touch files to t, and returns their
// paths.
func (s *Store) readTouches(t map[uint64]uint32) (files []string) {
	for _, path := range s.touchFiles() {
		b, err := s.files.Read(path, format.MaxTouches)
		var one map[uint64]uint32
		if err == nil {
			one, err = format.DecodeTouches(b)
		}
		switch {
		case err == nil:
			mergeTouches(t, one)
			files = append(files, path)
		case !errors.Is(err, fs.ErrNotExist):
			s.files.Quarantine(path, err)
		}
	}
	return files
}

func (s *Store) touchFiles() (paths []string) {
	dir := s.files.Path(vfs.Touches)
	entries, err := s.files.List(dir)
	if err != nil {
		return nil // no known uses
	}
	for _, e := range entries {
		if isTouchName(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

func mergeTouches(to, from map[uint64]uint32) {
	for fp, at := range from {
		to[fp] = max(to[fp], at)
	}
}

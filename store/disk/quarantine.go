package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/store/disk/internal/format"
)

const (
	maxQuarantine = 64 << 20
	maxReports    = 1000
)

// reports remembers what was already reported: damage that is met on every
// read is one line in the log.
type reports struct {
	mu   sync.Mutex
	seen map[string]bool
}

// first reports whether what was not seen before. Beyond maxReports nothing
// is new any more.
func (r *reports) first(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[what] || len(r.seen) >= maxReports {
		return false
	}
	if r.seen == nil {
		r.seen = make(map[string]bool)
	}
	r.seen[what] = true
	return true
}

// setAside reports a file that is damaged, or is where it should not be, and
// moves it to the quarantine. A file that could not be read for another
// reason may be sound, and stays.
func (s *Store) setAside(path string, reason error) {
	if !errors.Is(reason, format.ErrDamaged) {
		s.report(path, "cannot read a file", reason)
		return
	}
	if s.reports.first(path) {
		s.log.Warn("store: damaged file set aside", "file", path, "reason", reason)
	}
	if s.readOnly {
		return
	}
	to := s.quarantinePath(filepath.Base(path))
	err := os.Rename(path, to)
	if isObstructed(err) && s.makeDir(filepath.Dir(to)) == nil {
		err = os.Rename(path, to)
	}
	if err != nil && !os.IsNotExist(err) {
		s.log.Warn("store: cannot set a damaged file aside", "file", path, "error", err)
		return
	}
	now := time.Now()
	_ = os.Chtimes(to, now, now) // only orders the quarantine
	s.trimQuarantine()
}

// setAsideBytes reports bytes of a pack that are no record, or a bad one, and
// copies them to the quarantine.
func (s *Store) setAsideBytes(p *pack, from, to int64, reason error) {
	name := fmt.Sprintf("%016x-%d.record", p.ID, from)
	if !s.reports.first(name) {
		return
	}
	s.log.Warn("store: damaged record set aside", "pack", p.path, "offset", from, "bytes", to-from, "reason", reason)
	if s.readOnly {
		return
	}
	b := make([]byte, min(to-from, s.quarantineLimit()))
	n, err := p.file.ReadAt(b, from)
	if err != nil && err != io.EOF {
		return // the medium does not give them back: reported above
	}
	if err := s.writeFile(filepath.Join(s.dir, quarantineDir, name), b[:n]); err != nil {
		s.log.Warn("store: cannot copy a damaged record", "error", err)
		return
	}
	s.trimQuarantine()
}

func (s *Store) quarantinePath(base string) string {
	return filepath.Join(s.dir, quarantineDir, fmt.Sprintf("%s-%016x", base, randomID()))
}

// quarantineLimit keeps the quarantine a small part of a small store.
func (s *Store) quarantineLimit() int64 {
	if s.limit > 0 {
		return min(maxQuarantine, s.limit/16)
	}
	return maxQuarantine
}

// trimQuarantine removes the oldest of what was set aside beyond the limit.
func (s *Store) trimQuarantine() {
	type held struct {
		path string
		at   time.Time
		size int64
	}
	var all []held
	total := int64(0)
	dir := filepath.Join(s.dir, quarantineDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing there to trim
	}
	for _, e := range entries {
		if !isAsideName(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed meanwhile
		}
		h := held{filepath.Join(dir, e.Name()), info.ModTime(), info.Size()}
		if e.IsDir() {
			h.size, _ = treeSize(h.path)
		}
		all = append(all, h)
		total += h.size
	}
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	for _, h := range all {
		if total <= s.quarantineLimit() {
			return
		}
		if os.RemoveAll(h.path) == nil {
			total -= h.size
		}
	}
}

// treeSize adds up the regular files under path. What vanishes meanwhile does
// not count.
func treeSize(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size, err
}

package medium

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/store/disk/internal/format"
)

const maxReports = 1000

// reports remembers what was already reported: damage that is met on every
// read is one line in the log.
type reports struct {
	mu   sync.Mutex
	seen map[string]bool
}

// First reports whether what was not reported before. Beyond maxReports nothing is
// new any more.
func (f *Folder) First(what string) bool {
	r := &f.reports
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

// Report logs a failure of the medium, once for each file.
func (f *Folder) Report(path, what string, err error) {
	if f.First(path) {
		f.Log.Warn("store: "+what, "file", path, "error", err)
	}
}

// SetAside reports a file that is damaged, or is where it should not be, and
// moves it to the quarantine. A file that could not be read for another
// reason may be sound, and stays.
func (f *Folder) SetAside(path string, reason error) {
	if !errors.Is(reason, format.ErrDamaged) {
		f.Report(path, "cannot read a file", reason)
		return
	}
	if f.First(path) {
		f.Log.Warn("store: damaged file set aside", "file", path, "reason", reason)
	}
	if f.ReadOnly {
		return
	}
	to := f.asidePath(filepath.Base(path))
	err := f.rename(path, to)
	if IsObstructed(err) && f.makeDir(filepath.Dir(to)) == nil {
		err = f.rename(path, to)
	}
	if err != nil && !os.IsNotExist(err) {
		f.Log.Warn("store: cannot set a damaged file aside", "file", path, "error", err)
		return
	}
	now := time.Now()
	_ = os.Chtimes(to, now, now) // only orders the quarantine
	f.trim()
}

// SetAsideBytes reports bytes of a pack that are no record, or a bad one, and copies
// them to the quarantine.
func (f *Folder) SetAsideBytes(pack *File, id uint64, from, to int64, reason error) {
	name := fmt.Sprintf("%016x-%d.record", id, from)
	if !f.First(name) {
		return
	}
	f.Log.Warn("store: damaged record set aside", "pack", pack.Name(), "offset", from, "bytes", to-from, "reason", reason)
	if f.ReadOnly {
		return
	}
	b := make([]byte, min(to-from, f.MaxAside))
	n, err := pack.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return // the medium does not give them back: reported above
	}
	if err := f.Write(f.Path(Quarantine, name), b[:n]); err != nil {
		f.Log.Warn("store: cannot copy a damaged record", "error", err)
		return
	}
	f.trim()
}

func (f *Folder) asidePath(base string) string {
	return f.Path(Quarantine, fmt.Sprintf("%s-%016x", base, RandomID()))
}

// trim removes the oldest of what was set aside beyond the limit.
func (f *Folder) trim() {
	type held struct {
		path string
		at   time.Time
		size int64
	}
	var all []held
	total := int64(0)
	dir := f.Path(Quarantine)
	entries, err := f.List(dir)
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
			h.size, _ = TreeSize(h.path)
		}
		all = append(all, h)
		total += h.size
	}
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	for _, h := range all {
		if total <= f.MaxAside {
			return
		}
		if f.removeAll(h.path) == nil {
			total -= h.size
		}
	}
}

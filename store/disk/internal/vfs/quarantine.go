package vfs

import (
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

// reports remembers what was already logged, so that damage met on every read is logged
// once.
type reports struct {
	mu   sync.Mutex
	seen map[string]bool
}

// First reports whether what was not logged before. After maxReports it always returns
// false.
func (f *Directory) First(what string) bool {
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
func (f *Directory) Report(path, what string, err error) {
	if f.First(path) {
		f.Log.Warn("store: "+what, "file", path, "error", err)
	}
}

// Quarantine logs a file that is damaged or misplaced, and moves it to the quarantine. A file
// that could not be read for another reason may be sound, and stays.
func (f *Directory) Quarantine(path string, reason error) {
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
	info, err := f.Lstat(to)
	if err != nil || info.IsDir() {
		f.trim(f.MaxAside) // it may have any size
		return
	}
	f.trim(info.Size())
}

// SetAsideBytes logs bytes of a pack that are a damaged record or none, and copies the
// first of them to the quarantine, unless it has them already.
func (f *Directory) SetAsideBytes(pack *File, id uint64, from, to int64, reason error) {
	name := fmt.Sprintf("%016x-%d.record", id, from)
	if !f.First(name) {
		return
	}
	if _, err := f.Lstat(f.Path(Quarantine, name)); err == nil {
		return
	}
	f.Log.Warn("store: damaged record set aside", "pack", pack.Name(), "offset", from, "bytes", to-from, "reason", reason)
	if f.ReadOnly {
		return
	}
	b, err := pack.dataBetween(from, to, f.MaxAside)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, format.ErrDamaged) {
		return // the medium does not return them: reported above
	}
	if err := f.Write(f.Path(Quarantine, name), b); err != nil {
		f.Log.Warn("store: cannot copy a damaged record", "error", err)
		return
	}
	f.trim(int64(len(b)))
}

func (f *Directory) asidePath(base string) string {
	return f.Path(Quarantine, fmt.Sprintf("%s-%016x", base, RandomID()))
}

// An aside is the known state of the quarantine.
type aside struct {
	mu    sync.Mutex
	space int64 // bytes that may be added before it is listed again
}

// asideCost is what each file in the quarantine counts in addition to its bytes, because
// there may be many empty ones.
const asideCost = 4 << 10

// trim enforces the limit of the quarantine after a file of size bytes was added. It lists
// the quarantine once for many files, because there may be very many.
func (f *Directory) trim(size int64) {
	f.aside.mu.Lock()
	defer f.aside.mu.Unlock()
	f.aside.space -= size + asideCost
	if f.aside.space >= 0 {
		return
	}
	held, total := f.listAside()
	few := f.MaxAside / 8
	for _, h := range held {
		if total <= f.MaxAside-few {
			break
		}
		if f.removeAll(h.path) == nil {
			total -= h.cost
		}
	}
	f.aside.space = few
}

// A heldAside is an entry of the quarantine.
type heldAside struct {
	path string
	at   time.Time
	cost int64
}

// listAside lists the quarantine in the order of removal: entries too large for it, then
// the oldest.
func (f *Directory) listAside() (all []heldAside, total int64) {
	dir := f.Path(Quarantine)
	entries, err := f.List(dir)
	if err != nil {
		return nil, 0 // nothing there to trim
	}
	for _, e := range entries {
		if !IsAsideName(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed in the meantime
		}
		h := heldAside{filepath.Join(dir, e.Name()), info.ModTime(), info.Size() + asideCost}
		if e.IsDir() {
			size, _ := TreeSize(h.path)
			h.cost = size + asideCost
		}
		if h.cost > f.MaxAside {
			h.at = time.Time{}
		}
		all = append(all, h)
		total += h.cost
	}
	slices.SortFunc(all, func(a, b heldAside) int { return a.at.Compare(b.at) })
	return all, total
}

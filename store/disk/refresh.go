package disk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// staleAfter is how long hits may miss changes by other processes. Misses check every time.
const staleAfter = time.Second

// listingAge is the age from which the time stamp of a directory proves that it is
// unchanged since it was listed: file systems count time in ticks.
const listingAge = 100 * time.Millisecond

// A dirView is what this process has seen of the directory of packs.
type dirView struct {
	seen atomic.Int64 // when last checked, ns since 1970

	mu      sync.Mutex // serializes checks
	packs   map[uint64]*pack
	growing []*pack   // packs that other processes may append to
	listed  time.Time // time stamp of the directory when it was listed
	settled bool
}

// refresh makes known what other processes have written. It costs one stat of the directory
// and one of each pack that may grow.
func (s *Store) refresh() {
	v := &s.directory
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen.Store(time.Now().UnixNano())
	if s.index.isDamaged() {
		s.discardMerged()
	}
	info, err := s.files.Stat(s.files.Path(vfs.Packs))
	if err != nil || !v.settled || !info.ModTime().Equal(v.listed) {
		s.list(info)
	}
	growing := v.growing[:0]
	for _, p := range v.growing {
		if !p.own.Load() && !p.gone.Load() {
			s.follow(p)
		}
		if !p.sealed && !p.gone.Load() {
			growing = append(growing, p)
		}
	}
	clear(v.growing[len(growing):])
	v.growing = growing
}

// all returns the known packs.
func (v *dirView) all() []*pack {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Values(v.packs))
}

// close closes the packs.
func (v *dirView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.packs {
		_ = p.file.Close() // only read
	}
	v.packs, v.growing = nil, nil
}

// files returns the number of open files.
func (v *dirView) files() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.packs)
}

// list finds the existing packs. info describes their directory; it is nil if the directory
// does not exist.
func (s *Store) list(info os.FileInfo) {
	v := &s.directory
	v.settled = info != nil && time.Since(info.ModTime()) > listingAge
	if info != nil {
		v.listed = info.ModTime()
	}
	dir := s.files.Path(vfs.Packs)
	entries, err := s.files.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.settled = false
		s.files.Report(dir, "cannot list the packs", err)
		return // keep the known packs
	}
	present := make(map[uint64]bool, len(entries))
	var fresh []*pack
	for _, e := range entries {
		id, ok := parsePackName(e.Name())
		if !ok {
			continue
		}
		if path := filepath.Join(dir, e.Name()); !e.Type().IsRegular() {
			s.files.Quarantine(path, vfs.ErrStray)
		} else {
			present[id] = true
			if v.packs[id] == nil {
				fresh = append(fresh, newPack(id, path))
			}
		}
	}
	s.dropAbsent(present)
	for _, p := range fresh {
		s.load(p)
	}
}

// dropAbsent removes the packs whose files have disappeared.
func (s *Store) dropAbsent(present map[uint64]bool) {
	v := &s.directory
	var gone []*pack
	for id, p := range v.packs {
		if !present[id] {
			gone = append(gone, p)
			delete(v.packs, id)
		}
	}
	if len(gone) == 0 {
		return
	}
	s.index.drop(gone)
	for _, p := range gone {
		p.gone.Store(true)
		_ = p.file.Close() // only read
	}
}

// load makes known a pack that is new to this process.
func (s *Store) load(p *pack) {
	file, info, err := s.files.Open(p.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.files.Report(p.path, "cannot open a pack", err)
		}
		return
	}
	p.open(file)
	v := &s.directory
	if v.packs == nil {
		v.packs = make(map[uint64]*pack)
	}
	v.packs[p.ID] = p
	s.index.add(p)
	p.end = s.index.cover(p, info.Size())
	s.space.held.Add(p.end + int64(p.blobs))
	var found format.Scan
	if p.end > 0 && info.Size()-p.end <= indexTail { // faster than reading its index
		found, err = p.Scan(p.end, info.Size())
	} else {
		found, info, err = s.contents(p, p.end)
	}
	if info != nil {
		p.sealed, p.size, p.mtime = isSealed(info), info.Size(), info.ModTime().UnixNano()
	}
	if !p.sealed {
		v.growing = append(v.growing, p)
	}
	p.indexed = found.Indexed
	from := p.end
	s.addScan(p, found, err)
	if err != nil || s.files.ReadOnly {
		return
	}
	if p.sealed {
		s.coverWhole(p, found, from)
	} else if !found.Torn && p.size-p.end > indexTail {
		s.shorten(p)
	}
}

// coverWhole rewrites the index of a finished pack so that it covers the whole pack, after
// the records from an offset on were found. Bytes that are not records are then not read
// again.
func (s *Store) coverWhole(p *pack, found format.Scan, from int64) {
	end := format.ScanEnd(p.size)
	if from > 0 {
		if end-max(from, found.Indexed) <= indexTail {
			return // the merged index covers as much, or nearly
		}
		var err error
		if found, _, err = s.contents(p, 0); err != nil {
			return
		}
	}
	if found.Indexed < end {
		s.keepIndex(p, end, found.Entries)
	}
}

// shorten cuts off what a crash left after the records of a pack, unless another process
// writes there. Otherwise each process that opens the store would read it.
func (s *Store) shorten(p *pack) {
	file, err := s.lockPack(p)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }() // holds nothing but the lock
	found, info, err := s.contents(p, p.end)
	if err != nil || isSealed(info) {
		return
	}
	s.addScan(p, found, nil)
	if s.cut(p, file, found, info.Size()) == nil {
		p.size, p.mtime = found.End, 0
	}
}

// follow reads the bytes appended to a pack.
func (s *Store) follow(p *pack) {
	info, err := p.file.Stat()
	if err != nil {
		s.files.Report(p.path, "cannot stat a pack", err)
		return
	}
	p.sealed = isSealed(info)
	if info.Size() == p.size && info.ModTime().UnixNano() == p.mtime {
		return
	}
	p.size, p.mtime = info.Size(), info.ModTime().UnixNano()
	if p.size < p.end {
		p.end = 0 // another process cut it: start again
	}
	found, err := p.Scan(p.end, p.size)
	s.addScan(p, found, err)
}

// addScan adds the records that a scan found to the index.
func (s *Store) addScan(p *pack, found format.Scan, err error) {
	if err != nil {
		s.files.Report(p.path, "cannot read a pack", err)
	}
	for _, d := range found.Damaged {
		s.files.SetAsideBytes(p.file, p.ID, d.From, d.To, format.ErrNoRecord)
	}
	if p.sealed && err == nil && found.End < format.ScanEnd(p.size) {
		s.files.SetAsideBytes(p.file, p.ID, found.End, p.size, format.ErrNoRecord)
	}
	grown := found.End - p.end
	for i := range found.Entries {
		grown += int64(found.Entries[i].Blob)
	}
	p.end = found.End
	s.index.insert(p, found.Entries)
	s.space.held.Add(grown)
}

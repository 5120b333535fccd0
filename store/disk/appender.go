package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

const (
	// indexTail is how many bytes of a pack may lack an index when its writer leaves it:
	// reading them takes a fraction of a millisecond.
	indexTail = 1 << 20
	// keepBuffer is the largest buffer that stays allocated between records.
	keepBuffer = 1 << 20
	// writeBytes is the size of one write, unless a record is longer: larger writes are not
	// noticeably faster.
	writeBytes = 256 << 10
	// groupsPerPack is the least number of groups per pack, because a small store evicts
	// whole packs.
	groupsPerPack = 4
)

// An appender writes records to a pack that it has locked exclusively.
type appender struct {
	s *Store

	mu         sync.Mutex
	pack       *pack          // nil before the first record
	file       *vfs.File      // of pack, open for writing, locked
	end        int64          // where the next record goes
	entries    []format.Entry // all records in pack
	buf        []byte         // bytes to write there
	staged     []format.Entry // the entries of buf
	group      format.GroupWriter
	written    int64 // bytes written in total
	indexBytes int64 // bytes of index needed for all that was staged
	durable    bool  // leave and flush make all writes durable, whatever Options.Sync says
	undurable  bool  // a write is not durable yet: for leave and flush if durable
	newName    bool  // the name of the pack may not be durable yet
	unsynced   bool  // a write is not durable yet: for sync if Options.Sync
}

// put appends the record with header h, and makes it known. It fills in the lengths and
// checksums, and the stamp if that is 0. The record is durable after sync.
func (a *appender) put(h *format.Header, payload, provenance []byte) error {
	h.Seal(payload, provenance)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.stage(h, payload, provenance); err != nil {
		return err
	}
	return a.write()
}

// putAll appends records in as few writes as it can, small ones in groups. It returns by
// how many bytes the pack grew.
func (a *appender) putAll(n int, each func(i int) (h format.Header, payload, provenance []byte)) (grown int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.written
	for i := range n {
		h, payload, provenance := each(i)
		if err := a.join(&h, payload, provenance); err != nil {
			return a.written - before, err
		}
	}
	err = a.write()
	return a.written - before, err
}

// putStaged stages a record, which is found only after flush, release or a write of the
// full buffer. It stays a member of a group if member is set. Until then, no key may be
// staged twice.
func (a *appender) putStaged(h *format.Header, payload, provenance []byte, member bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if member {
		return a.join(h, payload, provenance)
	}
	h.Seal(payload, provenance)
	return a.stageOne(h, payload, provenance)
}

// join stages a record, as a member of a group if it is small.
func (a *appender) join(h *format.Header, payload, provenance []byte) error {
	limit := int(min(format.MaxGroupBody, a.s.packBytes/groupsPerPack))
	if !format.IsSmall(h, payload, provenance, limit) {
		h.Seal(payload, provenance)
		return a.stage(h, payload, provenance)
	}
	fp, w := format.Fingerprint(h.Key), &a.group
	if !w.Takes(fp, payload, provenance, limit) {
		if err := a.closeGroup(); err != nil {
			return err
		}
	}
	if h.Stamp == 0 {
		h.Stamp = w.Stamp()
	}
	a.stamp(h)
	w.Add(fp, h, payload, provenance)
	return nil
}

// stamp gives h a stamp if it has none.
func (a *appender) stamp(h *format.Header) {
	if h.Stamp == 0 {
		h.Stamp = a.s.index.stamp(time.Now().UnixNano())
	}
}

// stage appends a sealed record to the buffer. After an error, here as in the other
// methods, the buffer is empty.
func (a *appender) stage(h *format.Header, payload, provenance []byte) error {
	if err := a.closeGroup(); err != nil {
		return err
	}
	return a.stageOne(h, payload, provenance)
}

func (a *appender) stageOne(h *format.Header, payload, provenance []byte) error {
	a.stamp(h)
	off, err := a.encode(h, payload, provenance)
	if err != nil {
		return err
	}
	a.staged = append(a.staged, format.NewEntry(h, off))
	a.indexBytes += format.EntrySize
	return nil
}

// closeGroup stages the open group. A group of one member becomes an ordinary record.
func (a *appender) closeGroup() error {
	w := &a.group
	if w.Len() == 0 {
		return nil
	}
	defer w.Reset()
	if w.Len() == 1 {
		h, payload, provenance := w.Only()
		return a.stageOne(&h, payload, provenance)
	}
	h, body := w.Close()
	off, err := a.encode(&h, body, nil)
	if err != nil {
		return err
	}
	from := len(a.staged)
	a.staged = w.List(a.staged, &h, off)
	a.indexBytes += format.ListedSize(a.staged[from:])
	return nil
}

// write writes the staged records and makes them known.
func (a *appender) write() error {
	if err := a.closeGroup(); err != nil {
		return err
	}
	return a.writeStaged()
}

func (a *appender) writeStaged() error {
	b, staged := a.buf, a.staged
	a.buf, a.staged = b[:0], staged[:0]
	if cap(b) > keepBuffer {
		a.buf = nil
	}
	if len(b) == 0 {
		return nil
	}
	if _, err := a.file.WriteAt(b, a.end); err != nil {
		// Readers wait for the rest of a record that is cut off here until another one
		// overwrites it.
		_ = a.file.Truncate(a.end)
		return vfs.StoreError(err)
	}
	a.entries = append(a.entries, staged...)
	a.s.index.insert(a.pack, a.entries[len(a.entries)-len(staged):])
	a.end += int64(len(b))
	a.written += int64(len(b))
	a.unsynced, a.undurable = a.s.files.Sync, true
	return nil
}

// sync makes the records that were put survive a power loss, if the store promises that.
func (a *appender) sync() error {
	if !a.s.files.Sync {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.syncLocked()
}

func (a *appender) syncLocked() error {
	if !a.unsynced || a.file == nil {
		return nil
	}
	a.unsynced = false
	return a.file.Sync()
}

// encode appends a record to the buffer, and returns its position in the pack.
func (a *appender) encode(h *format.Header, payload, provenance []byte) (off int64, err error) {
	if err := a.reserve(h.Length()); err != nil {
		return 0, err
	}
	from := len(a.buf)
	off = a.end + int64(from)
	a.buf = slices.Grow(a.buf, int(h.Length()))[:from+int(h.Length())]
	h.Encode(a.buf[from:], a.pack.ID, off, payload, provenance)
	return off, nil
}

// reserve provides space for n bytes in the pack, after the buffer.
func (a *appender) reserve(n int64) error {
	held := int64(len(a.buf))
	if held > 0 && (held+n > writeBytes || a.pack.gone.Load() || a.end+held+n > a.s.packBytes) {
		if err := a.writeStaged(); err != nil {
			return err
		}
	}
	if len(a.buf) > 0 {
		return nil
	}
	return a.makeReady(n)
}

// makeReady provides a pack with space for n bytes.
func (a *appender) makeReady(n int64) error {
	if a == &a.s.writer && a.s.closed.Load() { // Close itself may evict
		return errClosed
	}
	if a.pack != nil && (a.pack.gone.Load() || a.end > 0 && a.end+n > a.s.packBytes) {
		if err := a.leave(!a.pack.gone.Load()); err != nil {
			return vfs.StoreError(err)
		}
	}
	if a.pack != nil {
		return nil
	}
	v := &a.s.directory
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.growing {
		if a.adopt(p, n) {
			return nil
		}
	}
	return a.create()
}

// adopt takes over a pack with space for n bytes whose writer is gone.
func (a *appender) adopt(p *pack, n int64) bool {
	if p.own.Load() || p.sealed || p.end+n > a.s.packBytes {
		return false
	}
	file, err := a.s.lockPack(p)
	if err != nil {
		return false
	}
	found, info, err := a.s.contents(p, 0)
	if err != nil || isSealed(info) || found.End+n > a.s.packBytes {
		_ = file.Close()
		return false
	}
	if a.s.cut(p, file, found, info.Size()) != nil {
		_ = file.Close()
		return false
	}
	all := found.Entries
	found.Entries = all[sort.Search(len(all), func(i int) bool { return all[i].Offset() >= p.end }):]
	p.indexed, p.size = found.Indexed, found.End
	a.s.addScan(p, found, nil)
	a.take(p, file, all)
	return true
}

// cut removes the bytes after the records of a pack, which is locked and size bytes long.
func (s *Store) cut(p *pack, file *vfs.File, found format.Scan, size int64) error {
	if found.End == size {
		return nil
	}
	if !found.Torn {
		s.files.SetAsideBytes(p.file, p.ID, found.End, size, format.ErrNoRecord)
	}
	return file.Truncate(found.End)
}

// lockPack opens p for writing if no other process writes to it.
func (s *Store) lockPack(p *pack) (*vfs.File, error) {
	file, err := s.files.OpenFile(p.path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := file.LockNamed(); err != nil { // it may have been removed before the lock
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// create makes a new pack. Before it is locked, another process may adopt it, or collect it
// because it is empty: then create tries another one.
func (a *appender) create() error {
	for {
		p, file, err := a.s.createPack()
		if errors.Is(err, vfs.ErrLocked) {
			continue
		}
		if err != nil {
			return vfs.StoreError(err)
		}
		v := &a.s.directory
		if v.packs == nil {
			v.packs = make(map[uint64]*pack)
		}
		v.packs[p.ID] = p
		v.growing = append(v.growing, p)
		a.s.index.add(p)
		a.take(p, file, nil)
		return nil
	}
}

// createPack makes a new pack and locks it, or returns vfs.ErrLocked.
func (s *Store) createPack() (p *pack, file *vfs.File, err error) {
	if err := s.files.Mark(); err != nil {
		return nil, nil, err
	}
	id := vfs.RandomID()
	p = newPack(id, s.files.Path(vfs.Packs, packName(id)))
	file, err = s.files.OpenIn(p.path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, nil, err
	}
	err = file.TryLock()
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = p.openEmpty(s.files)
	}
	if err == nil && s.files.Sync {
		err = s.files.SyncNames(filepath.Dir(p.path))
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return p, file, nil
}

// openEmpty opens for reading a pack that was just locked. It returns vfs.ErrLocked if
// another process had the pack before.
func (p *pack) openEmpty(files *vfs.Directory) error {
	f, err := files.OpenFile(p.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return vfs.ErrLocked
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		err = vfs.ErrLocked
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	p.open(f)
	return nil
}

func (a *appender) take(p *pack, file *vfs.File, entries []format.Entry) {
	p.own.Store(true)
	a.pack, a.file, a.end, a.entries = p, file, p.end, entries
	a.undurable, a.newName = false, true
}

// leave releases the pack, finished or for another process to continue.
func (a *appender) leave(seal bool) error {
	err := errors.Join(a.syncLocked(), a.flushLocked())
	p, file := a.pack, a.file
	if !p.gone.Load() && (seal || a.end-p.indexed > indexTail) {
		a.s.keepIndex(p, a.end, a.entries)
	}
	if seal {
		if cerr := file.Chmod(0o444); cerr != nil {
			a.s.files.Report(p.path, "cannot finish a pack", cerr)
		}
	}
	v := &a.s.directory
	v.mu.Lock()
	p.end, p.size, p.mtime = a.end, a.end, 0
	p.own.Store(false)
	v.mu.Unlock()
	a.pack, a.file, a.end, a.entries = nil, nil, 0, nil
	return errors.Join(err, file.Close())
}

// files returns the number of open files.
func (a *appender) files() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return 0
	}
	return 1
}

// release writes the staged records, and releases the pack for another process to continue.
func (a *appender) release() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.write()
	if a.pack == nil {
		return err
	}
	return errors.Join(err, a.leave(false))
}

// flush writes the staged records, and makes them durable.
func (a *appender) flush() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.write(); err != nil {
		return err
	}
	return a.flushLocked()
}

func (a *appender) flushLocked() error {
	if !a.durable || !a.undurable || a.file == nil || a.pack.gone.Load() {
		return nil
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	if a.newName {
		if err := a.s.files.SyncNames(filepath.Dir(a.pack.path)); err != nil {
			return err
		}
	}
	a.undurable, a.newName = false, false
	return nil
}

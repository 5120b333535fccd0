package disk

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// A word of the table of leases holds the owner of one of its keys: those whose
// fingerprints begin with its position. The word alone leases one key. If a process wants a
// second key of the word at that time, it marks the word as crowded. While a word is
// crowded, its keys are leased by locking their bytes.
const (
	wordBits  = 15 // of a fingerprint: the position
	tagBits   = 64 - wordBits
	slotBits  = 12
	tagMask   = 1<<tagBits - 1
	crowded   = 1 << 63
	slotShift = tagBits
	slotMask  = (1<<slotBits - 1) << slotShift
	// bytesOfWord is the number of offsets for the keys of one word.
	bytesOfWord = 1 << (leaseBits - wordBits)
)

// byTable leases keys by a table in memory that all processes share. Each process has a
// slot: a byte that it locks while it lives. No call waits for another process, which may
// be stopped.
type byTable struct {
	file *vfs.File // has the locks on the slot and on bytes of keys
	slot uint64    // noSlot: all were taken, and keys use bytes

	alone sync.Mutex
	other *vfs.File // for locks that are taken and released immediately, under alone

	use    sync.RWMutex // close locks it for writing
	words  []atomic.Uint64
	unmap  func() error
	closed bool
}

// openTable begins to use the table. It fails if other processes use bytes only.
func openTable(file, other *vfs.File) (*byTable, error) {
	words, unmap, err := file.MapWords(1 << wordBits)
	if err != nil {
		return nil, err
	}
	t := &byTable{file: file, other: other, words: words, unmap: unmap}
	if err := t.begin(); err != nil {
		return nil, errors.Join(err, unmap())
	}
	return t, nil
}

func (t *byTable) begin() error {
	if err := agree(t.file, byTableAt, byBytesAt); err != nil {
		return err
	}
	err := t.takeSlot()
	if err != nil {
		_ = t.file.UnlockByte(byTableAt)
	}
	return err
}

// agree announces by a shared lock on mine how this process leases keys. It returns
// vfs.ErrLocked if others have a lock on theirs.
func agree(file *vfs.File, mine, theirs int64) error {
	err := file.ShareByte(mine)
	if err != nil {
		return err
	}
	others, err := file.OthersHave(theirs)
	if err == nil && others {
		err = vfs.ErrLocked
	}
	if err != nil {
		_ = file.UnlockByte(mine)
	}
	return err
}

// takeSlot takes the first free slot, so that entries of dead processes disappear soon: it
// clears those of the last owner.
func (t *byTable) takeSlot() error {
	for slot := uint64(noSlot + 1); slot < leaseSlots; slot++ {
		switch err := t.file.LockByte(slotsAt + int64(slot)); {
		case err == nil:
			t.slot = slot
			t.sweep(slot)
			return nil
		case !errors.Is(err, vfs.ErrLocked):
			return err
		}
	}
	return nil
}

// sweep clears the entries of a slot that the caller has locked.
func (t *byTable) sweep(slot uint64) {
	for i := range t.words {
		w := &t.words[i]
		for v := w.Load(); slotOf(v) == slot && !w.CompareAndSwap(v, v&crowded); v = w.Load() {
		}
	}
}

func slotOf(v uint64) uint64 { return v & slotMask >> slotShift }

func (t *byTable) word(fp uint64) *atomic.Uint64 { return &t.words[fp>>tagBits] }

// mine returns the word of a key that this process holds.
func (t *byTable) mine(fp uint64) uint64 { return t.slot<<slotShift | fp&tagMask }

// take leases the key of a fingerprint, or returns vfs.ErrLocked. byByte reports that
// the lease is a lock on its byte.
func (t *byTable) take(fp uint64) (byByte bool, err error) {
	w, mine := t.word(fp), t.mine(fp)
	for {
		v := w.Load()
		switch slot := slotOf(v); {
		case slot == noSlot && v&crowded == 0 && t.slot != noSlot:
			if w.CompareAndSwap(v, mine) {
				return false, nil
			}
		case slot != noSlot && v&tagMask == fp&tagMask:
			if slot == t.slot { // no goroutine of this process has it: the table was damaged
				return false, nil
			}
			if err := t.clearDead(slot); err != nil {
				return false, err
			}
		case v&crowded == 0:
			w.CompareAndSwap(v, v|crowded)
		default:
			if err := t.file.LockByte(leaseOffset(fp)); err != nil {
				return false, err
			}
			// A word stays crowded while a byte of it is locked, and a crowded word is not
			// taken.
			if v = w.Load(); v&crowded != 0 && (slotOf(v) == noSlot || v&tagMask != fp&tagMask) {
				return true, nil
			}
			t.leaveByte(fp)
		}
	}
}

// clearDead clears the entries of the owner of a slot if it died, or returns vfs.ErrLocked.
func (t *byTable) clearDead(slot uint64) error {
	t.alone.Lock()
	defer t.alone.Unlock()
	at := slotsAt + int64(slot)
	if err := t.other.LockByte(at); err != nil { // by a separate file: this process may be the owner
		return err
	}
	t.sweep(slot)
	return t.other.UnlockByte(at)
}

// leave ends a lease of take.
func (t *byTable) leave(fp uint64, byByte bool) {
	if byByte {
		t.leaveByte(fp)
	} else {
		w, mine := t.word(fp), t.mine(fp)
		for v := w.Load(); v&^crowded == mine && !w.CompareAndSwap(v, v&crowded); v = w.Load() {
		}
	}
}

// leaveByte unlocks the byte of a key. If that was the last locked byte of the word, the
// word is no longer crowded.
func (t *byTable) leaveByte(fp uint64) {
	_ = t.file.UnlockByte(leaseOffset(fp)) // fails only after the store was closed
	t.alone.Lock()
	defer t.alone.Unlock()
	from := leaseOffset(fp) &^ (bytesOfWord - 1)
	if t.other.LockBytes(from, bytesOfWord) != nil {
		return // the owner of another locked byte does it
	}
	w := t.word(fp)
	for v := w.Load(); !w.CompareAndSwap(v, v&^crowded); v = w.Load() {
	}
	_ = t.other.UnlockRange(from, bytesOfWord) // as above
}

func (t *byTable) one(k key.Key) (release func(), err error) {
	t.use.RLock()
	defer t.use.RUnlock()
	if t.closed {
		return nil, errClosed
	}
	fp := format.Fingerprint(k)
	byByte, err := t.take(fp)
	if err != nil {
		return nil, err
	}
	return func() {
		t.use.RLock()
		defer t.use.RUnlock()
		if !t.closed {
			t.leave(fp, byByte)
		}
	}, nil
}

func (t *byTable) many(keys []key.Key, want []bool) (leased []bool, release func(), err error) {
	t.use.RLock()
	defer t.use.RUnlock()
	if t.closed {
		return want, func() {}, errClosed
	}
	leased = slices.Clone(want)
	held := make([]uint64, 0, len(keys)) // fingerprints
	var bytes []uint64                   // of those leased by bytes
	for i, k := range keys {
		if !leased[i] {
			continue
		}
		fp := format.Fingerprint(k)
		byByte, terr := t.take(fp)
		switch {
		case errors.Is(terr, vfs.ErrLocked):
			leased[i] = false
		case terr != nil:
			err = terr
		case byByte:
			bytes = append(bytes, fp)
		default:
			held = append(held, fp)
		}
	}
	return leased, func() { t.leaveAll(held, bytes) }, err
}

func (t *byTable) leaveAll(held, bytes []uint64) {
	t.use.RLock()
	defer t.use.RUnlock()
	if t.closed {
		return
	}
	for _, fp := range held {
		t.leave(fp, false)
	}
	for _, fp := range bytes {
		t.leave(fp, true)
	}
}

// close ends the use of the table. The leases end with the lock on the slot.
func (t *byTable) close() error {
	t.use.Lock()
	defer t.use.Unlock()
	t.closed, t.words = true, nil
	return t.unmap()
}

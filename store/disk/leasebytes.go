package disk

import (
	"errors"
	"slices"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// Offsets of the locked bytes in the file of leases: those of keys, then those that tell
// which processes use the table and how.
const (
	leaseBits  = 62 // of an offset of a key
	slotsAt    = 1 << leaseBits
	byTableAt  = slotsAt // slot 0 has no owner: shared by all users of the table
	byBytesAt  = slotsAt + leaseSlots
	leaseSlots = 1 << slotBits
	noSlot     = 0
)

// leaseOffset spreads keys over 62 bits. Two keys at one offset would only
// wait for each other.
func leaseOffset(fp uint64) int64 { return int64(fp >> (64 - leaseBits)) }

// A keyLocker is a lock table that processes share: it leases keys.
type keyLocker interface {
	// one leases a key, or returns vfs.ErrLocked.
	one(k key.Key) (release func(), err error)
	// many leases the keys that want selects and no other process holds, and reports which
	// they are. Keys that cannot be leased for another reason count as leased.
	many(keys []key.Key, want []bool) (leased []bool, release func(), err error)
}

// byBytes leases a key by locking a byte.
type byBytes struct {
	*leases
	s    *Store
	file *vfs.File // for single keys
}

func (l byBytes) one(k key.Key) (release func(), err error) {
	at := leaseOffset(format.Fingerprint(k))
	if err := l.file.LockByte(at); err != nil {
		return nil, err
	}
	return func() { _ = l.file.UnlockByte(at) }, nil // fails only after the store was closed
}

// many locks bytes through a separate open file, so that one call ends exactly these locks.
func (l byBytes) many(keys []key.Key, want []bool) (leased []bool, release func(), err error) {
	file, err := l.take(l.s)
	if err != nil { // a later call may get one
		l.report(l.s, err)
		return want, func() {}, nil
	}
	leased = slices.Clone(want)
	for i, k := range keys {
		if !leased[i] {
			continue
		}
		lerr := file.LockByte(leaseOffset(format.Fingerprint(k)))
		if leased[i] = !errors.Is(lerr, vfs.ErrLocked); leased[i] && lerr != nil {
			err = lerr
		}
	}
	return leased, func() {
		_ = file.UnlockBytes() // fails only after the store was closed
		l.leave(file)
	}, err
}

package disk

import (
	"errors"
	"slices"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/medium"
)

// Where the bytes of the file of leases are that are locked: those of keys, and behind
// them those that say who uses the table and how.
const (
	leaseBits  = 62 // of an offset of a key
	slotsAt    = 1 << leaseBits
	byTableAt  = slotsAt // slot 0 is nobody's: shared by all who lend by the table
	byBytesAt  = slotsAt + leaseSlots
	leaseSlots = 1 << slotBits
	noSlot     = 0
)

// leaseOffset spreads keys over 62 bits. Two keys at one offset would only
// wait for each other.
func leaseOffset(fp uint64) int64 { return int64(fp >> (64 - leaseBits)) }

// A lender lends keys among processes.
type lender interface {
	// one lends a key, or returns medium.ErrLocked.
	one(k key.Key) (release func(), err error)
	// many lends those of the keys for which want says so that nobody has, and
	// says which they are. What cannot be lent for another reason counts as lent.
	many(keys []key.Key, want []bool) (lent []bool, release func(), err error)
}

// byBytes lends a key by a lock on a byte.
type byBytes struct {
	*leases
	s    *Store
	file *medium.File // for single keys
}

func (l byBytes) one(k key.Key) (release func(), err error) {
	at := leaseOffset(format.Fingerprint(k))
	if err := l.file.LockByte(at); err != nil {
		return nil, err
	}
	return func() { _ = l.file.UnlockByte(at) }, nil // fails only once the store is closed
}

// many takes its locks by an open file of its own, so that one call ends them and no
// other's.
func (l byBytes) many(keys []key.Key, want []bool) (lent []bool, release func(), err error) {
	file, err := l.take(l.s)
	if err != nil { // another time there may be one
		l.report(l.s, err)
		return want, func() {}, nil
	}
	lent = slices.Clone(want)
	for i, k := range keys {
		if !lent[i] {
			continue
		}
		lerr := file.LockByte(leaseOffset(format.Fingerprint(k)))
		if lent[i] = !errors.Is(lerr, medium.ErrLocked); lent[i] && lerr != nil {
			err = lerr
		}
	}
	return lent, func() {
		_ = file.UnlockBytes() // fails only once the store is closed
		l.leave(file)
	}, err
}

package disk

import (
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// An index maps each key to the position of its latest record. It looks in places, then
// frozen, then base.
type index struct {
	mu     sync.RWMutex
	places map[uint64]format.Place
	frozen map[uint64]format.Place // being merged with base: not changed during that
	base   *base                   // nil for none
	packs  []*pack                 // by number; nil if gone
	latest atomic.Int64
	news   atomic.Uint64 // counts when records became known; changed under mu, after them
	group  format.Group  // for supersedes

	least int           // how many places justify a merge
	full  int           // how many places wake the merger
	merge chan struct{} // wakes the merger; buffers one
}

// forgotten is the position of an unusable record.
var forgotten = format.Place{Pack: noPack, Read: format.Tombstone}

// lookup returns the position of the latest record of fp, or a tombstone. Callers hold mu.
func (x *index) lookup(fp uint64) (format.Place, bool) {
	if at, ok := x.places[fp]; ok {
		return at, true
	}
	if at, ok := x.frozen[fp]; ok {
		return at, true
	}
	return x.base.find(fp)
}

// find returns the position of the record of fp. It does not find a tombstone.
func (x *index) find(fp uint64) (format.Place, *pack, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.lookup(fp)
	if !ok || at.IsTombstone() {
		return format.Place{}, nil, false
	}
	p := x.packs[at.Pack]
	return at, p, p != nil
}

// has reports whether the latest record of fp is the one at the position at.
func (x *index) has(fp uint64, at format.Place) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	latest, ok := x.lookup(fp)
	return ok && latest == at
}

// knows reports whether fp has a record or a tombstone.
func (x *index) knows(fp uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.lookup(fp)
	return ok && at != forgotten
}

// blobsOf returns the size of the blobs of the records in p.
func (x *index) blobsOf(p *pack) uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return p.blobs
}

// add gives p a number.
func (x *index) add(p *pack) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p.number = uint32(len(x.packs))
	x.packs = append(x.packs, p)
}

// insert makes known the records of p in entries, in the order of the pack.
func (x *index) insert(p *pack, entries []format.Entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.packs[p.number] == nil {
		return // gone in the meantime
	}
	if len(x.places) == 0 {
		x.places = make(map[uint64]format.Place, len(entries))
	}
	defer x.group.Forget()
	defer x.news.Add(1)
	for i := range entries {
		e := &entries[i]
		e.Pack = p.number
		x.saw(e.Stamp)
		known := e.Offset() < p.known
		p.learn(e)
		old, exists := x.lookup(e.FP)
		if !exists || old != e.Place && x.supersedes(e, old, known) {
			x.places[e.FP] = e.Place
		}
	}
	x.wake()
}

// wake wakes the merger if there is enough to merge.
func (x *index) wake() {
	if len(x.places) < x.full {
		return
	}
	select {
	case x.merge <- struct{}{}:
	default: // woken already
	}
}

// supersedes reports whether e is later than the record at old. At equal stamps, a
// tombstone is later, because it evicts a record, and so is a moved copy, because the other
// one is about to be removed. If the medium does not return the record at old, e is later
// unless it was known before: then it was found to be earlier.
func (x *index) supersedes(e *format.Entry, old format.Place, known bool) bool {
	if old.Pack == noPack {
		return true
	}
	if e.Pack == old.Pack {
		return e.Off >= old.Off // writers follow one another: later is newer
	}
	p := x.packs[old.Pack]
	if p == nil {
		return true
	}
	var h format.Header
	err := p.Header(&h, old)
	if err == nil && h.Kind == format.KindGroup && h.Created != h.Stamp { // otherwise the stamp is that of all members
		err = x.group.Describe(&h, &p.Pack, e.FP, old)
	}
	if err != nil {
		return !known || !unread(err)
	}
	if e.Stamp != h.Stamp {
		return e.Stamp > h.Stamp
	}
	return e.IsTombstone() || !old.IsTombstone() && e.Moves > h.Moves
}

// forget removes fp if its position is still old.
func (x *index) forget(fp uint64, old format.Place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if at, ok := x.lookup(fp); !ok || at != old {
		return
	}
	x.remove(fp)
}

// remove removes fp from places. Earlier records stay hidden, because they were replaced.
func (x *index) remove(fp uint64) {
	delete(x.places, fp)
	if _, ok := x.lookup(fp); ok {
		if x.places == nil {
			x.places = make(map[uint64]format.Place)
		}
		x.places[fp] = forgotten
	}
}

// drop removes packs and all records in them.
func (x *index) drop(gone []*pack) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range gone {
		x.packs[p.number] = nil
		if x.base != nil {
			x.base.detach(p)
		}
	}
	for fp, at := range x.places {
		if at != forgotten && x.packs[at.Pack] == nil {
			x.remove(fp)
		}
	}
}

// all returns the records for which keep returns true.
func (x *index) all(keep func(format.Place) bool) []format.Located {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var all []format.Located
	add := func(l format.Located) {
		if l.Pack != noPack && x.packs[l.Pack] != nil && keep(l.Place) {
			all = append(all, l)
		}
	}
	for fp, at := range x.places {
		add(format.Located{FP: fp, Place: at})
	}
	for fp, at := range x.frozen {
		if _, newer := x.places[fp]; !newer {
			add(format.Located{FP: fp, Place: at})
		}
	}
	for i := range x.base.len() {
		l, ok := x.base.entry(i, x.base.numbers)
		if latest, known := x.lookup(l.FP); ok && known && latest == l.Place {
			add(l)
		}
	}
	return all
}

// saw records the highest stamp, so that the next one is higher even if the clock went
// back.
func (x *index) saw(stamp int64) {
	for {
		latest := x.latest.Load()
		if stamp <= latest || x.latest.CompareAndSwap(latest, stamp) {
			return
		}
	}
}

// stamp returns a stamp later than all seen: now, if possible.
func (x *index) stamp(now int64) int64 {
	for {
		latest := x.latest.Load()
		next := max(now, latest+1)
		if x.latest.CompareAndSwap(latest, next) {
			return next
		}
	}
}

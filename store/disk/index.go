package disk

import (
	"sync"
	"sync/atomic"
)

// An index says where the latest record of each key is. What was learnt last
// counts most: places, then frozen, then base.
type index struct {
	mu     sync.RWMutex
	places map[uint64]place
	frozen map[uint64]place // being merged with base: not changed meanwhile
	base   *base            // nil for none
	packs  []*pack          // by number; nil once gone
	latest atomic.Int64
	group  group // for supersedes

	least int           // how many places are worth a merge
	full  int           // this many are
	merge chan struct{} // wakes who merges; holds one
}

// forgotten is the place of a record that is known to be no good.
var forgotten = place{pack: noPack, read: classTombstone}

// lookup returns where the latest record of fp is, or a tombstone. Callers hold
// mu.
func (x *index) lookup(fp uint64) (place, bool) {
	if at, ok := x.places[fp]; ok {
		return at, true
	}
	if at, ok := x.frozen[fp]; ok {
		return at, true
	}
	return x.base.find(fp)
}

// find returns where the record of fp is. A tombstone is not found.
func (x *index) find(fp uint64) (place, *pack, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.lookup(fp)
	if !ok || at.isTombstone() {
		return place{}, nil, false
	}
	p := x.packs[at.pack]
	return at, p, p != nil
}

// has reports whether the latest record of fp is the one at at.
func (x *index) has(fp uint64, at place) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	latest, ok := x.lookup(fp)
	return ok && latest == at
}

// knows reports whether there is a record, or a tombstone, of fp.
func (x *index) knows(fp uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.lookup(fp)
	return ok && at != forgotten
}

// blobsOf returns how many bytes the blobs of the records in p take.
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

// insert makes known the records of p that entries describe, in the order of
// the pack.
func (x *index) insert(p *pack, entries []entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.packs[p.number] == nil {
		return // gone meanwhile
	}
	if len(x.places) == 0 {
		x.places = make(map[uint64]place, len(entries))
	}
	defer x.group.forget()
	for i := range entries {
		e := &entries[i]
		e.pack = p.number
		x.saw(e.stamp)
		p.learn(e)
		old, exists := x.lookup(e.fp)
		if !exists || old != e.place && x.supersedes(e, old) {
			x.places[e.fp] = e.place
		}
	}
	x.wake()
}

// wake wakes who merges, if there is enough for it.
func (x *index) wake() {
	if len(x.places) < x.full {
		return
	}
	select {
	case x.merge <- struct{}{}:
	default: // woken already
	}
}

// supersedes reports whether e is later than the record at old. Of records
// with one stamp, a tombstone is the latest: that is how a record is evicted.
// Of copies, the one that was moved is: the other is about to be removed.
func (x *index) supersedes(e *entry, old place) bool {
	if old.pack == noPack {
		return true
	}
	if e.pack == old.pack {
		return e.off >= old.off // one writer after another: later is newer
	}
	p := x.packs[old.pack]
	if p == nil {
		return true
	}
	var h header
	err := p.header(&h, old)
	if err == nil && h.kind == kindGroup && h.created != h.stamp { // else that is the stamp of all members
		err = x.group.describe(&h, &p.packFile, e.fp, old)
	}
	if err != nil {
		return true
	}
	if e.stamp != h.stamp {
		return e.stamp > h.stamp
	}
	return e.isTombstone() || !old.isTombstone() && e.moves > h.moves
}

// forget removes fp if its place is still old.
func (x *index) forget(fp uint64, old place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if at, ok := x.lookup(fp); !ok || at != old {
		return
	}
	x.remove(fp)
}

// remove takes fp out of places. An earlier record of it stays hidden: it was
// replaced.
func (x *index) remove(fp uint64) {
	delete(x.places, fp)
	if _, ok := x.lookup(fp); ok {
		if x.places == nil {
			x.places = make(map[uint64]place)
		}
		x.places[fp] = forgotten
	}
}

// drop forgets packs and all records in them.
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
		if at != forgotten && x.packs[at.pack] == nil {
			x.remove(fp)
		}
	}
}

// all returns the records for which keep holds.
func (x *index) all(keep func(place) bool) []located {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var all []located
	add := func(l located) {
		if l.pack != noPack && x.packs[l.pack] != nil && keep(l.place) {
			all = append(all, l)
		}
	}
	for fp, at := range x.places {
		add(located{fp, at})
	}
	for fp, at := range x.frozen {
		if _, newer := x.places[fp]; !newer {
			add(located{fp, at})
		}
	}
	for i := range x.base.len() {
		l, ok := x.base.entry(i, x.base.numbers)
		if latest, known := x.lookup(l.fp); ok && known && latest == l.place {
			add(l)
		}
	}
	return all
}

// saw keeps the highest stamp met, so that the next one is higher even where
// the clock went back.
func (x *index) saw(stamp int64) {
	for {
		latest := x.latest.Load()
		if stamp <= latest || x.latest.CompareAndSwap(latest, stamp) {
			return
		}
	}
}

// stamp returns a stamp later than all met, and now if it can.
func (x *index) stamp(now int64) int64 {
	for {
		latest := x.latest.Load()
		next := max(now, latest+1)
		if x.latest.CompareAndSwap(latest, next) {
			return next
		}
	}
}

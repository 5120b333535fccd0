package disk

import (
	"github.com/larder-data/larder/store/disk/internal/format"
)

// begin prepares x for use with a merged index.
func (x *index) begin(m *base) {
	x.merge = make(chan struct{}, 1)
	x.least, x.base = leastMerge, m
	if m != nil {
		x.saw(m.Latest)
	}
	x.thaw()
}

// close closes the merged index.
func (x *index) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.base.close()
	x.base = nil
}

// isDamaged reports whether the merged index has turned out to be damaged.
func (x *index) isDamaged() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.base != nil && x.base.IsDamaged()
}

// merges reports whether there is a merged index.
func (x *index) merges() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.base != nil
}

// freeze moves places to frozen for a merge, until install or thaw. It returns how many
// bytes of each pack, by number, these cover.
func (x *index) freeze() []format.MergedPack {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.frozen, x.places = x.places, nil
	covered := make([]format.MergedPack, len(x.packs))
	for i, p := range x.packs {
		if p != nil {
			covered[i] = format.MergedPack{ID: p.ID, Covered: p.known, Blobs: p.blobs}
		}
	}
	return covered
}

// thaw ends a merge and moves what is still frozen back to places.
func (x *index) thaw() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.frozen) > 0 {
		for fp, at := range x.places {
			x.frozen[fp] = at
		}
		x.places = x.frozen
	}
	x.frozen = nil
	x.full = max(len(x.places)+x.least/2, x.base.len()/mergePart, x.least)
}

// postpone makes the next merge wait for more records.
func (x *index) postpone() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.full = len(x.places) + x.least
}

// due reports whether there is enough to merge for Close.
func (x *index) due() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.worth(len(x.places))
}

// enough reports whether frozen justifies a merge.
func (x *index) enough() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.worth(len(x.frozen)) || x.base != nil && x.base.dead()
}

// worth reports whether n records outside the merged index justify a merge.
func (x *index) worth(n int) bool { return n >= max(x.least, x.base.len()/closePart) }

// adopt switches to another process's merged index if that covers more.
func (x *index) adopt(m *base) bool {
	x.mu.Lock()
	if x.base != nil && m.Same(x.base.Merged) {
		x.mu.Unlock()
		return false
	}
	x.attach(m)
	better := m.reach() >= x.base.reach()
	frozen := x.frozen
	x.mu.Unlock()
	if !better {
		return false
	}
	rest := make(map[uint64]format.Place)
	for fp, at := range frozen {
		if there, ok := m.find(fp); !ok || there != at {
			rest[fp] = at
		}
	}
	x.install(m, rest)
	return true
}

// attach matches packs of m with packs that this process knows as far as m covers them.
func (x *index) attach(m *base) {
	m.detachAll()
	for _, p := range x.packs {
		if p == nil {
			continue
		}
		if i, ok := m.position(p.ID); ok && p.known >= m.Packs[i].Covered {
			m.attach(i, p)
		}
	}
}

// cover returns how many bytes the merged index covers of p, which has size bytes and is
// new here.
func (x *index) cover(p *pack, size int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.base.position(p.ID)
	if !ok || x.base.Packs[i].Covered > size {
		return 0
	}
	x.base.attach(i, p)
	x.news.Add(1)
	p.known, p.blobs = x.base.Packs[i].Covered, x.base.Packs[i].Blobs
	return p.known
}

// install makes m the base, and rest the remainder of frozen.
func (x *index) install(m *base, rest map[uint64]format.Place) {
	x.mu.Lock()
	old := x.base
	x.attach(m)
	x.base, x.frozen = m, rest
	x.saw(m.Latest)
	x.news.Add(1)
	x.mu.Unlock()
	old.close()
}

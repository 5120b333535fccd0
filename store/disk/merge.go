package disk

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// leastMerge is how many records may lack a merged index: whoever opens the
// store reads them in a few milliseconds. Beyond, it is a part of those that
// have one, so that merging takes a few writes for each record in all. Close
// leaves fewer, for it happens once.
const (
	leastMerge = 1 << 14
	mergePart  = 4
	closePart  = 32
)

func (s *Store) mergedPath() string { return filepath.Join(s.dir, mergedFile) }

// openMerged returns the merged index that is in the folder, nil for none. A
// damaged one is set aside.
func (s *Store) openMerged() *merged {
	m, err := openMerged(s.mergedPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.setAside(s.mergedPath(), err)
	}
	return m
}

func openMerged(path string) (m *merged, err error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if info.Size() == 0 {
		return nil, fmt.Errorf("%w: it is empty", errDamaged)
	}
	data, err := mapOpen(f, info.Size(), false)
	mapped := err == nil
	if !mapped {
		if data, err = io.ReadAll(f); err != nil {
			return nil, err
		}
	}
	if m, err = decodeMerged(data); err != nil {
		if mapped {
			err = errors.Join(err, unmap(data))
		}
		return nil, err
	}
	m.mapped = mapped
	return m, nil
}

// close ends the use of m.
func (m *merged) close() {
	if m != nil && m.mapped {
		_ = unmap(m.data) // nobody reads it any more
	}
}

// mergeIndexes merges what this process has learnt with the merged index. If
// another process does so, it is done.
func (s *Store) mergeIndexes(ctx context.Context) {
	unlock, err := s.lockCollect(ctx, lockPatience)
	if err != nil {
		s.index.postpone()
		return
	}
	defer unlock()
	s.refresh()
	x := &s.index
	covered := x.freeze()
	if m := s.openMerged(); m != nil && !x.adopt(m) {
		m.close()
	}
	if x.enough() {
		err = s.merge(covered)
	}
	x.thaw()
	if err != nil {
		s.report(s.mergedPath(), "cannot merge indexes", err)
	}
}

// finishMerge merges what is due, and would make opening slow. It leaves that to
// the next process if another one is at work on the store.
func (s *Store) finishMerge() {
	if s.readOnly || !s.index.due() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), firstPause)
	defer cancel()
	s.mergeIndexes(ctx)
}

// remerge writes the merged index anew, if there is one: packs are gone. Without
// it, the next process reads the indexes of the packs.
func (s *Store) remerge() {
	if !s.index.merges() {
		return
	}
	covered := s.index.freeze()
	defer s.index.thaw()
	if err := s.merge(covered); err != nil {
		s.report(s.mergedPath(), "cannot merge indexes", err)
		_ = os.Remove(s.mergedPath()) // only saves time
	}
}

// merge writes a merged index of all that was learnt before freeze, and goes on
// with it. Nobody else may merge meanwhile.
func (s *Store) merge(covered []mergedPack) error {
	plan := s.index.plan(covered)
	if err := s.writeMerged(plan); err != nil {
		return err
	}
	m, err := openMerged(s.mergedPath())
	if err != nil {
		return err
	}
	s.index.install(m, nil)
	return nil
}

// discardMerged does without a merged index that is damaged.
func (s *Store) discardMerged() {
	s.setAside(s.mergedPath(), fmt.Errorf("%w: bad checksum", errDamaged))
	s.index.mu.Lock()
	s.index.base = nil // not unmapped: it may be read for a merge
	s.index.mu.Unlock()
	for _, p := range s.folder.packs {
		found, _, err := s.contents(p, 0)
		if err != nil {
			s.report(p.path, "cannot read a pack", err)
		}
		s.index.insert(p, found.entries)
	}
}

// begin makes x ready for use, with the merged index that there is.
func (x *index) begin(m *merged) {
	x.merge = make(chan struct{}, 1)
	x.least, x.base = leastMerge, m
	if m != nil {
		x.saw(m.latest)
	}
	x.thaw()
}

// close forgets the merged index.
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
	return x.base != nil && x.base.damaged.Load()
}

// merges reports whether there is a merged index.
func (x *index) merges() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.base != nil
}

// freeze sets what was learnt aside for a merge, until install or thaw. It
// returns how much of each pack, by number, that is.
func (x *index) freeze() []mergedPack {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.frozen, x.places = x.places, nil
	covered := make([]mergedPack, len(x.packs))
	for i, p := range x.packs {
		if p != nil {
			covered[i] = mergedPack{id: p.id, covered: p.known, blobs: p.blobs}
		}
	}
	return covered
}

// thaw ends a merge. What it left is as it was before.
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

// postpone has the next merge tried later.
func (x *index) postpone() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.full = len(x.places) + x.least
}

// due reports whether there is enough for Close to merge.
func (x *index) due() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.places) >= max(x.least, x.base.len()/closePart)
}

// enough reports whether what is frozen is worth a merge.
func (x *index) enough() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.frozen) >= max(x.least, x.base.len()/closePart) || x.base != nil && x.base.dead()
}

// adopt goes on with the merged index that another process wrote, if it covers
// more.
func (x *index) adopt(m *merged) bool {
	x.mu.Lock()
	if x.base != nil && bytes.Equal(m.data[:mergedHeaderSize], x.base.data[:mergedHeaderSize]) {
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
	rest := make(map[uint64]place)
	for fp, at := range frozen {
		if there, ok := m.find(fp); !ok || there != at {
			rest[fp] = at
		}
	}
	x.install(m, rest)
	return true
}

// reach is how many entries are of packs that are there.
func (m *merged) reach() (n uint64) {
	if m == nil {
		return 0
	}
	for i, number := range m.numbers {
		if number != noPack {
			n += m.packs[i].entries
		}
	}
	return n
}

// attach finds the packs of m that this process knows as far as m covers them.
func (x *index) attach(m *merged) {
	for i := range m.numbers {
		m.numbers[i] = noPack
	}
	for _, p := range x.packs {
		if p == nil {
			continue
		}
		if i, ok := m.has(p.id); ok && p.known >= m.packs[i].covered {
			m.attach(i, p)
		}
	}
}

// cover returns how far the merged index knows p, which is size bytes long and
// new here. 0 is not at all.
func (x *index) cover(p *pack, size int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.base.has(p.id)
	if !ok || x.base.packs[i].covered > size {
		return 0
	}
	x.base.attach(i, p)
	p.known, p.blobs = x.base.packs[i].covered, x.base.packs[i].blobs
	return p.known
}

// install makes m the base, and rest of what is frozen.
func (x *index) install(m *merged, rest map[uint64]place) {
	x.mu.Lock()
	old := x.base
	x.attach(m)
	x.base, x.frozen = m, rest
	x.saw(m.latest)
	x.mu.Unlock()
	old.close()
}

// A mergePlan is what a merged index is made of.
type mergePlan struct {
	packs   []mergedPack
	order   []uint32 // position in packs by number in this process
	base    *merged
	numbers []uint32  // of the packs of base
	frozen  []located // ordered
	latest  int64
}

// plan returns what to write of the base and what is frozen, which is all there
// is in the covered part of packs.
func (x *index) plan(covered []mergedPack) *mergePlan {
	x.mu.RLock()
	defer x.mu.RUnlock()
	plan := &mergePlan{base: x.base, latest: x.latest.Load(), order: make([]uint32, len(x.packs))}
	if x.base != nil {
		plan.numbers = slices.Clone(x.base.numbers)
	}
	for i, p := range x.packs {
		plan.order[i] = noPack
		if p != nil && i < len(covered) && covered[i].covered > 0 {
			plan.order[i] = uint32(len(plan.packs))
			plan.packs = append(plan.packs, covered[i])
		}
	}
	plan.frozen = make([]located, 0, len(x.frozen))
	for fp, at := range x.frozen {
		plan.frozen = append(plan.frozen, located{fp, at})
	}
	slices.SortFunc(plan.frozen, func(a, b located) int { return cmp.Compare(a.fp, b.fp) })
	return plan
}

// each yields the latest records, ordered, with the positions of their packs.
func (p *mergePlan) each(yield func(located) error) error {
	emit := func(l located) error {
		if l.pack == noPack || p.order[l.pack] == noPack {
			return nil
		}
		l.pack = p.order[l.pack]
		return yield(l)
	}
	frozen := p.frozen
	for i := range p.base.len() {
		l, ok := p.base.entry(i, p.numbers)
		if !ok {
			return fmt.Errorf("%w: entry %d", errDamaged, i)
		}
		for len(frozen) > 0 && frozen[0].fp < l.fp {
			if err := emit(frozen[0]); err != nil {
				return err
			}
			frozen = frozen[1:]
		}
		if len(frozen) > 0 && frozen[0].fp == l.fp {
			continue // the later one counts
		}
		if err := emit(l); err != nil {
			return err
		}
	}
	for _, l := range frozen {
		if err := emit(l); err != nil {
			return err
		}
	}
	return nil
}

// writeMerged writes the file that plan describes.
func (s *Store) writeMerged(plan *mergePlan) error {
	m := &merged{latest: plan.latest, packs: plan.packs, bits: directoryBits(plan.base.len() + len(plan.frozen))}
	first := make([]uint32, 1<<m.bits+1)
	entries := uint64(0)
	err := plan.each(func(l located) error {
		entries++
		first[m.bucket(l.fp)+1]++
		m.packs[l.pack].entries++
		return nil
	})
	if err != nil {
		return err
	}
	for i := range first[1:] {
		first[i+1] += first[i]
	}
	for ; m.bits > directoryBits(int(entries)); m.bits-- { // many were replaced
		for i := range len(first)/2 + 1 {
			first[i] = first[2*i]
		}
		first = first[:len(first)/2+1]
	}
	m.directory, err = binary.Append(nil, binary.LittleEndian, first)
	if err != nil {
		return err
	}
	return s.writeFileBy(s.mergedPath(), 0o666, func(w *bufio.Writer) error {
		if _, err := w.Write(m.encodeHead(entries)); err != nil {
			return err
		}
		return plan.each(func(l located) error {
			_, err := w.Write(appendMergedEntry(w.AvailableBuffer(), l.fp, l.place))
			return err
		})
	})
}

// writeFileBy makes path hold what write writes, at once or not at all.
func (s *Store) writeFileBy(path string, mode os.FileMode, write func(*bufio.Writer) error) (err error) {
	f, err := s.createTemp(mode)
	if err != nil {
		return asStoreError(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // best effort: Collect removes what is left
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	err = cmp.Or(write(w), w.Flush())
	if err == nil && s.sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.rename(f.Name(), path)
	}
	return asStoreError(err)
}

package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/medium"
)

// manySmall is how many unfinished packs are left alone: each costs every
// miss a look.
const manySmall = 8

// Collect evicts records that are not pinned, those worth least first, until
// the folder holds at most limit bytes, and removes what nothing refers to.
// Small records in packs that other processes are writing stay. Others may
// read and write meanwhile; one process collects at a time.
func (s *Store) Collect(ctx context.Context, limit int64) (freed int64, err error) {
	if err := s.writable(); err != nil {
		return 0, err
	}
	freed, _, err = s.collect(ctx, limit, 0, 0)
	return freed, err
}

// collect is Collect, and returns how many bytes it had to leave, too: what was
// put meanwhile is none of them. Up to spare bytes more may stay of what is worth nothing
// any more. It gives up with medium.ErrLocked if another process collects for longer than
// patience, unless that is 0.
func (s *Store) collect(ctx context.Context, limit, spare int64, patience time.Duration) (freed, left int64, err error) {
	unlock, err := s.lockCollect(ctx, patience)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	for {
		c := collection{s: s, limit: limit, spare: spare}
		c.out.s, c.out.careful = s, true
		more, least, err := c.run(ctx)
		freed, left = freed+more, least+c.swelled()
		if err != nil {
			return freed, left, fmt.Errorf("store: collect %s: %w", s.files.Dir, medium.StoreError(err))
		}
		if c.swelled() <= 0 || c.evicted == 0 || left <= limit {
			return freed, left, nil
		}
	}
}

// lockCollect lets one goroutine of one process collect at a time.
func (s *Store) lockCollect(ctx context.Context, patience time.Duration) (unlock func(), err error) {
	file, err := s.files.OpenLock(medium.CollectFile)
	if err != nil {
		return nil, fmt.Errorf("store: %w", medium.StoreError(err))
	}
	waiting := ctx
	if patience > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, patience, medium.ErrLocked)
		defer cancel()
	}
	err = medium.Retry(waiting, file.TryLock)
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		s.collecting.Lock()
		return func() {
			s.collecting.Unlock()
			_ = file.Close() // holds nothing but the lock
		}, nil
	}
	_ = file.Close()
	return nil, cmp.Or(context.Cause(waiting), err)
}

// A collection is one run of Collect.
type collection struct {
	s      *Store
	limit  int64
	spare  int64    // what may stay beyond that of what is dead in packs that are mostly alive
	out    appender // takes the records that move
	packs  []*collectedPack
	older  map[uint64]uint32 // fingerprint -> pack with an older record, plus 1
	blobs  map[key.Digest]*blobRefs
	pinned map[uint64]bool
	// merged is what a record takes in the merged index, 0 if there is none.
	merged  int64
	live    int64   // records that are not superseded
	moved   int64   // what the records that moved took, as cost tells
	safe    int64   // of these, what is safe from a loss of power
	emptied []*pack // which go when it is
	evicted int     // how many records were

	group   format.Group // the one read last
	grouped bool         // there are groups
}

// swelled returns how much more the records that moved take than they did before:
// what the members of a group share was not known to the byte. Each time there
// are fewer, so that Collect comes to an end.
func (c *collection) swelled() int64 { return c.out.grown + c.out.listed - c.moved }

// groupSlack is the part of the limit that is left free because of that, so that
// once will do.
const groupSlack = 64

// manyPacks stands for more than one pack in collection.older.
const manyPacks = ^uint32(0)

type collectedPack struct {
	pack    *pack
	bytes   int64 // with the index
	sealed  bool
	lock    *medium.File // nil if it could not be locked
	entries []format.Entry
	shares  []uint32 // what each takes if it is in a group; nil if none is
	live    int64    // bytes that stay, with their part of an index
	rewrite bool
}

// free reports whether nobody writes to the pack, now or later.
func (p *collectedPack) free() bool { return p.lock != nil || p.sealed }

func (p *collectedPack) dead() int64 { return p.bytes - p.live }

// cost is what record i takes in the pack, if that has an index.
func (p *collectedPack) cost(i int) int64 {
	if e := &p.entries[i]; !e.IsGroup() {
		return e.Bytes() + format.EntrySize
	}
	return int64(p.shares[i])
}

// share works out what each member of the group takes that the entries from i on
// are of. What is only in one place for all is shared equally: whose provenance is
// the one that is written out depends on which members stay.
func (c *collection) share(p *collectedPack, i int) {
	c.grouped = true
	if p.shares == nil {
		p.shares = make([]uint32, len(p.entries))
	}
	entries := p.entries[i:][:format.SameRecord(p.entries[i:])]
	shares := p.shares[i:][:len(entries)]
	total := entries[0].Bytes() + format.ListedSize(entries)
	if c.group.Read(&p.pack.Pack, entries[0].Place) == nil {
		if members, err := c.group.All(); err == nil && len(members) == len(entries) {
			for i := range members {
				own := members[i].Own()
				shares[i] = uint32(own)
				total -= int64(own)
			}
		}
	}
	n := int64(len(entries))
	for i := range shares {
		shares[i] += uint32(total / n)
	}
	shares[0] += uint32(total % n)
}

type blobRefs struct {
	size  int64
	count int
}

// A candidate is a record that may be evicted.
type candidate struct {
	pack  *collectedPack
	entry *format.Entry
	cost  int64
	used  int64
	worth float64
	blob  *blobRefs // nil for a record without
}

func (c *collection) run(ctx context.Context) (freed, left int64, err error) {
	s := c.s
	if err := s.writer.release(); err != nil { // so that its pack can move
		return 0, 0, err
	}
	defer c.unlockPacks()
	if err := s.files.RemoveDead(); err != nil {
		return 0, 0, err
	}
	s.refresh()
	// First all that is damaged is set aside: its size says nothing of what it takes.
	c.survey()
	s.touches.reread(s)
	if c.pinned, err = s.pinned(ctx); err != nil {
		return 0, 0, err
	}
	before, err := s.measure()
	if err != nil {
		return 0, 0, err
	}
	before += s.mapped.Removed()
	if s.index.merges() {
		c.merged = format.MergedCost
	}
	victims, left, err := c.choose(before)
	if err != nil {
		return 0, 0, err
	}
	err = c.apply(ctx, victims)
	err = errors.Join(err, c.out.release())
	s.refresh()
	if err == nil {
		s.remerge()
		err = errors.Join(s.sweepPacks(), s.sweepBlobs(c.blobs), s.compactTouches(s.index.knows))
		s.mapped.LetGo()
	}
	after, merr := s.look()
	return max(before-after, 0), left, errors.Join(err, merr)
}

// survey finds out what every pack holds. It leaves out those it cannot read.
func (c *collection) survey() {
	for _, p := range c.s.folder.all() {
		cp := &collectedPack{pack: p}
		if lock, err := c.s.lockPack(p); err == nil {
			cp.lock = lock
		}
		if err := c.surveyPack(cp); err != nil {
			c.s.files.Report(p.path, "cannot read a pack", err)
			cp.unlock()
			continue
		}
		c.packs = append(c.packs, cp)
	}
	c.older = make(map[uint64]uint32)
	for _, p := range c.packs {
		for i := range p.entries {
			e := &p.entries[i]
			if c.s.index.has(e.FP, e.Place) {
				continue
			}
			if in, ok := c.older[e.FP]; ok && in != p.pack.number+1 {
				c.older[e.FP] = manyPacks
			} else {
				c.older[e.FP] = p.pack.number + 1
			}
		}
	}
}

func (c *collection) surveyPack(p *collectedPack) error {
	found, info, err := c.s.contents(p.pack, 0)
	if err != nil {
		return err
	}
	p.bytes, p.sealed, p.entries = countedSize(info), isSealed(info), found.Entries
	if index, err := c.s.files.Lstat(p.pack.indexPath()); err == nil {
		p.bytes += index.Size()
	}
	c.s.index.insert(p.pack, p.entries) // what is unknown would seem dead
	return nil
}

// keepsTombstone reports whether a record that says fp is deleted must stay
// when it leaves p, for the sake of older records elsewhere.
func (c *collection) keepsTombstone(fp uint64, p *pack) bool {
	in, ok := c.older[fp]
	return ok && in != p.number+1
}

// choose decides what is evicted and which packs are rewritten, so that of
// held bytes at most the limit is left, and returns how many are at least.
func (c *collection) choose(held int64) (victims map[*format.Entry]bool, least int64, err error) {
	candidates := c.candidates()
	unreferenced, err := c.unreferencedBlobs()
	if err != nil {
		return nil, 0, err
	}
	held -= unreferenced
	if c.merged > 0 { // it will be written anew
		held += format.MergedSize(len(c.packs)) + c.live*c.merged - c.s.mergedSize()
	}
	// If every free pack were rewritten, this would be left.
	least = held
	for _, p := range c.packs {
		if p.free() {
			least -= p.dead()
		}
	}
	limit := c.limit
	if c.grouped && least > limit {
		limit -= limit / groupSlack
	}
	victims = make(map[*format.Entry]bool)
	for _, v := range candidates {
		if least <= limit {
			break
		}
		if !v.pack.free() && v.blob == nil {
			continue // nothing is won
		}
		victims[v.entry] = true
		if v.pack.free() {
			v.pack.live -= v.cost
			held -= c.merged
			least -= v.cost + c.merged
		}
		if v.blob != nil {
			if v.blob.count--; v.blob.count == 0 {
				held -= v.blob.size
				least -= v.blob.size
			}
		}
	}
	c.evicted = len(victims)
	c.chooseRewrites(held)
	return victims, least, nil
}

// candidates returns the records that are not pinned, those worth least first,
// and sums up what is live.
func (c *collection) candidates() []candidate {
	s := c.s
	c.blobs = make(map[key.Digest]*blobRefs)
	now := time.Now()
	var all []candidate
	for _, p := range c.packs {
		for i := range p.entries {
			e := &p.entries[i]
			if e.IsGroup() && (i == 0 || e.Off != p.entries[i-1].Off) {
				c.share(p, i)
			}
			if !s.index.has(e.FP, e.Place) || e.IsTombstone() && !c.keepsTombstone(e.FP, p.pack) {
				continue
			}
			p.live += p.cost(i)
			c.live++
			if e.IsTombstone() {
				continue
			}
			var h format.Header
			if c.group.Describe(&h, &p.pack.Pack, e.FP, e.Place) != nil {
				h = format.Header{} // damage is found where it is moved
			}
			one := candidate{pack: p, entry: e, cost: p.cost(i), blob: c.reference(e, &h)}
			if c.pinned[e.FP] {
				continue
			}
			used := s.touches.used(s, e.FP, e.Stamp)
			one.used, one.worth = used.UnixNano(), infoOf(&h, used).Worth(now)
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.worth, b.worth), cmp.Compare(a.used, b.used), cmp.Compare(a.entry.Stamp, b.entry.Stamp))
	})
	return all
}

// reference counts the reference of a record to its blob, if it has one.
func (c *collection) reference(e *format.Entry, h *format.Header) *blobRefs {
	if !e.IsBlob() || h.Kind != format.KindBlob {
		return nil
	}
	refs := c.blobs[h.Ref]
	if refs == nil {
		refs = &blobRefs{size: int64(h.Size)}
		c.blobs[h.Ref] = refs
	}
	refs.count++
	return refs
}

// unreferencedBlobs returns how many bytes sweepBlobs will free whatever is
// evicted.
func (c *collection) unreferencedBlobs() (total int64, err error) {
	err = c.s.eachBlob(func(d key.Digest, e fs.DirEntry, _ string) error {
		info, err := e.Info()
		if err == nil && c.blobs[d] == nil && !isYoung(e) {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

// chooseRewrites picks free packs, those with the greatest dead share first:
// at least half of it, or as many as are needed to come from held to the
// limit. To what is spare that is not worth moving three bytes for one. Small packs
// are joined when there are many.
func (c *collection) chooseRewrites(held int64) {
	var free []*collectedPack
	unsealed := 0
	for _, p := range c.packs {
		if p.free() {
			free = append(free, p)
			if !p.sealed {
				unsealed++
			}
		}
	}
	slices.SortFunc(free, func(a, b *collectedPack) int {
		return cmp.Compare(float64(b.dead())/float64(max(b.bytes, 1)), float64(a.dead())/float64(max(a.bytes, 1)))
	})
	for _, p := range free {
		needed := p.dead() > 0 && (held > c.limit+c.spare || held > c.limit && 4*p.dead() >= p.bytes)
		join := !p.sealed && unsealed > manySmall
		if needed || join || 2*p.dead() >= p.bytes {
			p.rewrite = true
			held -= p.dead()
		}
	}
}

// apply carries out what was chosen. When something fails, records that moved may not have been
// written: then all packs stay that are not removed yet.
func (c *collection) apply(ctx context.Context, victims map[*format.Entry]bool) error {
	for _, p := range c.packs {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, c.settle())
		}
		var err error
		if p.rewrite {
			err = c.rewrite(p, victims)
		} else {
			err = c.evictInPlace(p, victims)
		}
		if err != nil {
			return err
		}
	}
	return c.settle()
}

// settle removes the packs that were emptied, once what moved out of them is safe: a loss of
// power must not lose the records that were safe before.
func (c *collection) settle() error {
	if c.safe < c.moved {
		if err := c.out.flush(); err != nil {
			return err
		}
		c.safe = c.moved
	}
	for _, p := range c.emptied {
		for _, path := range []string{p.path, p.indexPath()} {
			if err := c.s.files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	c.emptied = nil
	return nil
}

// evictInPlace evicts those victims of a pack that stays whose blob is worth
// it.
func (c *collection) evictInPlace(p *collectedPack, victims map[*format.Entry]bool) error {
	for i := range p.entries {
		if e := &p.entries[i]; victims[e] && e.IsBlob() {
			if err := c.bury(p.pack, e); err != nil && !errors.Is(err, errUnread) {
				return err
			}
		}
	}
	return nil
}

// bury appends a tombstone for exactly the record of e: with the same stamp,
// it does not hide a later one.
func (c *collection) bury(p *pack, e *format.Entry) error {
	var h format.Header
	err := c.group.Describe(&h, &p.Pack, e.FP, e.Place)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrClosed):
		return err
	case unread(err):
		return errUnread
	default:
		return nil // damage: no record is left to bury
	}
	c.moved += format.HeaderSize + format.EntrySize
	return c.out.later(&format.Header{Kind: format.KindTombstone, Key: h.Key, Stamp: h.Stamp}, nil, nil, false)
}

// rewrite moves what stays of a pack and has it removed, unless the medium does not give
// all of that back: then the rest stays where it is. Making that safe takes longer than
// moving it, so packs are removed together, as soon as the copies would take more than a pack.
func (c *collection) rewrite(p *collectedPack, victims map[*format.Entry]bool) error {
	s, whole := c.s, true
	if c.moved+p.live-c.safe > s.packBytes {
		if err := c.settle(); err != nil {
			return err
		}
	}
	for i := range p.entries {
		e := &p.entries[i]
		if !s.index.has(e.FP, e.Place) {
			continue // a later record exists by now
		}
		var err error
		switch {
		case victims[e] && c.keepsTombstone(e.FP, p.pack):
			err = c.bury(p.pack, e)
		case victims[e]:
			s.index.forget(e.FP, e.Place)
		case e.IsTombstone() && !c.keepsTombstone(e.FP, p.pack):
			s.index.forget(e.FP, e.Place)
		default:
			err = c.move(p.pack, e, p.cost(i))
		}
		if errors.Is(err, errUnread) {
			whole = false
		} else if err != nil {
			return err
		}
	}
	if whole {
		c.emptied = append(c.emptied, p.pack)
	}
	if c.safe == c.moved { // nothing that moved waits
		return c.settle()
	}
	return nil
}

// errUnread says that the medium did not give a record back.
var errUnread = errors.New("a record was not read")

// move copies a record that takes cost bytes to the packs that stay. A damaged one
// is set aside.
func (c *collection) move(p *pack, e *format.Entry, cost int64) error {
	var h format.Header
	payload, provenance, err := c.read(&h, p, e)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrClosed):
		return err
	case unread(err):
		c.s.files.Report(p.path, "cannot read a record", err)
		return errUnread
	default:
		c.s.files.SetAsideBytes(p.file, p.ID, e.Offset(), e.Offset()+e.Bytes(), err)
		c.s.index.forget(e.FP, e.Place)
		return nil
	}
	h.Moves++
	c.moved += cost
	return c.out.later(&h, payload, provenance, e.IsGroup())
}

// read reads all of a record, verified; that of a member of a group is valid until
// the next one is read.
func (c *collection) read(h *format.Header, p *pack, e *format.Entry) (payload, provenance []byte, err error) {
	if !e.IsGroup() {
		return p.ReadWhole(h, e.Place)
	}
	i, err := c.group.Get(h, &p.Pack, e.FP, e.Place)
	if err != nil {
		return nil, nil, err
	}
	if h.Kind == format.KindMember {
		h.Kind = format.KindInline
	}
	return c.group.Payload(i), c.group.Provenance(i), nil
}

func (c *collection) unlockPacks() {
	for _, p := range c.packs {
		p.unlock()
	}
}

func (p *collectedPack) unlock() {
	if p.lock != nil {
		_ = p.lock.Close() // holds nothing but the lock
	}
}

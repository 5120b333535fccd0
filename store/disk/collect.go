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
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// manySmall is how many unfinished packs are left alone: each adds a lookup to every miss.
const manySmall = 8

// Collect evicts records that are not pinned, lowest worth first, until the directory holds
// at most limit bytes. It also removes unreferenced files. Small records in packs that
// other processes are writing stay. Other callers may read and write concurrently; one
// process collects at a time.
func (s *Store) Collect(ctx context.Context, limit int64) (freed int64, err error) {
	if err := s.writable(); err != nil {
		return 0, err
	}
	freed, _, err = s.collect(ctx, limit, 0, 0)
	return freed, err
}

// collect is Collect, and also returns how many bytes it had to leave, without those put
// while it ran. Up to spare bytes of dead records may stay in addition. It returns
// vfs.ErrLocked if another process collects for longer than patience, unless patience is
// 0.
func (s *Store) collect(ctx context.Context, limit, spare int64, patience time.Duration) (freed, left int64, err error) {
	unlock, err := s.lockCollect(ctx, patience)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	for {
		c := collection{s: s, limit: limit, spare: spare}
		c.out.s, c.out.durable = s, true
		more, least, err := c.run(ctx)
		freed, left = freed+more, least+c.swelled()
		if err != nil {
			return freed, left, fmt.Errorf("store: collect %s: %w", s.files.Dir, vfs.StoreError(err))
		}
		if c.swelled() <= 0 || c.evicted == 0 || left <= limit {
			return freed, left, nil
		}
	}
}

// lockCollect allows one goroutine of one process to collect at a time.
func (s *Store) lockCollect(ctx context.Context, patience time.Duration) (unlock func(), err error) {
	file, err := s.files.OpenLock(vfs.CollectFile)
	if err != nil {
		return nil, fmt.Errorf("store: %w", vfs.StoreError(err))
	}
	waiting := ctx
	if patience > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, patience, vfs.ErrLocked)
		defer cancel()
	}
	err = vfs.Retry(waiting, file.TryLock)
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
	spare  int64    // bytes that may stay in addition: dead records in packs that are mostly alive
	out    appender // receives the records that move
	packs  []*collectedPack
	older  map[uint64]uint32 // fingerprint -> pack with an older record, plus 1
	blobs  map[key.Digest]*blobRefs
	pinned map[uint64]bool
	// merged is the size of a record in the merged index, 0 if there is none.
	merged  int64
	live    int64   // records that are not superseded
	moved   int64   // size before the move, by cost, of the records that moved
	safe    int64   // the part of moved that survives a power loss
	emptied []*pack // removed when moved records are durable
	evicted int     // number of evicted records

	group   format.Group // the last one read
	grouped bool         // the store has groups
}

// swelled returns how much more the moved records take than before: the shared bytes of
// group members were only estimated. Each round moves fewer records, so Collect ends.
func (c *collection) swelled() int64 { return c.out.written + c.out.indexBytes - c.moved }

// groupSlack is the part of the limit left free for such growth, so that one round is
// enough.
const groupSlack = 64

// manyPacks represents several packs in collection.older.
const manyPacks = ^uint32(0)

type collectedPack struct {
	pack    *pack
	bytes   int64 // with the index
	sealed  bool
	lock    *vfs.File // nil if it could not be locked
	entries []format.Entry
	shares  []uint32 // size of each if it is in a group; nil if none is
	live    int64    // bytes that stay, with their part of an index
	rewrite bool
}

// free reports whether no process writes to the pack, now or later.
func (p *collectedPack) free() bool { return p.lock != nil || p.sealed }

func (p *collectedPack) dead() int64 { return p.bytes - p.live }

// cost returns the size of record i in the pack, if the pack has an index.
func (p *collectedPack) cost(i int) int64 {
	if e := &p.entries[i]; !e.IsGroup() {
		return e.Bytes() + format.EntrySize
	}
	return int64(p.shares[i])
}

// share computes the size of each member of the group that begins at entry i. Bytes stored
// once for all members are shared equally, because which member holds the full provenance
// depends on which members stay.
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
	blob  *blobRefs // nil for a record without a blob
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
	// Quarantine damaged records first: their size does not say how much space they take.
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
		s.mapped.DropFromMemory()
	}
	after, merr := s.look()
	return max(before-after, 0), left, errors.Join(err, merr)
}

// survey reads what every pack holds. It skips packs that it cannot read.
func (c *collection) survey() {
	for _, p := range c.s.directory.all() {
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
	c.s.index.insert(p.pack, p.entries) // unknown records would seem dead
	return nil
}

// keepsTombstone reports whether the tombstone of fp must stay when it leaves p, because
// older records are elsewhere.
func (c *collection) keepsTombstone(fp uint64, p *pack) bool {
	in, ok := c.older[fp]
	return ok && in != p.number+1
}

// choose decides which records are evicted and which packs are rewritten, so that at most
// the limit remains of held bytes. It returns how many bytes remain at least.
func (c *collection) choose(held int64) (victims map[*format.Entry]bool, least int64, err error) {
	candidates := c.candidates()
	unreferenced, err := c.unreferencedBlobs()
	if err != nil {
		return nil, 0, err
	}
	held -= unreferenced
	if c.merged > 0 { // it will be rewritten
		held += format.MergedSize(len(c.packs)) + c.live*c.merged - c.s.mergedSize()
	}
	// This would remain if every free pack were rewritten.
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
			continue // no gain
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

// candidates returns the records that are not pinned, lowest worth first, and sums up the
// live ones.
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
				h = format.Header{} // a move finds the damage
			}
			one := candidate{pack: p, entry: e, cost: p.cost(i), blob: c.reference(e, &h)}
			if c.pinned[e.FP] {
				continue
			}
			used := s.touches.used(s, e.FP, e.Stamp)
			one.used, one.worth = used.UnixNano(), infoOf(&h, used).EvictionPriority(now)
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

// unreferencedBlobs returns how many bytes sweepBlobs frees, whatever is evicted.
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

// chooseRewrites picks free packs, those with the greatest dead share first: all that are
// at least half dead, or as many as are needed to get from held to the limit. Within spare,
// it skips packs that would move more than three bytes per byte freed. It joins small packs
// if there are many.
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

// apply evicts and rewrites what choose chose. After a failure, moved records may not have
// been written, so it keeps all packs that are not yet removed.
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

// settle removes the emptied packs once the records that left them are durable: a power
// loss must not lose records that were durable before.
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

// evictInPlace evicts the victims in a pack that stays if their blobs are worth it.
func (c *collection) evictInPlace(p *collectedPack, victims map[*format.Entry]bool) error {
	for i := range p.entries {
		if e := &p.entries[i]; victims[e] && e.IsBlob() {
			if err := c.appendTombstone(p.pack, e); err != nil && !errors.Is(err, errUnread) {
				return err
			}
		}
	}
	return nil
}

// appendTombstone appends a tombstone for exactly the record of e: it has the same stamp, so
// it hides no later record.
func (c *collection) appendTombstone(p *pack, e *format.Entry) error {
	var h format.Header
	err := c.group.Describe(&h, &p.Pack, e.FP, e.Place)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrClosed):
		return err
	case unread(err):
		return errUnread
	default:
		return nil // damage: there is no record
	}
	c.moved += format.HeaderSize + format.EntrySize
	return c.out.putStaged(&format.Header{Kind: format.KindTombstone, Key: h.Key, Stamp: h.Stamp}, nil, nil, false)
}

// rewrite moves the remaining records of a pack and marks it for removal. If the medium
// fails to return some of them, the pack stays. A sync of the copies takes longer than
// copying, so packs are removed together, as soon as the copies would exceed the size of a
// pack.
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
			continue // a later record replaced it
		}
		var err error
		switch {
		case victims[e] && c.keepsTombstone(e.FP, p.pack):
			err = c.appendTombstone(p.pack, e)
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
	if c.safe == c.moved { // no moved record waits
		return c.settle()
	}
	return nil
}

// errUnread reports that the medium did not return a record.
var errUnread = errors.New("a record was not read")

// move copies a record of cost bytes to the packs that stay. It quarantines a damaged one.
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
	return c.out.putStaged(&h, payload, provenance, e.IsGroup())
}

// read reads and verifies a whole record. A member of a group is valid until the next group
// is read.
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

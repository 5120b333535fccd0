package bucket

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/store"
)

const (
	requests  = 8         // at a time
	gap       = 256 << 10 // two records that are nearer are read by one request
	maxExtent = 16 << 20  // bytes of one request for several records

	largeIndex = 16 << 20 // bytes
)

// Get returns the record under k.
func (s *Store) Get(ctx context.Context, k key.Key) (store.Record, error) {
	records, err := s.GetMany(ctx, []key.Key{k})
	if err != nil && !errors.Is(err, ErrAway) {
		return store.Record{}, err
	}
	if err != nil || records[0].Key.IsZero() {
		return store.Record{}, store.ErrNotFound
	}
	return records[0], nil
}

// GetWithoutRefresh is Get without a list of the packs that others wrote.
func (s *Store) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	s.mu.Lock()
	p, ok := s.places[k]
	s.mu.Unlock()
	if !ok || p.n == 0 {
		return store.Record{}, store.ErrNotFound
	}
	return s.Get(ctx, k)
}

// GetMany returns the records under keys.
func (s *Store) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	records, err := s.GetCombined(ctx, keys)
	for i := range records {
		records[i].Provenance = nil
	}
	return records, err
}

// Provenance returns the provenance stored with the record under k.
func (s *Store) Provenance(ctx context.Context, k key.Key) ([]byte, error) {
	records, err := s.GetCombined(ctx, []key.Key{k})
	if err != nil {
		return nil, err
	}
	if records[0].Key.IsZero() {
		return nil, store.ErrNotFound
	}
	return records[0].Provenance, nil
}

// Has reports whether an index names a record under k.
func (s *Store) Has(ctx context.Context, k key.Key) (bool, error) {
	found, err := s.find(ctx, []key.Key{k}, s.o.Refresh)
	if errors.Is(err, ErrAway) {
		return false, nil
	}
	return err == nil && found[0].n > 0, err
}

// Records yields the latest records of all keys. It reads them all.
func (s *Store) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		if err := s.refresh(ctx, 0); err != nil {
			yield(store.Info{}, err)
			return
		}
		s.mu.Lock()
		all := slices.Collect(maps.Keys(s.places))
		s.mu.Unlock()
		for some := range slices.Chunk(all, 256) {
			records, err := s.GetMany(ctx, some)
			if err != nil {
				yield(store.Info{}, err)
				return
			}
			for _, r := range records {
				info := store.Info{Key: r.Key, Link: r.Link, Type: r.Type, Size: int64(len(r.Payload)), Cost: r.Cost, Created: r.Created, Used: r.Created}
				if !r.Key.IsZero() && !yield(info, nil) {
					return
				}
			}
		}
	}
}

// find returns where the records under keys are. If some are missing, it reads the indexes
// that others wrote, unless the last time was at most age ago.
func (s *Store) find(ctx context.Context, keys []key.Key, age time.Duration) ([]place, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	found := make([]place, len(keys))
	look := func() (missing bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, k := range keys {
			p, ok := s.places[k]
			missing = missing || !ok && !k.IsZero()
			if ok && p.n > 0 {
				found[i] = p
			}
		}
		return missing
	}
	if !look() {
		return found, nil
	}
	if err := s.refresh(ctx, age); err != nil {
		return nil, err
	}
	look()
	return found, nil
}

// refresh reads the indexes that were written since the last time, unless that is at most
// age ago.
func (s *Store) refresh(ctx context.Context, age time.Duration) error {
	began := time.Now()
	s.listing.Lock()
	defer s.listing.Unlock()
	s.mu.Lock()
	fresh := !s.listed.IsZero() && (s.listed.After(began) || began.Sub(s.listed) < age)
	s.mu.Unlock()
	if fresh {
		return nil
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	began = time.Now()
	lctx, cancel := s.bounded(ctx, 0)
	defer cancel()
	all, err := objectstore.List(lctx, s.o.URL+"/index/")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.failed(ctx, err)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for _, url := range all {
		name := path.Base(objectstore.Name(url))
		s.mu.Lock()
		known := s.known[name]
		s.mu.Unlock()
		if !known {
			g.Go(func() error { return s.readIndex(gctx, name) })
		}
	}
	if err := g.Wait(); err != nil {
		return s.failed(ctx, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = began
	return nil
}

// readIndex reads the index of a pack. It warns about one that cannot be used, and does not
// read it again.
func (s *Store) readIndex(ctx context.Context, name string) error {
	b, err := s.index(ctx, name)
	_, temporary := errors.AsType[*objectstore.RetryableError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case temporary, ctx.Err() != nil, errors.Is(err, errSlow), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	p := &pack{name: name}
	var entries []entry
	if err == nil {
		p.bytes, entries, err = decodeIndex(s.o.Secret, b)
	}
	if err != nil {
		s.o.Logger.Warn("bucket: an index is not used", "bucket", s.shown, "name", name, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[name] = true
	for _, e := range entries {
		if was, ok := s.places[e.key]; !ok || e.put > was.put || e.put == was.put && name > was.name {
			s.places[e.key] = place{e, p}
		}
	}
	return nil
}

// index returns an index object. Of a large one it reads the header first, which says how
// long an index is.
func (s *Store) index(ctx context.Context, name string) ([]byte, error) {
	first, cancel := s.bounded(ctx, 0)
	defer cancel()
	f, err := objectstore.Open(first, s.o.URL+"/index/"+name)
	if err != nil {
		return nil, err
	}
	if f.Size > largeIndex {
		header := make([]byte, indexStart)
		if err := f.ReadAt(first, header, 0); err != nil {
			return nil, err
		}
		if !isIndex(header, f.Size) {
			return nil, errForeign
		}
	}
	whole, cancel := s.bounded(ctx, f.Size)
	defer cancel()
	b := make([]byte, f.Size)
	return b, f.ReadAt(whole, b, 0)
}

// Lacks returns those of the keys that no index names, not even as deleted. It sends no
// request once the indexes were read.
func (s *Store) Lacks(ctx context.Context, keys []key.Key) (lacks []key.Key, err error) {
	if s.o.ReadOnly {
		return nil, nil
	}
	if _, err := s.find(ctx, keys, lastAway); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		if _, ok := s.places[k]; !ok {
			lacks = append(lacks, k)
		}
	}
	return lacks, nil
}

// GetCombined is GetMany with provenance.
func (s *Store) GetCombined(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	found, err := s.find(ctx, keys, s.o.Refresh)
	if err != nil {
		return nil, err
	}
	records := make([]store.Record, len(keys))
	var far []int // positions of records that are not in memory
	s.mu.Lock()
	for i, p := range found {
		switch {
		case p.pack == nil:
		case p.content != nil:
			records[i], err = p.record(slices.Clone(p.content[p.at : p.at+p.n]))
		default:
			far = append(far, i)
		}
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(far, func(i, j int) int {
		return cmp.Or(cmp.Compare(found[i].name, found[j].name), cmp.Compare(found[i].at, found[j].at))
	})
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for len(far) > 0 {
		some := far[:together(found, far)]
		far = far[len(some):]
		g.Go(func() error { return s.read(gctx, found, some, records) })
	}
	if err := g.Wait(); err != nil {
		return nil, s.failed(ctx, err)
	}
	return records, nil
}

// together returns how many of the first records one request reads.
func together(found []place, far []int) (n int) {
	first := found[far[0]]
	for n = 1; n < len(far); n++ {
		before, p := found[far[n-1]], found[far[n]]
		if p.pack != first.pack || p.at-(before.at+before.n) > gap || p.at+p.n-first.at > maxExtent {
			break
		}
	}
	return n
}

// read reads records of one pack that lie near each other. It forgets those that are gone
// or damaged.
func (s *Store) read(ctx context.Context, found []place, some []int, records []store.Record) error {
	first, last := found[some[0]], found[some[len(some)-1]]
	ctx, cancel := s.bounded(ctx, last.at+last.n-first.at)
	defer cancel()
	b, err := s.bytes(ctx, first.pack, first.at, last.at+last.n, bytesOf(found, some))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, objectstore.ErrChanged) && !errors.Is(err, errDamaged) {
		return err
	}
	for _, i := range some {
		p := found[i]
		rerr := err
		if rerr == nil {
			records[i], rerr = p.record(b[p.at-first.at : p.at-first.at+p.n])
		}
		if rerr != nil {
			s.lose(p, rerr)
		}
	}
	return nil
}

func bytesOf(found []place, some []int) (n int64) {
	for _, i := range some {
		n += found[i].n
	}
	return n
}

// lose forgets a record that cannot be read.
func (s *Store) lose(p place, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places[p.key] == p {
		delete(s.places, p.key)
	}
	if !p.lost {
		p.lost = true
		s.o.Logger.Warn("bucket: records cannot be read; they are computed again", "bucket", s.shown, "pack", p.name, "key", p.key, "error", err)
	}
}

// blocks caches the blocks of packs that were read last, so that a pass over many records
// sends few requests.
type blocks struct {
	mu  sync.Mutex
	all []*block // the last one was used last
}

const (
	blockSize = 4 << 20
	maxBlocks = 8
	dense     = blockSize / 16 // wanted bytes from which a request fetches whole blocks
)

type block struct {
	pack *pack
	at   int64
	read func() ([]byte, error)
}

// bytes returns the bytes [from, to) of a pack, of which the caller wants some. It fetches
// whole blocks if these are likely to be wanted soon.
func (s *Store) bytes(ctx context.Context, p *pack, from, to, wanted int64) ([]byte, error) {
	c := &s.blocks
	f, err := s.file(p)
	if err != nil {
		return nil, err
	}
	if f.Size < to {
		return nil, errDamaged
	}
	if to-from > maxExtent || wanted < dense && !c.has(p, from, to) {
		b := make([]byte, to-from)
		return b, f.ReadAt(ctx, b, from)
	}
	b := make([]byte, 0, to-from)
	for at := from - from%blockSize; at < to; at += blockSize {
		all, err := s.block(ctx, f, p, at).read()
		if err != nil {
			c.drop(p, at)
			return nil, err
		}
		b = append(b, all[max(from-at, 0):min(to-at, int64(len(all)))]...)
	}
	return b, nil
}

// has reports whether the bytes [from, to) of a pack are in blocks.
func (c *blocks) has(p *pack, from, to int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := from - from%blockSize; at < to; at += blockSize {
		if !slices.ContainsFunc(c.all, func(b *block) bool { return b.pack == p && b.at == at }) {
			return false
		}
	}
	return true
}

// block returns a block, and removes the one that was not used for longest.
func (s *Store) block(ctx context.Context, f *objectstore.File, p *pack, at int64) *block {
	c := &s.blocks
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.all, func(b *block) bool { return b.pack == p && b.at == at })
	if i < 0 {
		c.all = append(c.all, &block{p, at, sync.OnceValues(func() ([]byte, error) {
			ctx, cancel := s.bounded(context.WithoutCancel(ctx), blockSize) // others may wait for it, too
			defer cancel()
			b := make([]byte, min(blockSize, f.Size-at))
			return b, f.ReadAt(ctx, b, at)
		})})
		c.all = c.all[max(0, len(c.all)-maxBlocks):]
		return c.all[len(c.all)-1]
	}
	b := c.all[i]
	c.all = append(slices.Delete(c.all, i, i+1), b)
	return b
}

func (c *blocks) drop(p *pack, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(c.all, func(b *block) bool { return b.pack == p && b.at == at })
}

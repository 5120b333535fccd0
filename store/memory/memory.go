// Package memory implements a store in memory, for tests and for programs that cannot use a
// directory.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/internal/lease"
)

// defaultMaxBytes is the default of Options.MaxBytes.
const defaultMaxBytes = 256 << 20

// overhead is charged for each record in addition to its payload and provenance.
const overhead = 256

// Options are the settings of a Store.
type Options struct {
	// MaxBytes caps the bytes stored: 0 means 256 MiB, below 0 means no cap.
	MaxBytes int64
}

// A Store stores records in memory. Use New to create one.
type Store struct {
	limit  int64
	leases lease.Table

	mu        sync.Mutex
	records   map[key.Key]*entry
	manifests map[string]store.Manifest
	bytes     int64
	turn      uint64 // counts uses, which orders them
}

type entry struct {
	store.Record
	used time.Time
	turn uint64
}

func (e *entry) size() int64 { return overhead + int64(len(e.Payload)+len(e.Provenance)) }

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(o Options) *Store {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	return &Store{
		limit:     max(o.MaxBytes, 0),
		records:   make(map[key.Key]*entry),
		manifests: make(map[string]store.Manifest),
	}
}

// GetWithoutRefresh is Get, because the store has no other users.
func (s *Store) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	return s.Get(ctx, k)
}

// Get returns the record stored under k.
func (s *Store) Get(_ context.Context, k key.Key) (store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.get(k)
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	return r, nil
}

// GetMany returns the records stored under keys.
func (s *Store) GetMany(_ context.Context, keys []key.Key) ([]store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	records := make([]store.Record, len(keys))
	for i, k := range keys {
		records[i], _ = s.get(k)
	}
	return records, nil
}

func (s *Store) get(k key.Key) (r store.Record, ok bool) {
	e, ok := s.records[k]
	if !ok {
		return r, false
	}
	s.use(e)
	r = e.Record
	r.Provenance = nil
	return r, true
}

func (s *Store) use(e *entry) {
	s.turn++
	e.turn, e.used = s.turn, time.Now()
}

// Has reports whether a record is stored under k.
func (s *Store) Has(_ context.Context, k key.Key) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.records[k]
	return ok, nil
}

// Provenance returns the provenance of the record under k.
func (s *Store) Provenance(_ context.Context, k key.Key) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.records[k]
	if !ok {
		return nil, store.ErrNotFound
	}
	return e.Provenance, nil
}

// Put stores copies of records. A record larger than the cap is an error: store.ErrFull.
func (s *Store) Put(_ context.Context, records ...store.Record) error {
	for _, r := range records {
		if err := s.put(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) put(r store.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Created.IsZero() {
		r.Created = time.Now()
	}
	r.Mapped = false
	r.Payload = bytes.Clone(r.Payload)
	r.Provenance = bytes.Clone(r.Provenance)
	e := &entry{Record: r}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit > 0 && e.size() > s.limit {
		return fmt.Errorf("memory: record %s of %d bytes exceeds the limit of %d: %w", r.Key, e.size(), s.limit, store.ErrFull)
	}
	s.drop(r.Key)
	s.use(e)
	s.records[r.Key] = e
	s.bytes += e.size()
	if s.limit > 0 && s.bytes > s.limit {
		s.evict(s.limit - s.limit/10)
	}
	return nil
}

func (s *Store) drop(k key.Key) {
	if e, ok := s.records[k]; ok {
		s.bytes -= e.size()
		delete(s.records, k)
	}
}

// Delete deletes the records under keys.
func (s *Store) Delete(_ context.Context, keys ...key.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		s.drop(k)
	}
	return nil
}

// Records yields the records stored when the iteration began.
func (s *Store) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for _, info := range s.infos() {
			if err := ctx.Err(); err != nil {
				yield(store.Info{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Store) infos() []store.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	pinned := s.pinned()
	infos := make([]store.Info, 0, len(s.records))
	for k, e := range s.records {
		info := e.info()
		info.Pinned = pinned[k]
		infos = append(infos, info)
	}
	return infos
}

// info describes e, which may be pinned.
func (e *entry) info() store.Info {
	return store.Info{
		Key: e.Key, Link: e.Link, Type: e.Type, Size: int64(len(e.Payload)),
		Cost: e.Cost, Created: e.Created, Used: e.used,
	}
}

// pinned returns the keys that pinned manifests name, and those that they link to.
func (s *Store) pinned() map[key.Key]bool {
	pinned := make(map[key.Key]bool)
	for _, m := range s.manifests {
		if !m.Pinned {
			continue
		}
		for _, k := range m.Keys {
			for !k.IsZero() && !pinned[k] {
				pinned[k] = true
				if e, ok := s.records[k]; ok {
					k = e.Link
				}
			}
		}
	}
	return pinned
}

// Lease leases k within this process.
func (s *Store) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	return s.leases.Acquire(ctx, k)
}

// TryLease leases those of the keys that are free in this process.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	leased, release = s.leases.TryAcquire(keys)
	return leased, release, nil
}

// PutManifest stores a copy of m.
func (s *Store) PutManifest(_ context.Context, m store.Manifest) error {
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	m.Note = bytes.Clone(m.Note)
	m.Keys = slices.Clone(m.Keys)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifests[m.Name] = m
	return nil
}

// Manifest returns the manifest stored under name.
func (s *Store) Manifest(_ context.Context, name string) (store.Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.manifests[name]
	if !ok {
		return store.Manifest{}, store.ErrNotFound
	}
	m.Keys = slices.Clone(m.Keys)
	return m, nil
}

// Manifests yields the manifests stored when the iteration began.
func (s *Store) Manifests(ctx context.Context) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		s.mu.Lock()
		all := slices.Collect(maps.Values(s.manifests))
		s.mu.Unlock()
		for _, m := range all {
			if err := ctx.Err(); err != nil {
				yield(store.Manifest{}, err)
				return
			}
			m.Keys = nil
			if !yield(m, nil) {
				return
			}
		}
	}
}

// DeleteManifest deletes a manifest.
func (s *Store) DeleteManifest(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.manifests, name)
	return nil
}

// Usage returns how much is stored. Manifests are not counted.
func (s *Store) Usage(context.Context) (store.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Usage{Records: int64(len(s.records)), Bytes: s.bytes, Limit: s.limit}, nil
}

// Collect evicts down to limit bytes.
func (s *Store) Collect(_ context.Context, limit int64) (freed int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.bytes
	s.evict(limit)
	return before - s.bytes, nil
}

func (s *Store) evict(limit int64) {
	pinned := s.pinned()
	now := time.Now()
	least := slices.SortedFunc(maps.Values(s.records), func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.info().EvictionPriority(now), b.info().EvictionPriority(now)), cmp.Compare(a.turn, b.turn))
	})
	for _, e := range least {
		if s.bytes <= limit {
			return
		}
		if !pinned[e.Key] {
			s.drop(e.Key)
		}
	}
}

// Close does nothing.
func (s *Store) Close() error { return nil }

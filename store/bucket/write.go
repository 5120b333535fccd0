package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/store"
)

// Put adds records to a pack. It writes the pack once it is large enough; otherwise the
// pack is written after [Options.Delay]. Records that the bucket has are skipped.
func (s *Store) Put(ctx context.Context, records ...store.Record) error {
	for _, r := range records {
		if err := r.Check(); err != nil {
			return err
		}
	}
	return s.add(ctx, records)
}

// Delete adds to a pack that keys are deleted.
func (s *Store) Delete(ctx context.Context, keys ...key.Key) error {
	records := make([]store.Record, 0, len(keys))
	s.mu.Lock()
	for _, k := range keys {
		if s.places[k].n > 0 {
			records = append(records, store.Record{Key: k, Link: k})
		}
	}
	s.mu.Unlock()
	return s.add(ctx, records)
}

// add adds records to the open pack. Links to themselves mark deleted keys.
func (s *Store) add(ctx context.Context, records []store.Record) error {
	if s.o.ReadOnly {
		return fmt.Errorf("bucket: %s is used read-only: %w", s.shown, store.ErrReadOnly)
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	for i := range records {
		if err := s.write(ctx, s.collect(&records[i])); err != nil {
			return err
		}
	}
	return nil
}

// collect adds a record to the open pack, and returns a pack that is large enough to be
// written.
func (s *Store) collect(r *store.Record) (full *pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Created.IsZero() {
		r.Created = time.Now()
	}
	was, ok := s.places[r.Key]
	put := max(time.Now().UnixNano(), was.put+1)
	size := int64(recordSize + len(r.Provenance) + len(r.Payload))
	if s.open != nil && int64(len(s.open.content))+size > s.o.PackBytes {
		full = s.seal()
	}
	if s.open == nil {
		s.open = &pack{name: rand.Text()}
		s.timer = time.AfterFunc(s.o.Delay, s.writeOpen)
	}
	e := entry{key: r.Key, put: put}
	if r.Link != r.Key {
		s.open.content, e = appendRecord(s.open.content, r, put)
	}
	if ok && was.sum == e.sum {
		s.open.content = s.open.content[:s.open.bytes]
		return full
	}
	s.open.entries = append(s.open.entries, e)
	s.open.bytes = int64(len(s.open.content))
	s.places[r.Key] = place{e, s.open}
	return full
}

// seal returns the open pack, which gets no further records; nil if there is none. The
// caller holds the lock.
func (s *Store) seal() *pack {
	p := s.open
	if p != nil {
		s.open = nil
		s.timer.Stop()
		s.writing.Add(1)
	}
	return p
}

func (s *Store) writeOpen() {
	s.mu.Lock()
	p := s.seal()
	s.mu.Unlock()
	_ = s.write(s.life, p) // was logged
}

// write stores a pack and then its index. After an error, its records are not in the bucket.
func (s *Store) write(ctx context.Context, p *pack) error {
	if p == nil {
		return nil
	}
	defer s.writing.Done()
	if len(p.entries) == 0 { // the bucket had all
		return nil
	}
	err := s.rests()
	if err == nil && p.bytes > 0 {
		err = s.put(ctx, "packs", p.name, p.content)
	}
	if err == nil {
		err = s.put(ctx, "index", p.name, encodeIndex(s.o.Secret, p.bytes, p.entries))
	}
	s.mu.Lock()
	for i := range p.entries {
		if k := p.entries[i].key; err != nil && s.places[k].pack == p {
			delete(s.places, k)
		}
	}
	s.known[p.name] = err == nil
	p.entries, p.content = nil, nil
	s.mu.Unlock()
	return s.failed(ctx, err)
}

// put creates an object.
func (s *Store) put(ctx context.Context, directory, name string, b []byte) error {
	ctx, cancel := s.bounded(ctx, int64(len(b)))
	defer cancel()
	sum := sha256.Sum256(b)
	return objectstore.Put(ctx, s.o.URL+"/"+directory+"/"+name, objectstore.Content{Body: bytes.NewReader(b), Size: int64(len(b)), Sum: hex.EncodeToString(sum[:])}, nil)
}

// file returns the object of a stored pack.
func (s *Store) file(p *pack) (*objectstore.File, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.file != nil {
		return p.file, nil
	}
	ctx, cancel := s.bounded(s.life, 0)
	defer cancel()
	f, err := objectstore.Open(ctx, s.o.URL+"/packs/"+p.name)
	if err == nil {
		p.file = f
	}
	return f, err
}

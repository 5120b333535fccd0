package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Put keeps r. Other processes find it as soon as Put returns. Provenance is
// limited to 16 MiB.
func (s *Store) Put(ctx context.Context, r store.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	if len(r.Provenance) > maxProvenance {
		return fmt.Errorf("store: record %s: provenance of %d bytes is over %d", r.Key, len(r.Provenance), maxProvenance)
	}
	if err := s.writable(); err != nil {
		return err
	}
	if r.Created.IsZero() {
		r.Created = time.Now()
	}
	h := header{key: r.Key, typ: r.Type, cost: int64(r.Cost), created: r.Created.UnixNano()}
	grown, err := s.append(&h, &r)
	if err != nil {
		return fmt.Errorf("store: put %s: %w", r.Key, err)
	}
	s.makeRoom(ctx, grown)
	return nil
}

// append writes r, and returns by how many bytes the folder grew.
func (s *Store) append(h *header, r *store.Record) (grown int64, err error) {
	switch {
	case int64(len(r.Payload)) >= s.blobBytes:
		return s.appendBlob(h, r)
	case !r.Link.IsZero():
		h.kind, h.ref = kindLink, r.Link
	}
	err = s.writer.put(h, r.Payload, r.Provenance)
	return h.length(), err
}

// appendBlob writes the payload of r as a blob and then a record that names
// it. Collect may have removed the blob in between, if it was an old one that
// nothing referred to: then it is written once more.
func (s *Store) appendBlob(h *header, r *store.Record) (grown int64, err error) {
	h.kind, h.size = kindBlob, uint64(len(r.Payload))
	grown, err = s.writeBlob(h, r.Payload)
	if err != nil {
		return 0, err
	}
	if err := s.writer.put(h, nil, r.Provenance); err != nil {
		return grown, err
	}
	again, err := s.writeMissingBlob(h, r.Payload)
	return grown + again + h.length(), err
}

// Delete forgets the records under keys: a record that says so is appended.
func (s *Store) Delete(_ context.Context, keys ...key.Key) error {
	if err := s.writable(); err != nil {
		return err
	}
	s.refresh()
	for _, k := range keys {
		if _, _, ok := s.index.find(fingerprint(k)); !ok {
			continue
		}
		h := header{kind: kindTombstone, key: k}
		if err := s.writer.put(&h, nil, nil); err != nil {
			return fmt.Errorf("store: delete %s: %w", k, err)
		}
		s.room.held.Add(h.length())
	}
	return nil
}

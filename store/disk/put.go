package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Put keeps records. Other processes find them as soon as Put returns.
// Provenance is limited to 16 MiB.
func (s *Store) Put(ctx context.Context, records ...store.Record) error {
	for i := range records {
		r := &records[i]
		if err := r.Check(); err != nil {
			return err
		}
		if len(r.Provenance) > maxProvenance {
			return fmt.Errorf("store: record %s: provenance of %d bytes is over %d", r.Key, len(r.Provenance), maxProvenance)
		}
	}
	if err := s.writable(); err != nil {
		return err
	}
	var grown int64
	for i := range records {
		n, err := s.append(&records[i])
		grown += n
		if err != nil {
			s.room.held.Add(grown)
			return fmt.Errorf("store: put %s: %w", records[i].Key, err)
		}
	}
	if err := s.writer.sync(); err != nil {
		return fmt.Errorf("store: put: %w", asStoreError(err))
	}
	s.makeRoom(ctx, grown)
	return nil
}

// append writes r, and returns by how many bytes the folder grew.
func (s *Store) append(r *store.Record) (grown int64, err error) {
	created := r.Created
	if created.IsZero() {
		created = time.Now()
	}
	h := header{key: r.Key, typ: r.Type, cost: int64(r.Cost), created: created.UnixNano()}
	switch {
	case int64(len(r.Payload)) >= s.blobBytes:
		return s.appendBlob(&h, r)
	case !r.Link.IsZero():
		h.kind, h.ref = kindLink, r.Link
	}
	if err := s.writer.put(&h, r.Payload, r.Provenance); err != nil {
		return 0, err
	}
	return h.length(), nil
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
	return asStoreError(s.writer.sync())
}

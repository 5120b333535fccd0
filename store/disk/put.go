package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// Put stores records. Other processes find them as soon as Put returns. Provenance is
// limited to 16 MiB. Many small records take a fraction of the space and less time if one
// call puts them next to each other, above all if each provenance resembles the one before.
func (s *Store) Put(ctx context.Context, records ...store.Record) error {
	for i := range records {
		r := &records[i]
		if err := r.Check(); err != nil {
			return err
		}
		if len(r.Provenance) > format.MaxProvenance {
			return fmt.Errorf("store: record %s: provenance of %d bytes exceeds %d", r.Key, len(r.Provenance), format.MaxProvenance)
		}
	}
	if err := s.writable(); err != nil {
		return err
	}
	now := time.Now()
	leave := s.enter(ctx, sizeOf(records))
	var grown int64
	defer func() { leave(grown) }()
	for rest := records; len(rest) > 0; {
		n, more, err := s.appendFirst(rest, now)
		grown += more
		if err != nil {
			return fmt.Errorf("store: put %s: %w", rest[0].Key, err)
		}
		rest = rest[n:]
	}
	if err := s.writer.sync(); err != nil {
		return fmt.Errorf("store: put: %w", vfs.StoreError(err))
	}
	return nil
}

// sizeOf returns an upper estimate of the size of records in bytes.
func sizeOf(records []store.Record) (bytes int64) {
	for i := range records {
		bytes += int64(len(records[i].Payload)+len(records[i].Provenance)) + format.HeaderSize
	}
	return bytes
}

// appendFirst writes the first record, or several similar ones. It returns how many, and by
// how many bytes the directory grew.
func (s *Store) appendFirst(records []store.Record, now time.Time) (n int, grown int64, err error) {
	for n < len(records) && int64(len(records[n].Payload)) < s.blobBytes {
		n++
	}
	switch n {
	case 0:
		h := headerOf(&records[0], now)
		grown, err = s.appendBlob(&h, &records[0])
		return 1, grown, err
	case 1: // it cannot be in a group
		h := headerOf(&records[0], now)
		if err := s.writer.put(&h, records[0].Payload, records[0].Provenance); err != nil {
			return 0, 0, err
		}
		return 1, h.Length(), nil
	}
	grown, err = s.writer.putAll(n, func(i int) (format.Header, []byte, []byte) {
		return headerOf(&records[i], now), records[i].Payload, records[i].Provenance
	})
	return n, grown, err
}

// headerOf returns the header of a record that is not a blob, without the fields that the
// writer fills in. A record without a creation time gets the current time.
func headerOf(r *store.Record, now time.Time) format.Header {
	if !r.Created.IsZero() {
		now = r.Created
	}
	h := format.Header{Key: r.Key, Type: r.Type, Cost: int64(r.Cost), Created: now.UnixNano()}
	if !r.Link.IsZero() {
		h.Kind, h.Ref = format.KindLink, r.Link
	}
	return h
}

// appendBlob writes the payload of r as a blob and then a record that names it. Collect may
// have removed the blob in between, if it was an old one without references: then
// appendBlob writes it again.
func (s *Store) appendBlob(h *format.Header, r *store.Record) (grown int64, err error) {
	h.Kind, h.Size = format.KindBlob, uint64(len(r.Payload))
	grown, err = s.writeBlob(h, r.Payload)
	if err != nil {
		return 0, err
	}
	if err := s.writer.put(h, nil, r.Provenance); err != nil {
		return grown, err
	}
	again, err := s.writeMissingBlob(h, r.Payload)
	return grown + again + h.Length(), err
}

// Delete deletes the records under keys by appending tombstones.
func (s *Store) Delete(_ context.Context, keys ...key.Key) error {
	if err := s.writable(); err != nil {
		return err
	}
	s.refresh()
	known := make([]key.Key, 0, len(keys))
	for _, k := range keys {
		if _, _, ok := s.index.find(format.Fingerprint(k)); ok {
			known = append(known, k)
		}
	}
	grown, err := s.writer.putAll(len(known), func(i int) (format.Header, []byte, []byte) {
		return format.Header{Kind: format.KindTombstone, Key: known[i]}, nil, nil
	})
	s.space.held.Add(grown)
	if err != nil {
		return fmt.Errorf("store: delete: %w", err)
	}
	return vfs.StoreError(s.writer.sync())
}

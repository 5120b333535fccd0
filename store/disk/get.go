package disk

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
)

// Get returns the record stored under k. A large payload is mapped memory.
func (s *Store) Get(_ context.Context, k key.Key) (store.Record, error) {
	return s.get(k, true)
}

// GetWithoutRefresh is Get without a check for what other processes just wrote.
func (s *Store) GetWithoutRefresh(_ context.Context, k key.Key) (store.Record, error) {
	return s.get(k, false)
}

func (s *Store) get(k key.Key, refresh bool) (store.Record, error) {
	var r store.Record
	err := s.find(k, refresh, func(p *pack, at format.Place) (err error) {
		r, err = s.read(k, p, at)
		return err
	})
	return r, err
}

// Has reports whether a record is stored under k, by the header of the record or its group.
func (s *Store) Has(_ context.Context, k key.Key) (bool, error) {
	err := s.find(k, true, func(p *pack, at format.Place) error {
		var h format.Header
		if err := format.Describe(&h, &p.Pack, format.Fingerprint(k), at); err != nil {
			return err
		}
		return sameKey(&h, k)
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Provenance returns the provenance stored with the record under k.
func (s *Store) Provenance(_ context.Context, k key.Key) (provenance []byte, err error) {
	err = s.find(k, true, func(p *pack, at format.Place) error {
		provenance, err = readProvenance(k, p, at)
		return err
	})
	return provenance, err
}

// readProvenance reads the provenance of the record of k at the position at.
func readProvenance(k key.Key, p *pack, at format.Place) ([]byte, error) {
	g := format.BorrowGroup()
	defer g.GiveBack()
	var h format.Header
	i, err := 0, error(nil)
	if at.IsGroup() {
		i, err = g.Get(&h, &p.Pack, format.Fingerprint(k), at)
	} else {
		err = p.Header(&h, at)
	}
	if err == nil {
		err = sameKey(&h, k)
	}
	switch {
	case err != nil:
		return nil, err
	case at.IsGroup():
		return bytes.Clone(g.Provenance(i)), nil
	}
	return p.Provenance(&h, at)
}

// find calls read with the position of the record of k. If that fails and refresh is set,
// it checks what other processes wrote and tries again. It drops a damaged record from the
// index, so that a later one can replace it.
func (s *Store) find(k key.Key, refresh bool, read func(*pack, format.Place) error) error {
	if s.closed.Load() {
		return errClosed
	}
	s.freshen()
	fp := format.Fingerprint(k)
	if s.readFound(fp, read, false) {
		return nil
	}
	if !refresh {
		return store.ErrNotFound
	}
	s.refresh()
	if s.readFound(fp, read, true) {
		return nil
	}
	return store.ErrNotFound
}

// freshen checks what other processes wrote if staleAfter has passed.
func (s *Store) freshen() {
	if time.Now().UnixNano()-s.directory.seen.Load() > int64(staleAfter) {
		s.refresh()
	}
}

// readFound reads the record of fp. A missing blob may belong to a record that another
// process has evicted or is writing. So only the last try logs a warning, and the record
// stays in the index.
func (s *Store) readFound(fp uint64, read func(*pack, format.Place) error, last bool) bool {
	at, p, ok := s.index.find(fp)
	if !ok {
		return false
	}
	err := read(p, at)
	switch {
	case err == nil:
		return true
	case errors.Is(err, format.ErrOtherKey), errors.Is(err, fs.ErrClosed):
		return false
	case errors.Is(err, fs.ErrNotExist):
		if last && s.files.First(err.Error()) {
			s.files.Log.Warn("store: a record is without its blob", "pack", p.path, "error", err)
		}
		return false
	case unread(err):
		s.files.Report(p.path, "cannot read a record", err)
		return false
	}
	s.files.SetAsideBytes(p.file, p.ID, at.Offset(), at.Offset()+int64(at.ReadSize()), err)
	s.index.forget(fp, at)
	return false
}

// unread reports whether err is an error of the medium: the record may be readable later.
func unread(err error) bool {
	return err != nil && !errors.Is(err, format.ErrDamaged) && !errors.Is(err, format.ErrOtherKey) &&
		!errors.Is(err, fs.ErrClosed) && !errors.Is(err, fs.ErrNotExist)
}

func sameKey(h *format.Header, k key.Key) error {
	if h.Key != k {
		return format.ErrOtherKey
	}
	return nil
}

// read returns the verified record at the position at.
func (s *Store) read(k key.Key, p *pack, at format.Place) (store.Record, error) {
	if at.IsGroup() {
		return s.readMember(k, p, at)
	}
	var h format.Header
	payload, err := p.Read(&h, at)
	if err != nil {
		return store.Record{}, err
	}
	return s.record(k, &h, payload)
}

// readMember returns the verified record of k in the group at the position at.
func (s *Store) readMember(k key.Key, p *pack, at format.Place) (store.Record, error) {
	g := format.BorrowGroup()
	defer g.GiveBack()
	var h format.Header
	i, err := g.Get(&h, &p.Pack, format.Fingerprint(k), at)
	if err != nil {
		return store.Record{}, err
	}
	return s.record(k, &h, bytes.Clone(g.Payload(i)))
}

// record checks and returns the record with header h, requested under k. It retains
// payload.
func (s *Store) record(k key.Key, h *format.Header, payload []byte) (store.Record, error) {
	if err := sameKey(h, k); err != nil {
		return store.Record{}, err
	}
	r := store.Record{
		Key: h.Key, Type: h.Type, Cost: time.Duration(h.Cost), Created: time.Unix(0, h.Created),
	}
	switch h.Kind {
	case format.KindInline:
		r.Payload = payload
		if err := h.Verify(r.Payload); err != nil {
			return store.Record{}, err
		}
	case format.KindMember: // its group is verified
		r.Payload = payload
	case format.KindLink:
		r.Link = h.Ref
	case format.KindBlob:
		var err error
		r.Payload, r.Mapped, err = s.readBlob(h)
		if err != nil {
			return store.Record{}, err
		}
	}
	s.touches.note(s, format.Fingerprint(k), h.Stamp)
	return r, nil
}

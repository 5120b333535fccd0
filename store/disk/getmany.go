package disk

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
)

const (
	// passBytes is the size of one read of a pack, unless a record is longer.
	passBytes = 256 << 10
	// passGap is the largest gap between requested records that one read spans: about as
	// many bytes as are copied in the time of a system call.
	passGap = 8 << 10
)

// A wanted record is one of many requested ones.
type wanted struct {
	i    int // in the list of keys
	fp   uint64
	at   format.Place
	pack *pack // nil: not found
}

// GetMany returns the records stored under keys. It checks once what other processes wrote,
// reads each pack once and in order, and reads neighbouring records together.
func (s *Store) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	s.freshen()
	records := make([]store.Record, len(keys))
	all := make([]wanted, len(keys))
	for i, k := range keys {
		all[i] = wanted{i: i, fp: format.Fingerprint(k)}
	}
	before := s.Changes(false)
	missing, err := s.pass(ctx, keys, records, all)
	if err != nil || len(missing) == 0 {
		return records, err
	}
	if s.Changes(true) != before {
		missing, err = s.pass(ctx, keys, records, missing)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range missing { // reports damage as Get does
		if w.pack == nil {
			continue
		}
		s.readFound(w.fp, func(p *pack, at format.Place) (err error) {
			records[w.i], err = s.read(keys[w.i], p, at)
			return err
		}, true)
	}
	return records, nil
}

// Changes returns how often records became known to this process. With look it first checks
// what others wrote.
func (s *Store) Changes(look bool) uint64 {
	if look {
		s.refresh()
	}
	return s.index.news.Load()
}

// pass reads the wanted records that exist, and returns the others.
func (s *Store) pass(ctx context.Context, keys []key.Key, records []store.Record, all []wanted) (missing []wanted, err error) {
	found, missing := s.index.findAll(all)
	buf := passes.Get().(*[]byte)
	defer passes.Put(buf)
	g := format.BorrowGroup()
	defer g.GiveBack()
	var small chunk
	var h format.Header
	slices.SortFunc(found, func(a, b wanted) int {
		return cmp.Or(cmp.Compare(a.at.Pack, b.at.Pack), cmp.Compare(a.at.Off, b.at.Off), cmp.Compare(a.i, b.i))
	})
	for len(found) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, size := together(found)
		if size > len(*buf) {
			*buf = make([]byte, max(size, passBytes))
		}
		from := found[0].at.Offset()
		read, _ := found[0].pack.file.ReadAt((*buf)[:size], from) // records not read are missing
		for _, w := range found[:n] {
			at := int(w.at.Offset() - from)
			payload, ok := []byte(nil), at+w.at.ReadSize() <= read
			if ok {
				payload, ok = w.open(&h, g, (*buf)[at:at+w.at.ReadSize()])
			}
			if ok {
				records[w.i], err = s.record(keys[w.i], &h, small.clone(payload))
				ok = err == nil
			}
			if !ok {
				missing = append(missing, w)
			}
		}
		g.Forget() // it aliases the buffer
		found = found[n:]
	}
	return missing, nil
}

// open returns the header and the payload of the record in b, or in the group in b. It
// opens each group once.
func (w *wanted) open(h *format.Header, g *format.Group, b []byte) (payload []byte, ok bool) {
	if !w.at.IsGroup() {
		return b[format.HeaderSize:], w.pack.Check(h, w.at, b) == nil
	}
	if g.Take(&w.pack.Pack, w.at, b) != nil {
		return nil, false
	}
	i, err := g.Get(h, &w.pack.Pack, w.fp, w.at)
	if err != nil {
		return nil, false
	}
	return g.Payload(i), true
}

// passes holds buffers of passBytes, or more if a record was longer.
var passes = sync.Pool{New: func() any { return new([]byte) }}

// A chunk is one allocation for many small payloads. It is small, because each payload
// retains all of it.
type chunk []byte

const chunkBytes = 4 << 10

func (c *chunk) clone(b []byte) []byte {
	if len(b) > chunkBytes/8 {
		return bytes.Clone(b)
	}
	if len(*c) < len(b) {
		*c = make([]byte, chunkBytes)
	}
	to := (*c)[:len(b):len(b)]
	*c = (*c)[len(b):]
	copy(to, b)
	return to
}

// together returns how many of the records, ordered by position, one read covers, and its
// size in bytes.
func together(found []wanted) (n, size int) {
	first := found[0]
	for n < len(found) && found[n].pack == first.pack {
		end := int(found[n].at.Offset()-first.at.Offset()) + found[n].at.ReadSize()
		gap := int(found[n].at.Offset()-first.at.Offset()) - size
		if n > 0 && (gap > passGap || end > passBytes) {
			break
		}
		n, size = n+1, max(size, end)
	}
	return n, size
}

// findAll looks up records and divides all into those found and those missing.
func (x *index) findAll(all []wanted) (found, missing []wanted) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := 0
	for i := range all {
		w := &all[i]
		at, ok := x.lookup(w.fp)
		if ok && !at.IsTombstone() && x.packs[at.Pack] != nil {
			w.at, w.pack = at, x.packs[at.Pack]
			all[i], all[n] = all[n], all[i]
			n++
		}
	}
	return all[:n:n], all[n:]
}

package larder

import (
	"context"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Files returns a memo of file digests in the store. It finds a digest by size, times
// and position on the device, so an unchanged file is not read again.
func (l *Larder) Files() key.Memo { return fileMemo{l} }

type fileMemo struct{ l *Larder }

var fileOp = func() *key.Op {
	op, err := key.NewOp("file digest", key.Version("1"))
	if err != nil {
		panic(err) // no parameter can be wrong
	}
	return op
}()

func (m fileMemo) key(s key.FileStat) (key.Key, bool) {
	a, err := fileOp.Call(s)
	if err != nil {
		return key.Key{}, false
	}
	return a.Key(), true
}

// Load returns the digest of the file that had the given status.
func (m fileMemo) Load(s key.FileStat) (d key.Digest, ok bool) {
	k, ok := m.key(s)
	if !ok {
		return d, false
	}
	if m.l.memory != nil {
		if e, ok := m.l.memory.Get(k); ok && e.typ == records.FileDigest {
			return e.value.(key.Digest), true
		}
	}
	r, err := m.l.local.Get(context.Background(), k)
	if err != nil || r.Type != records.FileDigest || len(r.Payload) != key.Size {
		return d, false
	}
	d = key.Digest(r.Payload)
	m.remember(k, d)
	return d, true
}

// Store stores the digest of a file.
func (m fileMemo) Store(s key.FileStat, d key.Digest) {
	k, ok := m.key(s)
	if !ok {
		return
	}
	m.remember(k, d)
	m.l.put(context.Background(), store.Record{Key: k, Type: records.FileDigest, Payload: d[:]})
}

func (m fileMemo) remember(k key.Key, d key.Digest) {
	if m.l.memory != nil {
		m.l.memory.Put(k, &entry{value: d, typ: records.FileDigest}, key.Size+entryOverhead, 0)
	}
}

package dataset

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
)

// NewBytes returns an item given by its encoded bytes, which must not be
// changed afterwards.
func NewBytes(ext string, b []byte) *Item {
	return newBytes(ext, b, nil)
}

// CheckedBytes is [NewBytes] for untrusted bytes. It returns the decoding errors that
// [codec.Check] finds.
func CheckedBytes(ext string, b []byte) (*Item, error) {
	if err := codec.Check(ext, b); err != nil {
		return nil, err
	}
	return NewBytes(ext, b), nil
}

// newBytes is NewBytes with the digest of the bytes, if it is known.
func newBytes(ext string, b []byte, d *key.Digest) *Item {
	it := &bytesItem{}
	return it.set(ext, b, d)
}

// NewEncoded returns a sample with one item under each of the keys, which must all
// differ. The items are given by their encoded bytes, as for [NewBytes]. One call costs
// less than creating the items one by one, and they live as long as the last of them.
func NewEncoded(ext string, keys []string, items [][]byte) Sample {
	buffer := make([]bytesItem, len(keys))
	fields := make([]Field, len(keys))
	for i, k := range keys {
		fields[i] = Field{Key: k, Item: buffer[i].set(ext, items[i], nil)}
	}
	return Sample{fields}
}

// bytesItem stores an item and its origin in one allocation.
type bytesItem struct {
	Item
	of encoded
}

func (it *bytesItem) set(ext string, b []byte, d *key.Digest) *Item {
	it.of.ext, it.of.bytes = ext, b
	if d != nil {
		it.of.digest.known.Store(d)
	}
	it.origin = &it.of
	return &it.Item
}

// encoded is the origin of an item whose bytes are in memory.
type encoded struct {
	ext    string
	bytes  []byte
	digest lazyDigest
}

// A lazyDigest is the digest of immutable bytes, computed on first use because most
// items never need it.
type lazyDigest struct{ known atomic.Pointer[key.Digest] }

func (l *lazyDigest) of(b []byte) key.Digest {
	d := l.known.Load()
	if d == nil {
		d = new(key.Digest)
		*d = key.DigestOf(b)
		l.known.Store(d)
	}
	return *d
}

func (e *encoded) sum() key.Digest { return e.digest.of(e.bytes) }

func (e *encoded) String() string { return fmt.Sprintf("%d bytes of %s", len(e.bytes), e.ext) }

func (e *encoded) Ext(context.Context) (string, error)        { return e.ext, nil }
func (e *encoded) Bytes(context.Context) ([]byte, error)      { return e.bytes, nil }
func (e *encoded) Digest(context.Context) (key.Digest, error) { return e.sum(), nil }
func (e *encoded) Ref(context.Context) (key.Ref, error)       { return key.Content(e.sum()), nil }

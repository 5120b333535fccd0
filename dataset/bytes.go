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

// CheckedBytes is [NewBytes] for bytes that come from outside, with the error of decoding
// them as far as [codec.Check] finds it.
func CheckedBytes(ext string, b []byte) (*Item, error) {
	if err := codec.Check(ext, b); err != nil {
		return nil, err
	}
	return NewBytes(ext, b), nil
}

// newBytes is NewBytes where the digest of the bytes may be known.
func newBytes(ext string, b []byte, d *key.Digest) *Item {
	it := &bytesItem{}
	return it.set(ext, b, d)
}

// NewEncoded returns a sample of items that are given by their encoded bytes, as
// [NewBytes] takes them, one under each of the keys, which must all be different.
// To make them at once costs less than one by one, and they live as long as the last
// of them.
func NewEncoded(ext string, keys []string, items [][]byte) Sample {
	room := make([]bytesItem, len(keys))
	fields := make([]Field, len(keys))
	for i, k := range keys {
		fields[i] = Field{Key: k, Item: room[i].set(ext, items[i], nil)}
	}
	return Sample{fields}
}

// bytesItem is an item beside its origin.
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

// encoded is the origin of an item whose bytes are at hand.
type encoded struct {
	ext    string
	bytes  []byte
	digest lazyDigest
}

// A lazyDigest is that of bytes which do not change. It is made when somebody asks for
// it, as of most items nobody does.
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

package dataset

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/internal/text/display"
)

// A made is the cached result of one execution: the computed items, encoded, and for
// items that were passed on, their origins (package records). It contains no byte that
// the transform did not compute. It stays encoded in memory, as there may be millions.
type made struct{ encoding []byte }

// newMade encodes the result of a transform for in.
func newMade(ctx context.Context, in, out Sample) (*made, error) {
	items := make([]records.Item, 0, out.Len())
	for f := range out.Fields() {
		it := records.Item{Key: f.Key, Shared: f.Shared}
		if i := slices.IndexFunc(in.fields, func(g Field) bool { return g.Item == f.Item }); i >= 0 {
			it.From = in.fields[i].Key
		} else if err := pack(ctx, &it, f.Item); err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
		items = append(items, it)
	}
	return &made{records.Encode(items)}, nil
}

// cachedDigest is the size in bytes from which the digest of an item is stored. Digests of
// smaller items are computed during the lookup.
const cachedDigest = 4 << 10

func pack(ctx context.Context, to *records.Item, it *Item) (err error) {
	if to.Ext, err = it.Ext(ctx); err != nil {
		return err
	}
	if to.Bytes, err = it.Bytes(ctx); err != nil {
		return err
	}
	if uint64(len(to.Bytes)) > records.MaxBytes {
		return fmt.Errorf("%d bytes; at most %d can be cached", len(to.Bytes), int64(records.MaxBytes))
	}
	if len(to.Bytes) >= cachedDigest {
		to.Digest, err = it.Digest(ctx)
	}
	return err
}

// open returns the result of the transform for in.
func (m *made) open(in Sample) (Sample, error) {
	items, err := records.Decode(m.encoding)
	if err != nil {
		return Sample{}, fmt.Errorf("dataset: %w", err)
	}
	out := Sample{make([]Field, 0, len(items))}
	for _, it := range items {
		f := Field{Key: it.Key, Shared: it.Shared}
		switch {
		case it.From != "":
			if f.Item, err = in.Item(it.From); err != nil {
				return Sample{}, err
			}
		case it.Digest.IsZero():
			f.Item = NewBytes(it.Ext, it.Bytes)
		default:
			d := it.Digest
			f.Item = newBytes(it.Ext, it.Bytes, &d)
		}
		out.fields = append(out.fields, f)
	}
	return out, nil
}

// adopt sets the images of an opened result to those of the computed one, so that they are
// not decoded again. It sets only what decoding equal bytes would return.
func (s Sample) adopt(computed Sample) {
	for _, f := range s.fields {
		to, ok := f.Item.origin.(*encoded)
		if !ok {
			continue
		}
		it, err := computed.Item(f.Key)
		if err != nil {
			continue
		}
		from, ok := it.origin.(*memory)
		if !ok || from.ext != to.ext || !bytes.Equal(from.bytes, to.bytes) {
			continue
		}
		if img, ok := from.given.(image.Image); ok && exact(from.ext, img) {
			f.Item.value, f.Item.read = img, true // no other goroutine has the item yet
		}
	}
}

// madeValue encodes results. Items of a decoded result refer to the record, which may be
// mapped memory.
var madeValue = &codec.Value[*made]{
	ID:   records.Format,
	Type: records.Type,
	Encode: func(dst []byte, m *made) ([]byte, error) {
		if len(dst) == 0 {
			return slices.Clip(m.encoding), nil // it may be large and is not changed
		}
		return append(dst, m.encoding...), nil
	},
	Decode: func(b []byte) (*made, error) {
		_, err := records.Decode(b)
		return &made{b}, err
	},
	Aliases: true,
}

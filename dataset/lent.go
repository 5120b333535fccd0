package dataset

import (
	"context"
	"image"
	"sync"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/timing"
)

// Lent returns an image for a time, for who makes something else of it: when done is
// called, other images may be decoded into its memory, so that neither it nor a part of
// it may be looked at any more. It may be read at 1/2, 1/4 or 1/8 of its sides, as long
// as that leaves those of least; if least is zero it is read whole. The size of the
// whole is returned too.
//
// What is lent is not remembered. So what others may read as well is not lent: it is
// [Item.Value], and done does nothing. The same goes for formats of which less than the
// whole is not read sooner. What is read in part depends on the item's bytes and on
// least alone, whoever has read the whole. Done is not nil if err is.
func (it *Item) Lent(ctx context.Context, least image.Point) (v any, whole image.Point, done func(), err error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, whole, nil, err
	}
	c := codecFor(ext)
	if c.Reduce == nil || least == (image.Point{}) && !it.ofOneMaker() {
		v, err = it.Value(ctx)
		if img, ok := v.(image.Image); ok {
			whole = img.Bounds().Size()
		}
		return v, whole, func() {}, err
	}
	b, free, err := it.lentBytes(ctx)
	if err != nil {
		return nil, whole, nil, err
	}
	end, err := takeIn(ctx, claims(c, b))
	if err != nil {
		free()
		return nil, whole, nil, err
	}
	v, whole, giveBack, err := lend(ctx, c, b, least)
	if err != nil {
		end()
		free()
		return nil, whole, nil, notDecoded(ctx, it.origin, err)
	}
	return v, whole, sync.OnceFunc(func() { giveBack(); end(); free() }), nil
}

func lend(ctx context.Context, c codec.Codec, b []byte, least image.Point) (any, image.Point, func(), error) {
	_, leave := timing.Enter(ctx, timing.Decode, c.Name)
	defer leave()
	return c.Lend(b, least)
}

// lentFiles holds memory that files were read into and nobody looks at any more.
var lentFiles = sync.Pool{New: func() any { return new([]byte) }}

// mostLent is from how many bytes on memory does not lie about unused.
const mostLent = 4 << 20

// lentBytes is Bytes until free is called: after that, other files are read into the
// memory.
func (it *Item) lentBytes(ctx context.Context) (b []byte, free func(), err error) {
	f, ok := it.origin.(*FileOrigin)
	if !ok {
		b, err = it.Bytes(ctx)
		return b, func() {}, err
	}
	buf := lentFiles.Get().(*[]byte)
	b, err = f.bytes(ctx, func(n int64) []byte {
		if int64(len(*buf)) < n {
			*buf = make([]byte, n)
		}
		return (*buf)[:n:n]
	})
	free = func() {
		if len(*buf) <= mostLent {
			lentFiles.Put(buf)
		}
	}
	if err != nil {
		free()
	}
	return b, free, err
}

// makers counts those that were given an item to read, up to two, which stands for
// whoever there is.
type makers uint8

const (
	oneMaker makers = 1
	anybody  makers = 2
)

// givenTo notes that a maker was given the item. Last is whether nobody gets it from
// the sample that comes of that.
func (it *Item) givenTo(last bool) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.makers++; !last || it.makers > anybody {
		it.makers = anybody
	}
}

// ofOneMaker reports whether nobody but one maker reads the item, as far as is known,
// and its value is not at hand.
func (it *Item) ofOneMaker() bool {
	if _, ok := it.origin.(valuer); ok {
		return false
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.makers == oneMaker && !it.read && !it.reading && !it.held
}

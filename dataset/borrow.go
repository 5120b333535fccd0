package dataset

import (
	"context"
	"image"
	"sync"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/timing"
)

// Borrow returns a borrowed image, for callers that compute something else from it. After
// done is called, its memory may be reused, and the caller must not read any part of it.
// The image may be decoded at 1/2, 1/4 or 1/8 of its sides, if that is at least the size
// least; with a zero least it is decoded in full. whole is the full size.
//
// A borrowed value does not stay in memory. If other callers may read the item, the
// result is [Item.Value] and done does nothing. The same holds for formats that decode a
// part no faster. The reduction depends only on the item's bytes and on least, even if
// the full value was read. done is not nil if err is nil.
func (it *Item) Borrow(ctx context.Context, least image.Point) (v any, whole image.Point, done func(), err error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, whole, nil, err
	}
	c := codecFor(ext)
	if c.Reduce == nil || least == (image.Point{}) && !it.ofOneTransform() {
		v, err = it.Value(ctx)
		if img, ok := v.(image.Image); ok {
			whole = img.Bounds().Size()
		}
		return v, whole, func() {}, err
	}
	b, free, err := it.borrowBytes(ctx)
	if err != nil {
		return nil, whole, nil, err
	}
	end, err := takeIn(ctx, claims(c, b))
	if err != nil {
		free()
		return nil, whole, nil, err
	}
	v, whole, giveBack, err := borrow(ctx, c, b, least)
	if err == nil {
		warnOfTurned(ctx, b, it.origin)
	}
	if err != nil {
		end()
		free()
		return nil, whole, nil, notDecoded(ctx, it.origin, err)
	}
	return v, whole, sync.OnceFunc(func() { giveBack(); end(); free() }), nil
}

func borrow(ctx context.Context, c codec.Codec, b []byte, least image.Point) (any, image.Point, func(), error) {
	_, leave := timing.Enter(ctx, timing.Decode, c.Name)
	defer leave()
	return c.Borrow(b, least)
}

// borrowedFiles holds unused buffers for the content of files.
var borrowedFiles = sync.Pool{New: func() any { return new([]byte) }}

// maxReusedBuffer is the size in bytes above which an unused buffer is freed.
const maxReusedBuffer = 4 << 20

// borrowBytes is Bytes until free is called, which allows reuse of the memory.
func (it *Item) borrowBytes(ctx context.Context) (b []byte, free func(), err error) {
	f, ok := it.origin.(*FileOrigin)
	if !ok {
		b, err = it.Bytes(ctx)
		return b, func() {}, err
	}
	buf := borrowedFiles.Get().(*[]byte)
	b, err = f.bytes(ctx, func(n int64) []byte {
		if int64(len(*buf)) < n {
			*buf = make([]byte, n)
		}
		return (*buf)[:n:n]
	})
	free = func() {
		if len(*buf) <= maxReusedBuffer {
			borrowedFiles.Put(buf)
		}
	}
	if err != nil {
		free()
	}
	return b, free, err
}

// readers counts the transforms that received an item, up to two, which means any number.
type readers uint8

const (
	oneReader   readers = 1
	manyReaders readers = 2
)

// givenTo notes that a transform received the item. last says that no later transform
// gets it from the resulting sample.
func (it *Item) givenTo(last bool) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.readers++; !last || it.readers > manyReaders {
		it.readers = manyReaders
	}
}

// ofOneTransform reports whether only one transform reads the item, as far as is known, and
// its value is not in memory.
func (it *Item) ofOneTransform() bool {
	if _, ok := it.origin.(valuer); ok {
		return false
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.readers == oneReader && !it.read && !it.reading && !it.retained
}

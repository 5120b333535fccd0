//go:build (linux || darwin || windows) && (amd64 || arm64) && !larder_static

package native

import (
	"image"
	"sync"
	"sync/atomic"
)

// lendable holds memory of images that are no longer used: the system clears fresh memory
// first, which was a fifth of the work on a photograph. It holds as many buffers as were in
// use at a time, and the garbage collector frees them.
var lendable = sync.Pool{New: func() any { return new([]byte) }}

// maxBorrowed is the size from which on memory is not reused.
const maxBorrowed = 32 << 20

// borrow reads into reused memory.
func (t turbo) borrow(b []byte, config image.Config, by int) (image.Image, func(), bool) {
	buf := lendable.Get().(*[]byte)
	img, ok := t.into(b, config, by, func(n int) []byte {
		if len(*buf) < n {
			*buf = unset(n)
		}
		return (*buf)[:n:n]
	})
	if !ok {
		giveBack(buf)
		return nil, nil, false
	}
	var given atomic.Bool
	return img, func() {
		if !given.Swap(true) { // otherwise two images would share it
			taken(img)
			giveBack(buf)
		}
	}, true
}

func giveBack(buf *[]byte) {
	if len(*buf) <= maxBorrowed {
		lendable.Put(buf)
	}
}

// taken removes the pixels of an image, so that later use fails instead of reading another
// image.
func taken(img image.Image) {
	switch img := img.(type) {
	case *image.Gray:
		img.Pix = nil
	case *image.RGBA:
		img.Pix = nil
	}
}

//go:build (amd64 || arm64) && !larder_static

package native

import (
	"image"
	"sync"
	"sync/atomic"
)

// lendable holds memory that images were read into and nobody looks at any more: fresh
// memory is cleared by the system first, which was a fifth of the work on a photograph.
// There are as many as were in use at once, and the garbage collector takes them.
var lendable = sync.Pool{New: func() any { return new([]byte) }}

// mostLent is from how many bytes on memory does not lie about unused.
const mostLent = 32 << 20

// lend reads into memory that was used before.
func (t turbo) lend(b []byte, config image.Config, by int) (image.Image, func(), bool) {
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
		if !given.Swap(true) { // or two images would get it
			taken(img)
			giveBack(buf)
		}
	}, true
}

func giveBack(buf *[]byte) {
	if len(*buf) <= mostLent {
		lendable.Put(buf)
	}
}

// taken leaves an image no pixels, so that who looks at them all the same fails and sees
// no others.
func taken(img image.Image) {
	switch img := img.(type) {
	case *image.Gray:
		img.Pix = nil
	case *image.RGBA:
		img.Pix = nil
	}
}

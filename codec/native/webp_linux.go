//go:build (amd64 || arm64) && !larder_static

package native

import (
	"encoding/binary"
	"image"
	"image/color"
	"regexp"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/larder-data/larder/codec"
)

// webpCodeVersion counts changes here that alter pixels.
const webpCodeVersion = "1"

// noText matches nothing: libwebp contains no version string.
var noText = regexp.MustCompile(`^\z.`)

// webpABI is the version of the webp/decode.h interface used here; libwebp refuses another
// major version.
const webpABI = 0x0209

// libwebp holds the functions of libwebp.
type libwebp struct{ features, decode uintptr }

func openWebP() (codec.Library, error) {
	f, id, err := open("libwebp.so.7", noText, "WebPDecodeRGBAInto", "WebPGetFeaturesInternal")
	if err != nil {
		return codec.Library{}, err
	}
	w := libwebp{decode: f[0], features: f[1]}
	return codec.Library{Format: "webp", ID: "libwebp/" + webpCodeVersion + "/" + id, Decode: w.read}, nil
}

// read reads an image that is not an animation. It has alpha where package codec finds
// some.
func (w libwebp) read(b []byte, config image.Config) (image.Image, bool) {
	var f struct{ width, height, alpha, animation, format, pad1, pad2, pad3, pad4, pad5 int32 }
	r, _, _ := purego.SyscallN(w.features, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&f)), webpABI)
	if int32(r) != 0 || int(f.width) != config.Width || int(f.height) != config.Height || f.animation != 0 {
		return nil, false
	}
	alpha := f.alpha != 0
	if config.ColorModel == color.YCbCrModel && alpha || config.ColorModel == color.NYCbCrAModel && !hasAlphaChunk(b) {
		return nil, false // the headers do not match the data
	}
	img := &image.NRGBA{Pix: unset(4 * config.Width * config.Height), Stride: 4 * config.Width, Rect: image.Rect(0, 0, config.Width, config.Height)}
	r, _, _ = purego.SyscallN(w.decode, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&img.Pix[0])), uintptr(len(img.Pix)), uintptr(img.Stride))
	runtime.KeepAlive(b)
	if r == 0 {
		return nil, false
	}
	if !alpha {
		return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}, true
	}
	return img, true
}

// hasAlphaChunk reports whether a file has alpha data, not only a header that claims it.
func hasAlphaChunk(b []byte) bool {
	const start, head = 12, 8
	for at := start; at+head <= len(b); {
		kind, size := string(b[at:at+4]), int(binary.LittleEndian.Uint32(b[at+4:]))
		if kind == "ALPH" || kind == "VP8L" {
			return true
		}
		at += head + size + size&1
	}
	return false
}

//go:build (linux || darwin || windows) && (amd64 || arm64) && !larder_static

package native

import (
	"bytes"
	"image"
	"image/color"
	"regexp"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/larder-data/larder/codec"
)

// turboVersion counts changes here that alter pixels or bytes.
const turboVersion = "2"

var turboText = regexp.MustCompile(`libjpeg-turbo version ([0-9][0-9.a-z]*)`)

// Constants of turbojpeg.h, versions 2 and 3.
const (
	turboGray      = 6 // TJPF: bytes per pixel
	turboRGBA      = 7
	turboIsRGB     = 0 // TJCS: colour space of the file
	turboIsYCC     = 1
	turboIsGray    = 2
	turboQuarter   = 2     // TJSAMP_420: a quarter of the chroma samples, as image/jpeg writes
	turboGrey      = 3     // TJSAMP_GRAY
	turboGiven     = 1024  // TJFLAG_NOREALLOC: the caller owns the buffer
	turboExact     = 4096  // TJFLAG_ACCURATEDCT
	turboStop      = 8192  // TJFLAG_STOPONWARNING: damage is an error
	turboFewScans  = 32768 // TJFLAG_LIMITSCANS: bounds the time for a small file
	turboMaxOutput = 1 << 31
)

// turbo holds the functions of libturbojpeg.
type turbo struct{ begin, header, decode, end, beginWrite, capacity, encode uintptr }

// openTurbo opens libjpeg-turbo by its TurboJPEG interface, which is the same in versions 2
// and 3.
func openTurbo() (codec.Library, error) {
	f, id, err := open(turboFile, turboText, "tjDecompress2", "tjDecompressHeader3", "tjInitDecompress", "tjDestroy",
		"tjInitCompress", "tjBufSize", "tjCompress2")
	if err != nil {
		return codec.Library{}, err
	}
	t := turbo{decode: f[0], header: f[1], begin: f[2], end: f[3], beginWrite: f[4], capacity: f[5], encode: f[6]}
	return codec.Library{Format: "jpeg", ID: "turbo/" + turboVersion + "/" + id, Decode: t.read, Reduce: t.reduce, Borrow: t.borrow, Encode: t.write}, nil
}

// read reads grey and colour as package codec does, with chroma subsampling that TurboJPEG
// supports.
func (t turbo) read(b []byte, config image.Config) (image.Image, bool) { return t.reduce(b, config, 1) }

// reduce reads at reduced size, with only as many cosines of each block as pixels remain.
func (t turbo) reduce(b []byte, config image.Config, by int) (image.Image, bool) {
	return t.into(b, config, by, unset)
}

// into reads into memory that it requests by size.
func (t turbo) into(b []byte, config image.Config, by int, memory func(n int) []byte) (image.Image, bool) {
	var want int32
	switch config.ColorModel {
	case color.GrayModel:
		want = turboIsGray
	case color.YCbCrModel:
		want = turboIsYCC
	case color.RGBAModel:
		want = turboIsRGB
	default: // inks
		return nil, false
	}
	if 4*config.Width*config.Height >= turboMaxOutput || uint64(len(b)) > uint64(^ulong(0)) {
		return nil, false
	}
	handle, _, _ := purego.SyscallN(t.begin)
	if handle == 0 {
		return nil, false
	}
	defer purego.SyscallN(t.end, handle)
	var got struct{ width, height, chroma, colour int32 }
	r, _, _ := purego.SyscallN(t.header, handle, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		uintptr(unsafe.Pointer(&got.width)), uintptr(unsafe.Pointer(&got.height)), uintptr(unsafe.Pointer(&got.chroma)), uintptr(unsafe.Pointer(&got.colour)))
	if int32(r) != 0 || int(got.width) != config.Width || int(got.height) != config.Height || got.colour != want {
		return nil, false
	}
	var img image.Image
	var pix []byte
	var stride, pixel int
	if bounds := image.Rect(0, 0, (config.Width+by-1)/by, (config.Height+by-1)/by); want == turboIsGray {
		gray := &image.Gray{Pix: memory(bounds.Dx() * bounds.Dy()), Stride: bounds.Dx(), Rect: bounds}
		img, pix, stride, pixel = gray, gray.Pix, gray.Stride, turboGray
	} else {
		rgba := &image.RGBA{Pix: memory(4 * bounds.Dx() * bounds.Dy()), Stride: 4 * bounds.Dx(), Rect: bounds}
		img, pix, stride, pixel = rgba, rgba.Pix, rgba.Stride, turboRGBA
	}
	r, _, _ = purego.SyscallN(t.decode, handle, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&pix[0])),
		uintptr(img.Bounds().Dx()), uintptr(stride), uintptr(img.Bounds().Dy()), uintptr(pixel), turboExact|turboStop|turboFewScans)
	runtime.KeepAlive(b)
	return img, int32(r) == 0
}

// turboMaxSide is the longest side that libjpeg writes.
const turboMaxSide = 65500

// write writes grey and colour, with the tables and chroma subsampling of image/jpeg.
func (t turbo) write(img image.Image, quality int) ([]byte, bool) {
	var pix []byte
	var stride, pixel, chroma int
	size := img.Bounds().Size()
	switch img := img.(type) {
	case *image.Gray:
		pix, stride, pixel, chroma = img.Pix, img.Stride, turboGray, turboGrey
	case *image.RGBA:
		pix, stride, pixel, chroma = img.Pix, img.Stride, turboRGBA, turboQuarter
	}
	if pix == nil || size.X <= 0 || size.Y <= 0 || max(size.X, size.Y) > turboMaxSide {
		return nil, false
	}
	r, _, _ := purego.SyscallN(t.capacity, uintptr(size.X), uintptr(size.Y), uintptr(chroma))
	capacity := ulong(r)
	if capacity == 0 || capacity >= turboMaxOutput {
		return nil, false
	}
	handle, _, _ := purego.SyscallN(t.beginWrite)
	if handle == 0 {
		return nil, false
	}
	defer purego.SyscallN(t.end, handle)
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if len(*buf) < int(capacity) {
		*buf = make([]byte, capacity)
	}
	to := struct {
		buf  unsafe.Pointer
		size ulong // capacity before, bytes written after
	}{unsafe.Pointer(&(*buf)[0]), capacity}
	first, second, third := stacked(chroma, quality, turboExact|turboGiven)
	r, _, _ = purego.SyscallN(t.encode, handle, uintptr(unsafe.Pointer(&pix[0])), uintptr(size.X), uintptr(stride), uintptr(size.Y), uintptr(pixel),
		uintptr(unsafe.Pointer(&to.buf)), uintptr(unsafe.Pointer(&to.size)), first, second, third)
	runtime.KeepAlive(pix)
	if int32(r) != 0 || to.buf != unsafe.Pointer(&(*buf)[0]) || to.size > capacity {
		return nil, false
	}
	return bytes.Clone((*buf)[:to.size]), true
}

// stacked returns the words of three parameters of type int behind the eighth, which are on
// the stack. Apple's arm64 puts two of them into one word.
func stacked(first, second, third int) (uintptr, uintptr, uintptr) {
	if runtime.GOOS == "darwin" && runtime.GOARCH == "arm64" {
		return uintptr(first) | uintptr(second)<<32, uintptr(third), 0
	}
	return uintptr(first), uintptr(second), uintptr(third)
}

// buffers holds output buffers, which are mostly unused.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

package dataset

import (
	"image"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// BytesHeld estimates how many bytes of memory a decoded value takes.
func BytesHeld(v any) int64 {
	const word = 16
	switch v := v.(type) {
	case string:
		return word + int64(len(v))
	case []byte:
		return word + int64(len(v))
	case *array.Array:
		return 64 + int64(len(v.Data))
	case image.Image:
		return 64 + pixelBytes(v)
	case map[string]any:
		n := int64(48)
		for k, e := range v {
			n += 2*word + int64(len(k)) + BytesHeld(e)
		}
		return n
	case []any:
		n := int64(24)
		for _, e := range v {
			n += word + BytesHeld(e)
		}
		return n
	default:
		return 64
	}
}

// pixelBytes returns how many bytes the pixels of an image take.
func pixelBytes(img image.Image) int64 {
	switch img := img.(type) {
	case *image.Gray:
		return int64(cap(img.Pix))
	case *image.Gray16:
		return int64(cap(img.Pix))
	case *array.GrayAlpha:
		return int64(cap(img.Pix))
	case *array.GrayAlpha16:
		return int64(cap(img.Pix))
	case *image.RGBA:
		return int64(cap(img.Pix))
	case *image.NRGBA:
		return int64(cap(img.Pix))
	case *image.RGBA64:
		return int64(cap(img.Pix))
	case *image.NRGBA64:
		return int64(cap(img.Pix))
	case *image.Paletted:
		return int64(cap(img.Pix) + 16*len(img.Palette))
	case *image.YCbCr:
		return int64(cap(img.Y) + cap(img.Cb) + cap(img.Cr))
	}
	b := img.Bounds()
	return 4 * int64(b.Dx()) * int64(b.Dy())
}

// exact reports whether v, encoded under an extension and decoded again, is certain to
// be equal to v. Otherwise the value of an item is the decoded one.
func exact(ext string, v any) bool {
	c := codecFor(ext)
	switch c.Name {
	case "json", "yaml":
		return plain(v)
	case "txt":
		s, ok := v.(string)
		return ok && utf8.ValidString(s)
	case "npy":
		_, ok := v.(*array.Array)
		return ok
	case "png":
		return exactImage(v)
	case codec.Raw.Name:
		_, ok := v.([]byte)
		return ok
	default:
		return false
	}
}

// exactImage reports whether v is an image that PNG restores with its type and every
// byte.
func exactImage(v any) bool {
	switch img := v.(type) {
	case *image.Gray:
		return tight(img.Rect, img.Stride, len(img.Pix), 1)
	case *image.NRGBA:
		return tight(img.Rect, img.Stride, len(img.Pix), 4)
	case *image.RGBA:
		return tight(img.Rect, img.Stride, len(img.Pix), 4) && img.Opaque()
	}
	return false
}

// tight reports whether pixels are laid out as decoders leave them, for an image that
// decoders accept whatever its content.
func tight(r image.Rectangle, stride, bytes, pixel int) bool {
	const most = 1 << 24 // an image with more pixels must show that it can be read back
	w, h := r.Dx(), r.Dy()
	if r.Min != (image.Point{}) || w <= 0 || h <= 0 || w > most/h || stride != pixel*w || bytes != stride*h {
		return false
	}
	limit := codec.MaxPixels.Load()
	return limit == 0 || int64(w*h) <= limit
}

// plain reports whether v consists only of the types that documents decode to.
func plain(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64:
		return true
	case *big.Int:
		return v != nil && !v.IsInt64()
	case string:
		return utf8.ValidString(v)
	case float64:
		return !math.IsInf(v, 0) && !math.IsNaN(v)
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !plain(e) })
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) || !plain(e) {
				return false
			}
		}
		return v != nil
	default:
		return false
	}
}

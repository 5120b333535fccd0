package dataset

import (
	"image"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// held estimates the bytes of memory that a decoded value takes.
func held(v any) int64 {
	const word = 16
	switch v := v.(type) {
	case string:
		return word + int64(len(v))
	case []byte:
		return word + int64(len(v))
	case *array.Array:
		return 64 + int64(len(v.Data))
	case image.Image:
		b := v.Bounds()
		return 64 + 4*int64(b.Dx())*int64(b.Dy())
	case map[string]any:
		n := int64(48)
		for k, e := range v {
			n += 2*word + int64(len(k)) + held(e)
		}
		return n
	case []any:
		n := int64(24)
		for _, e := range v {
			n += word + held(e)
		}
		return n
	default:
		return 64
	}
}

// exact reports whether v, encoded under an extension and decoded again, is
// certain to be v. Where it is not, the value of an item is what comes back.
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
	case codec.Raw.Name:
		_, ok := v.([]byte)
		return ok
	default:
		return false
	}
}

// plain reports whether v is made of the very types that documents decode to.
func plain(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64:
		return true
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

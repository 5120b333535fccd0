package columns

import (
	"math"
	"math/big"
	"sort"

	"github.com/larder-data/larder/array"
)

// isNumber reports whether a kind is a number.
func (k *Kind) isNumber() bool { return k.DType() > array.Bool }

// mergeNumbers returns the kind that holds the values of both, or nil. Numbers in
// documents have no type of their own. They take the type of the array elements in the
// column, if it holds them all.
func (k *Kind) mergeNumbers(other *Kind) *Kind {
	if k.fits == 0 {
		k, other = other, k
	}
	switch {
	case k.fits == 0: // both are of arrays
		if k.Of == other.Of {
			return k
		}
		return nil
	case other.fits == 0:
		if k.fits&(1<<other.DType()) != 0 {
			return other
		}
		return nil
	}
	both := k.fits & other.fits
	switch {
	case k.Of == other.Of:
	case k.Of != "float64" && other.Of != "float64":
		if k = other.wider(k, "uint64"); both&(1<<array.Uint64) == 0 {
			return nil
		}
	case k.Of == "uint64" || other.Of == "uint64":
		return nil
	default:
		k = other.wider(k, "float64")
	}
	k.fits = both
	return k
}

// wider returns the one of two kinds that has the type.
func (k *Kind) wider(other *Kind, of string) *Kind {
	if k.Of == of {
		return k
	}
	return other
}

// holders returns the types that hold a number of a document exactly, as bits.
func holders(v any) (types uint32) {
	add := func(of array.DType, ok bool) {
		if ok {
			types |= 1 << of
		}
	}
	var f float64
	switch v := v.(type) {
	case int64:
		for i, bits := range []int{8, 16, 32, 64} {
			add(array.Int8+array.DType(i), v<<(64-bits)>>(64-bits) == v)
			add(array.Uint8+array.DType(i), v >= 0 && (bits == 64 || v>>bits == 0))
		}
		if f = float64(v); f == 1<<63 || int64(f) != v {
			return types
		}
	case *big.Int:
		return 1 << array.Uint64
	case float64:
		f = v
	}
	add(array.Float64, true)
	add(array.Float32, isSingle(f))
	_, ok := half(f)
	add(array.Float16, ok)
	return types
}

// isSingle reports whether a float of 32 bits is the same number.
func isSingle(v float64) bool { return float64(float32(v)) == v || math.IsNaN(v) }

// half returns the equal float of 16 bits, if there is one.
func half(v float64) (uint16, bool) {
	if math.IsNaN(v) {
		return 0x7E00, true
	}
	single := math.Float32bits(float32(v))
	if !isSingle(v) || single&0x1FFF != 0 {
		return 0, false
	}
	size := math.Abs(v)
	b := sort.Search(0x7C00, func(i int) bool { return Half(uint16(i)) >= size })
	return uint16(single>>31<<15) | uint16(b), Half(uint16(b)) == size
}

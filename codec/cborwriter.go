package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// Major types of CBOR, RFC 8949 section 3.1, shifted into place.
const (
	majorUint  = 0 << 5
	majorInt   = 1 << 5
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorMap   = 5 << 5
	majorTag   = 6 << 5
	majorOther = 7 << 5
)

// Initial bytes of CBOR items without argument, and of floats.
const (
	cborFalse   = majorOther | 20
	cborTrue    = majorOther | 21
	cborNull    = majorOther | 22
	cborFloat32 = majorOther | 26
	cborFloat64 = majorOther | 27
)

// tagAgain marks a reference to an earlier part: the number of the pointer, slice, map,
// long string or boxed value, in the order in which they begin. (Tag 29 is that of shared
// values; here the first occurrence has no mark.)
const tagAgain = 29

// A cborWriter appends CBOR items: integers and lengths in their shortest
// form, floats with all their bits.
type cborWriter struct {
	dst   []byte
	start int // of the value in dst
	depth int
	seen  map[place]int           // parts that may recur, numbered
	alive []any                   // made during encoding: their addresses must not be reused
	types map[reflect.Type]uint64 // behind interfaces, numbered
	apart bool                    // without references in or out: a key of a map

	opaque deepequal.Sharing // memory of values that encode themselves
}

// A place identifies memory of a type.
type place struct {
	at  unsafe.Pointer
	len int
	typ reflect.Type
}

// maxBytes bounds values with parts, which may overlap.
const maxBytes = 1<<31 - 1

// again writes a reference if this memory was written before, and reports whether it did.
// Otherwise it registers the memory.
func (w *cborWriter) again(at unsafe.Pointer, length int, typ reflect.Type) bool {
	if w.apart {
		return false
	}
	p := place{at, length, typ}
	if n, ok := w.seen[p]; ok {
		w.head(majorTag, tagAgain)
		w.head(majorUint, uint64(n))
		return true
	}
	if w.seen == nil {
		w.seen = make(map[place]int)
	}
	w.seen[p] = len(w.seen)
	return false
}

// enter notes that the content of a pointer, slice, map or interface is being written,
// until leave.
func (w *cborWriter) enter(t reflect.Type) error {
	if w.depth++; w.depth > maxDepth {
		return &UnencodableError{What: fmt.Sprintf("a value nested deeper than %d", maxDepth), Type: t, Fix: "use a slice instead of a linked structure"}
	}
	return w.space(t)
}

// space returns an error if the encoding has become too long.
func (w *cborWriter) space(t reflect.Type) error {
	if len(w.dst)-w.start > maxBytes {
		return &UnencodableError{What: fmt.Sprintf("a value that takes more than %d bytes", maxBytes), Type: t, Fix: "return an array.Array, or several results"}
	}
	return nil
}

func (w *cborWriter) leave() { w.depth-- }

// head writes the initial byte of an item and its argument.
func (w *cborWriter) head(major byte, n uint64) {
	switch {
	case n < 24:
		w.dst = append(w.dst, major|byte(n))
	case n <= math.MaxUint8:
		w.dst = append(w.dst, major|24, byte(n))
	case n <= math.MaxUint16:
		w.dst = binary.BigEndian.AppendUint16(append(w.dst, major|25), uint16(n))
	case n <= math.MaxUint32:
		w.dst = binary.BigEndian.AppendUint32(append(w.dst, major|26), uint32(n))
	default:
		w.dst = binary.BigEndian.AppendUint64(append(w.dst, major|27), n)
	}
}

func (w *cborWriter) null() { w.dst = append(w.dst, cborNull) }

func (w *cborWriter) bool(v bool) {
	if v {
		w.dst = append(w.dst, cborTrue)
	} else {
		w.dst = append(w.dst, cborFalse)
	}
}

func (w *cborWriter) int(v int64) {
	if v < 0 {
		w.head(majorInt, uint64(^v))
	} else {
		w.head(majorUint, uint64(v))
	}
}

// float32 and float64 take bits, because a conversion would quiet a signalling NaN.
func (w *cborWriter) float32(bits uint32) {
	w.dst = binary.BigEndian.AppendUint32(append(w.dst, cborFloat32), bits)
}

func (w *cborWriter) float64(bits uint64) {
	w.dst = binary.BigEndian.AppendUint64(append(w.dst, cborFloat64), bits)
}

func (w *cborWriter) bytes(b []byte) {
	w.head(majorBytes, uint64(len(b)))
	w.dst = append(w.dst, b...)
}

// string writes a text string, or a byte string if s is not UTF-8.
func (w *cborWriter) string(s string) {
	if utf8.ValidString(s) {
		w.head(majorText, uint64(len(s)))
	} else {
		w.head(majorBytes, uint64(len(s)))
	}
	w.dst = append(w.dst, s...)
}

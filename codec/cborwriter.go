package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"
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

// A cborWriter appends CBOR items: integers and lengths in their shortest
// form, floats with all their bits.
type cborWriter struct {
	dst    []byte
	start  int // of the value in dst
	depth  int
	active map[visit]struct{} // what is being written, of types that can contain themselves
}

// A visit is a use of memory that may turn out to contain itself.
type visit struct {
	at   unsafe.Pointer
	len  int
	plan *plan
}

// maxRecursive bounds the bytes of values of recursive types: parts that are
// shared many times over are written many times over.
const maxRecursive = 1<<31 - 1

// errContainsItself is the error for values without end.
var errContainsItself = errors.New("codec: a value that contains itself cannot be kept; refer to its parts by name or index")

// enter notes that a part of a recursive type is being written, until leave.
func (w *cborWriter) enter(v visit) error {
	if _, again := w.active[v]; again {
		return errContainsItself
	}
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("codec: a value nested deeper than %d cannot be kept; use a slice instead of links", maxDepth)
	}
	if len(w.dst)-w.start > maxRecursive {
		return fmt.Errorf("codec: a value of a recursive type takes more than %d bytes: shared parts are kept once per use", maxRecursive)
	}
	if w.active == nil {
		w.active = make(map[visit]struct{})
	}
	w.active[v] = struct{}{}
	return nil
}

func (w *cborWriter) leave(v visit) {
	delete(w.active, v)
	w.depth--
}

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

func (w *cborWriter) float32(v float32) {
	w.dst = binary.BigEndian.AppendUint32(append(w.dst, cborFloat32), math.Float32bits(v))
}

func (w *cborWriter) float64(v float64) {
	w.dst = binary.BigEndian.AppendUint64(append(w.dst, cborFloat64), math.Float64bits(v))
}

func (w *cborWriter) bytes(b []byte) {
	w.head(majorBytes, uint64(len(b)))
	w.dst = append(w.dst, b...)
}

// string writes text, and as bytes what is not UTF-8.
func (w *cborWriter) string(s string) {
	if utf8.ValidString(s) {
		w.head(majorText, uint64(len(s)))
	} else {
		w.head(majorBytes, uint64(len(s)))
	}
	w.dst = append(w.dst, s...)
}

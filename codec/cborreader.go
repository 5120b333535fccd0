package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

// A cborReader reads the items of a cborWriter. After its first error it returns zeros.
type cborReader struct {
	b     []byte
	all   int // bytes at the start
	depth int
	parts []reflect.Value // possible targets of references, in order
	types []reflect.Type  // in interfaces, in order
	apart bool            // without references in or out: a key of a map
	err   error
}

// again sets v to an earlier part if the next item is a reference.
func (r *cborReader) again(v reflect.Value) bool {
	if r.apart || len(r.b) < 2 || r.b[0] != majorTag|24 || r.b[1] != tagAgain {
		return false
	}
	r.b = r.b[2:]
	n := r.uint()
	switch {
	case r.err != nil:
	case n >= uint64(len(r.parts)):
		r.fail("a reference to part %d of %d", n, len(r.parts))
	case !r.parts[n].IsValid():
		r.fail("part %d is inside of itself", n)
	case v.Kind() == reflect.Interface && r.parts[n].Type().Implements(v.Type()):
		v.Set(r.parts[n])
	case r.parts[n].Type() != v.Type():
		r.fail("a reference to a %v for a %v", r.parts[n].Type(), v.Type())
	default:
		v.Set(r.parts[n])
	}
	return true
}

// part registers a part.
func (r *cborReader) part(v reflect.Value) {
	if !r.apart {
		r.parts = append(r.parts, v)
	}
}

func (r *cborReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("codec: cbor: damaged at byte %d: %s", r.all-len(r.b), fmt.Sprintf(format, args...))
	}
	r.b = nil
}

// enter bounds the depth of values, until leave.
func (r *cborReader) enter() bool {
	if r.depth++; r.depth > maxDepth {
		r.fail("nested deeper than %d", maxDepth)
	}
	return r.err == nil
}

func (r *cborReader) leave() { r.depth-- }

// peek returns the next byte, or 0 at the end.
func (r *cborReader) peek() byte {
	if len(r.b) == 0 {
		r.fail("the end is missing")
		return 0
	}
	return r.b[0]
}

// take returns the next n bytes, or nil if there are fewer.
func (r *cborReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("%d bytes are missing", n-uint64(len(r.b)))
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

// head reads the initial byte of an item and its argument.
func (r *cborReader) head() (major byte, n uint64) {
	first := r.peek()
	if r.err != nil {
		return 0, 0
	}
	r.b = r.b[1:]
	major = first &^ 31
	switch info := first & 31; info {
	case 24, 25, 26, 27:
		var wide [8]byte
		size := 1 << (info - 24)
		copy(wide[8-size:], r.take(uint64(size)))
		return major, binary.BigEndian.Uint64(wide[:])
	case 28, 29, 30, 31:
		r.fail("initial byte 0x%02x", first)
		return 0, 0
	default:
		return major, uint64(info)
	}
}

// expect reads a head, which must have the given major type.
func (r *cborReader) expect(want byte) uint64 {
	at := r.b
	major, n := r.head()
	if r.err == nil && major != want {
		r.b = at
		r.fail("an item of major type %d where %d was expected", major>>5, want>>5)
		return 0
	}
	return n
}

// null reads a null if it comes next.
func (r *cborReader) null() bool {
	if r.peek() != cborNull {
		return false
	}
	r.b = r.b[1:]
	return true
}

func (r *cborReader) bool() bool {
	switch first := r.take(1); {
	case first == nil:
	case first[0] == cborTrue:
		return true
	case first[0] != cborFalse:
		r.fail("no bool")
	}
	return false
}

func (r *cborReader) int() int64 {
	major, n := r.head()
	switch {
	case major == majorUint && n <= math.MaxInt64:
		return int64(n)
	case major == majorInt && n <= math.MaxInt64:
		return ^int64(n)
	}
	r.fail("no integer of 64 bits")
	return 0
}

func (r *cborReader) uint() uint64 { return r.expect(majorUint) }

// float32 returns the bits of a float.
func (r *cborReader) float32() uint32 {
	if r.peek() != cborFloat32 {
		r.fail("no float32")
		return 0
	}
	if b := r.take(5); b != nil {
		return binary.BigEndian.Uint32(b[1:])
	}
	return 0
}

// float64 returns the bits of a float.
func (r *cborReader) float64() uint64 {
	if r.peek() != cborFloat64 {
		r.fail("no float64")
		return 0
	}
	if b := r.take(9); b != nil {
		return binary.BigEndian.Uint64(b[1:])
	}
	return 0
}

// bytes returns a byte string, which aliases the input.
func (r *cborReader) bytes() []byte { return r.take(r.expect(majorBytes)) }

func (r *cborReader) string() string {
	major, n := r.head()
	if major != majorText && major != majorBytes {
		r.fail("no text")
		return ""
	}
	return string(r.take(n))
}

// count reads the length of an array or a map with elements of at least least bytes. So a
// length cannot allocate more than its bytes justify.
func (r *cborReader) count(major byte, least int) int {
	n := r.expect(major)
	if least > 0 && n > uint64(len(r.b)/least) {
		r.fail("%d elements do not fit into the rest", n)
		return 0
	}
	return int(n)
}

// exactly reads the length of an array, which must be want.
func (r *cborReader) exactly(want int) {
	if n := r.expect(majorArray); r.err == nil && n != uint64(want) {
		r.fail("%d elements where %d were expected", n, want)
	}
}

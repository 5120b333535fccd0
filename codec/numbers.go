package codec

import (
	"reflect"
	"unsafe"

	"github.com/larder-data/larder/array"
)

// numbers describes sequences of numbers that are encoded as one block: a byte string, for
// numbers wider than a byte in a tag with their type (RFC 8746, typed arrays;
// little-endian).
type numbers struct {
	tag  uint64 // 0 for none
	size int    // bytes per number
}

// typedArrays are the tags of RFC 8746.
var typedArrays = map[reflect.Kind]numbers{
	reflect.Uint8:   {0, 1},
	reflect.Uint16:  {69, 2},
	reflect.Uint32:  {70, 4},
	reflect.Uint64:  {71, 8},
	reflect.Int8:    {72, 1},
	reflect.Int16:   {77, 2},
	reflect.Int32:   {78, 4},
	reflect.Int64:   {79, 8},
	reflect.Float32: {85, 4},
	reflect.Float64: {86, 8},
}

// numbersOf returns the block encoding of a sequence of ts, if there is one.
func numbersOf(t reflect.Type) (numbers, bool) {
	kind := t.Kind()
	switch {
	case kind == reflect.Int && t.Size() == 8:
		kind = reflect.Int64
	case kind == reflect.Int:
		kind = reflect.Int32
	case kind == reflect.Uint && t.Size() == 8:
		kind = reflect.Uint64
	case kind == reflect.Uint:
		kind = reflect.Uint32
	}
	n, ok := typedArrays[kind]
	return n, ok
}

func (n numbers) write(w *cborWriter, data []byte) {
	if n.tag != 0 {
		w.head(majorTag, n.tag)
	}
	w.bytes(data)
	if !littleEndian {
		array.SwapBytes(w.dst[len(w.dst)-len(data):], n.size)
	}
}

// read returns the bytes of the numbers, still in encoded order.
func (n numbers) read(r *cborReader) []byte {
	if n.tag != 0 {
		if tag := r.expect(majorTag); r.err == nil && tag != n.tag {
			r.fail("tag %d where %d was expected", tag, n.tag)
		}
	}
	data := r.bytes()
	if len(data)%n.size != 0 {
		r.fail("%d bytes are not integers", len(data))
		return nil
	}
	return data
}

func (n numbers) copy(dst, src []byte) {
	copy(dst, src)
	if !littleEndian {
		array.SwapBytes(dst, n.size)
	}
}

// memory returns n bytes of memory at at.
func memory(at unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(at), n)
}

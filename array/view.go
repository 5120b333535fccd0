package array

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// littleEndian reports whether numbers of this machine have the layout of an Array.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Values returns the elements of a in C order. If the memory is aligned for a T and the
// machine is little-endian, they share it, and the caller must not write to them;
// otherwise they are a copy. Values returns an error if T is not the type of the
// elements, or if a bool is neither 0 nor 1.
func Values[T Element](a Array) ([]T, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if want := DTypeOf[T](); a.DType != want {
		return nil, fmt.Errorf("elements are %v, not %v", a.DType, want)
	}
	if a.DType == Bool {
		if i := slices.IndexFunc(a.Data, func(b byte) bool { return b > 1 }); i >= 0 {
			return nil, fmt.Errorf("%w: element %d is a bool with the value %d", ErrInvalid, i, a.Data[i])
		}
	}
	n := a.Len()
	if n == 0 {
		return []T{}, nil
	}
	first := unsafe.Pointer(&a.Data[0])
	if littleEndian && uintptr(first)%unsafe.Alignof(*new(T)) == 0 {
		return unsafe.Slice((*T)(first), n), nil
	}
	values := make([]T, n)
	copyWords(bytesOf(values), a.Data, a.DType.Word())
	return values, nil
}

// From returns an array of the given shape over values. It shares their memory if the
// machine is little-endian. Without a shape it has one dimension.
func From[T Element](values []T, shape ...int) (*Array, error) {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	dtype, data := DTypeOf[T](), bytesOf(values)
	if !littleEndian {
		data = make([]byte, len(data))
		copyWords(data, bytesOf(values), dtype.Word())
	}
	return New(dtype, shape, data)
}

// bytesOf returns the memory of values, never nil.
func bytesOf[T Element](values []T) []byte {
	if len(values) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// copyWords copies and converts between the array's byte order and the machine's.
func copyWords(dst, src []byte, word int) {
	copy(dst, src)
	if !littleEndian {
		SwapBytes(dst, word)
	}
}

// SwapBytes reverses the bytes of every word of the given size in place: it converts
// between big-endian and little-endian. It ignores an incomplete last word.
func SwapBytes(b []byte, word int) {
	switch word {
	case 0, 1:
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			b[0], b[1] = b[1], b[0]
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.LittleEndian.PutUint32(b, binary.BigEndian.Uint32(b))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.LittleEndian.PutUint64(b, binary.BigEndian.Uint64(b))
		}
	default:
		for ; len(b) >= word; b = b[word:] {
			slices.Reverse(b[:word])
		}
	}
}

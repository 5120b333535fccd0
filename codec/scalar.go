package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/larder-data/larder/array"
)

// stringValue encodes types of kind string as their bytes.
func stringValue[T any](t reflect.Type) *Value[T] {
	const id = "string/1"
	return &Value[T]{
		ID: id, Type: fingerprint(id, t), Plain: true,
		Encode: func(dst []byte, v T) ([]byte, error) {
			return append(dst, *(*string)(unsafe.Pointer(&v))...), nil
		},
		Decode: func(b []byte) (v T, err error) {
			*(*string)(unsafe.Pointer(&v)) = string(b)
			return v, nil
		},
	}
}

// bytesValue encodes slices of bytes: a byte 0 for nil or 1, and the bytes.
func bytesValue[T any](t reflect.Type) *Value[T] {
	const id = "bytes/1"
	return &Value[T]{
		ID: id, Type: fingerprint(id, t),
		Encode: func(dst []byte, v T) ([]byte, error) {
			b := *(*[]byte)(unsafe.Pointer(&v))
			if b == nil {
				return append(dst, 0), nil
			}
			return append(append(slices.Grow(dst, 1+len(b)), 1), b...), nil
		},
		Decode: func(b []byte) (v T, err error) {
			switch {
			case len(b) == 1 && b[0] == 0:
				return v, nil
			case len(b) == 0 || b[0] != 1:
				return v, errors.New("codec: bytes: damaged")
			}
			*(*[]byte)(unsafe.Pointer(&v)) = append([]byte{}, b[1:]...)
			return v, nil
		},
	}
}

// littleEndian reports whether memory has the byte order of the encoding.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// numberValue encodes bools and numbers as their memory, little-endian. The sizes of int
// and uint are part of the fingerprint.
func numberValue[T any](t reflect.Type) *Value[T] {
	const id = "number/1"
	size, isBool := int(t.Size()), t.Kind() == reflect.Bool
	word := wordSize(t)
	return &Value[T]{
		ID: id, Type: fingerprint(id, t), Plain: true,
		Encode: func(dst []byte, v T) ([]byte, error) {
			dst = append(dst, unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))...)
			if !littleEndian {
				array.SwapBytes(dst[len(dst)-size:], word)
			}
			return dst, nil
		},
		Decode: func(b []byte) (v T, err error) {
			if len(b) != size || isBool && b[0] > 1 {
				return v, fmt.Errorf("codec: number: damaged: %d bytes for a %v", len(b), t)
			}
			into := unsafe.Slice((*byte)(unsafe.Pointer(&v)), size)
			copy(into, b)
			if !littleEndian {
				array.SwapBytes(into, word)
			}
			return v, nil
		},
	}
}

// wordSize returns the unit of byte order of a number.
func wordSize(t reflect.Type) int {
	if t.Kind() == reflect.Complex64 || t.Kind() == reflect.Complex128 {
		return int(t.Size()) / 2
	}
	return int(t.Size())
}

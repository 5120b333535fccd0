package array

import (
	"fmt"
	"strconv"
)

// A DType is the type of an array's elements. Its values are part of encodings and
// keys, so they never change their meaning.
type DType uint8

// Types of elements. A complex element is the real part followed by the imaginary one.
// The zero DType is invalid.
const (
	Bool       DType = iota + 1 // one byte, 0 or 1
	Uint8                       // 8 bits
	Uint16                      // 16 bits
	Uint32                      // 32 bits
	Uint64                      // 64 bits
	Int8                        // 8 bits
	Int16                       // 16 bits
	Int32                       // 32 bits
	Int64                       // 64 bits
	Float16                     // IEEE 754 binary16, see [Half]
	BFloat16                    // the upper half of a float32, see [Brain]
	Float32                     // IEEE 754 binary32
	Float64                     // IEEE 754 binary64
	Complex64                   // two float32
	Complex128                  // two float64
)

// dtypes describes each DType: its name, its size in bytes, and the size of the words
// that have a byte order (half an element of a complex type).
var dtypes = [...]struct {
	name       string
	size, word int
}{
	Bool:       {"bool", 1, 1},
	Uint8:      {"uint8", 1, 1},
	Uint16:     {"uint16", 2, 2},
	Uint32:     {"uint32", 4, 4},
	Uint64:     {"uint64", 8, 8},
	Int8:       {"int8", 1, 1},
	Int16:      {"int16", 2, 2},
	Int32:      {"int32", 4, 4},
	Int64:      {"int64", 8, 8},
	Float16:    {"float16", 2, 2},
	BFloat16:   {"bfloat16", 2, 2},
	Float32:    {"float32", 4, 4},
	Float64:    {"float64", 8, 8},
	Complex64:  {"complex64", 8, 4},
	Complex128: {"complex128", 16, 8},
}

// Valid reports whether d is one of the types above.
func (d DType) Valid() bool { return d >= Bool && d <= Complex128 }

// Size returns the bytes of one element, or 0 if d is invalid.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].size
}

// Word returns the bytes of one number, the unit of byte order: half of Size for
// complex types, Size for all others, 0 if d is invalid.
func (d DType) Word() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].word
}

// String returns NumPy's name of the type ("float32"), and "bfloat16".
func (d DType) String() string {
	if !d.Valid() {
		return "DType(" + strconv.Itoa(int(d)) + ")"
	}
	return dtypes[d].name
}

// ParseDType parses the output of [DType.String].
func ParseDType(name string) (DType, error) {
	for d := Bool; d.Valid(); d++ {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return 0, fmt.Errorf("%q is not a type of elements; bool, uint8, int64, float32, complex64 and their like are", name)
}

// Half holds the bits of an IEEE 754 binary16 number.
type Half uint16

// Brain holds the bits of a bfloat16 number.
type Brain uint16

// Element is the set of Go types for the elements of an array.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 |
		Half | Brain | float32 | float64 | complex64 | complex128
}

// DTypeOf returns the DType whose elements are Ts.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case Half:
		return Float16
	case Brain:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	default:
		return Complex128
	}
}

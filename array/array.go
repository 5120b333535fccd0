// Package array provides numeric arrays in one layout, stored and in memory: elements
// in C order (the last index varies fastest), little-endian, without gaps.
//
// The layout is that of NumPy's C-contiguous arrays, of .npy files and of DLPack
// tensors, so arrays pass between them without a copy.
package array

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// An Array is numeric data. Once returned it is immutable: Data may be a part of a
// larger buffer, or read-only mapped memory that faults on a write. All methods are
// safe for concurrent use.
//
// An Array without dimensions (len(Shape) == 0) has one element.
type Array struct {
	DType DType
	Shape []int  // elements along each dimension, not negative
	Data  []byte // the elements, C order, little-endian
}

// MaxRank is the largest number of dimensions, the same as NumPy's.
const MaxRank = 64

// ErrInvalid is wrapped by the errors for invalid arrays, such as those of
// [Array.Validate].
var ErrInvalid = errors.New("no array")

// New returns an array over data without a copy, or an error if it would be invalid.
// Nil data means zeros.
func New(dtype DType, shape []int, data []byte) (*Array, error) {
	size, err := Bytes(dtype, shape)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = make([]byte, size)
	}
	a := &Array{DType: dtype, Shape: slices.Clone(shape), Data: data}
	return a, a.Validate()
}

// Bytes returns the number of bytes of an array with the given type and shape. It
// returns an error if the type or the shape is invalid.
func Bytes(dtype DType, shape []int) (int, error) {
	if !dtype.Valid() {
		return 0, fmt.Errorf("%w: %v is not a type of elements", ErrInvalid, dtype)
	}
	if len(shape) > MaxRank {
		return 0, fmt.Errorf("%w: %d dimensions; at most %d are allowed", ErrInvalid, len(shape), MaxRank)
	}
	size, overflow, empty := uint64(dtype.Size()), false, false
	for _, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("%w: shape %v has a dimension below 0", ErrInvalid, shape)
		}
		empty = empty || n == 0
		hi, lo := bits.Mul64(size, uint64(n))
		overflow = overflow || hi != 0 || int(lo) < 0 || uint64(int(lo)) != lo
		size = lo
	}
	switch {
	case empty:
		return 0, nil
	case overflow:
		return 0, fmt.Errorf("%w: shape %v of %v takes more bytes than memory can hold", ErrInvalid, shape, dtype)
	}
	return int(size), nil
}

// Validate returns an error if the type or shape of a is invalid, or if the length of
// Data does not match. It does not check the elements.
func (a Array) Validate() error {
	size, err := Bytes(a.DType, a.Shape)
	if err != nil {
		return err
	}
	if size != len(a.Data) {
		return fmt.Errorf("%w: shape %v of %v takes %d bytes and there are %d", ErrInvalid, a.Shape, a.DType, size, len(a.Data))
	}
	return nil
}

// Len returns the number of elements of a valid array.
func (a Array) Len() int {
	if !a.DType.Valid() {
		return 0
	}
	return len(a.Data) / a.DType.Size()
}

// String describes the array without its elements: "float32 [2 3]".
func (a Array) String() string { return fmt.Sprint(a.DType, " ", a.Shape) }

// Equal reports whether a and b have the same type, shape and bytes. NaNs with the same
// bits are equal, 0.0 and -0.0 are not.
func (a Array) Equal(b Array) bool {
	return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && bytes.Equal(a.Data, b.Data)
}

// keyFormat is the version of the output of AppendKey.
const keyFormat = 1

// AppendKey appends the content of the array, so that two arrays append the same bytes
// exactly if they are Equal: a format byte, the type, the rank, the dimensions (64 bit,
// little-endian), the data.
func (a Array) AppendKey(dst []byte) ([]byte, error) {
	if err := a.Validate(); err != nil {
		return dst, err
	}
	dst = append(dst, keyFormat, byte(a.DType), byte(len(a.Shape)))
	for _, n := range a.Shape {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return append(dst, a.Data...), nil
}

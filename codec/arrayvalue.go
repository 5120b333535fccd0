package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/larder-data/larder/array"
)

// Arrays are encoded as a header of little-endian numbers, and the data at the next
// multiple of 64 bytes from the start:
//
//	1 byte    0 for a nil *array.Array, with nothing after it; 1 otherwise
//	1 byte    type of elements
//	2 bytes   rank
//	8 bytes   for each dimension
const (
	arrayID    = "array/1"
	arrayAlign = 64
)

var arrayValue = &Value[array.Array]{
	ID:      arrayID,
	Type:    fingerprint(arrayID, reflect.TypeFor[array.Array]()),
	Aliases: true,
	Encode:  func(dst []byte, a array.Array) ([]byte, error) { return appendArray(dst, &a) },
	Decode: func(b []byte) (array.Array, error) {
		a, err := decodeArray(b)
		if err != nil {
			return array.Array{}, err
		}
		if a == nil {
			return array.Array{}, errArray
		}
		return *a, nil
	},
}

var arrayPointerValue = &Value[*array.Array]{
	ID:      arrayID,
	Type:    fingerprint(arrayID, reflect.TypeFor[*array.Array]()),
	Aliases: true,
	Encode:  appendArray,
	Decode:  decodeArray,
}

func appendArray(dst []byte, a *array.Array) ([]byte, error) {
	if a == nil {
		return append(dst, 0), nil
	}
	if err := a.Validate(); err != nil {
		return dst, err
	}
	head := arrayHead(len(a.Shape))
	dst = slices.Grow(dst, head+len(a.Data))
	start := len(dst)
	dst = append(dst, 1, byte(a.DType))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(a.Shape)))
	for _, n := range a.Shape {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	dst = append(dst, make([]byte, start+head-len(dst))...)
	return append(dst, a.Data...), nil
}

// arrayHead returns the number of bytes before the data.
func arrayHead(rank int) int { return (4 + 8*rank + arrayAlign - 1) / arrayAlign * arrayAlign }

var errArray = errors.New("codec: array: damaged")

func decodeArray(b []byte) (*array.Array, error) {
	if len(b) == 1 && b[0] == 0 {
		return nil, nil
	}
	if len(b) < arrayHead(0) || b[0] != 1 {
		return nil, errArray
	}
	rank := int(binary.LittleEndian.Uint16(b[2:]))
	head := arrayHead(rank)
	if rank > array.MaxRank || len(b) < head {
		return nil, errArray
	}
	shape := make([]int, rank)
	for i := range shape {
		shape[i] = int(binary.LittleEndian.Uint64(b[4+8*i:]))
	}
	a := &array.Array{DType: array.DType(b[1]), Shape: shape, Data: b[head:len(b):len(b)]}
	if err := a.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errArray, err)
	}
	return a, nil
}

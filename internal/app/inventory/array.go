package inventory

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of array.Array and *array.Array where an int has 64 bits.
const (
	arrayType        = 0xa05d9bc4b48afa96
	arrayPointerType = 0x1b7b37694c1bc73d
)

var elementTypes = [...]string{
	1: "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
	"float16", "bfloat16", "float32", "float64", "complex64", "complex128",
}

var errArray = errors.New("not an array")

// readArray reads the type and the shape of an array in the encoding of codec. That
// is a byte that is 0 for nil, the element type, the rank in two bytes, and 8 bytes
// per dimension, little-endian.
func readArray(b []byte) (string, error) {
	if len(b) == 1 && b[0] == 0 {
		return "nil", nil
	}
	if len(b) < 4 || b[0] != 1 || int(b[1]) >= len(elementTypes) || elementTypes[b[1]] == "" {
		return "", errArray
	}
	shape := make([]uint64, binary.LittleEndian.Uint16(b[2:]))
	if len(b) < 4+8*len(shape) {
		return "", errArray
	}
	for i := range shape {
		shape[i] = binary.LittleEndian.Uint64(b[4+8*i:])
	}
	return fmt.Sprint(elementTypes[b[1]], " ", shape), nil
}

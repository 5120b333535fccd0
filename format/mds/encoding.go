package mds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
)

var errValue = errors.New("the bytes do not match the encoding: the shard is damaged")

// decode returns the item of the bytes of a column.
func decode(formats columns.Formats, column, encoding string, b []byte) (*dataset.Item, error) {
	name, rest, _ := strings.Cut(encoding, ":")
	switch name {
	case "bytes":
		return formats.Item(column, b, false)
	case "str", "str_decimal":
		return formats.Item(column, string(b), false)
	case "json":
		return formats.Item(column, string(b), true)
	case "jpeg", "png":
		if ext, ok := formats[column]; ok {
			name = ext
		}
		return dataset.NewBytes(name, b), nil
	case "ndarray":
		a, err := ndarray(rest, b)
		if err != nil {
			return nil, err
		}
		return dataset.NewItem("npy", a), nil
	case "pil":
		a, err := pixels(b)
		if err != nil {
			return nil, err
		}
		return dataset.NewItem("npy", a), nil
	case "pkl":
		return nil, errors.New("pickle is not supported, as decoding could run code; write json or ndarray")
	}
	v, err := number(name, b)
	if err != nil {
		return nil, err
	}
	return formats.Item(column, v, false)
}

// number reads a column of numbers.
func number(encoding string, b []byte) (any, error) {
	switch encoding {
	case "str_int":
		v, ok := new(big.Int).SetString(string(b), 10)
		if !ok || len(b) > 1000 {
			return nil, errValue
		}
		if v.IsInt64() {
			return v.Int64(), nil
		}
		return v, nil
	case "str_float":
		v, err := strconv.ParseFloat(string(b), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, errValue
		}
		return v, nil
	case "int":
		encoding = "int64"
	}
	dtype, err := array.ParseDType(encoding)
	if err != nil || !slices.Contains(dtypes, dtype) {
		return nil, fmt.Errorf("encoding %q is not supported; write another", encoding)
	}
	if len(b) != dtype.Word() {
		return nil, errValue
	}
	return scalar(dtype, b), nil
}

func scalar(dtype array.DType, b []byte) any {
	little := binary.LittleEndian
	switch dtype {
	case array.Uint8:
		return int64(b[0])
	case array.Int8:
		return int64(int8(b[0]))
	case array.Uint16:
		return int64(little.Uint16(b))
	case array.Int16:
		return int64(int16(little.Uint16(b)))
	case array.Float16:
		return columns.Half(little.Uint16(b))
	case array.Uint32:
		return int64(little.Uint32(b))
	case array.Int32:
		return int64(int32(little.Uint32(b)))
	case array.Float32:
		return float64(math.Float32frombits(little.Uint32(b)))
	case array.Float64:
		return math.Float64frombits(little.Uint64(b))
	}
	v := little.Uint64(b)
	if dtype == array.Uint64 && v > math.MaxInt64 {
		return new(big.Int).SetUint64(v)
	}
	return int64(v)
}

// dtypes are the types of elements, and byDigit their numbers in arrays that contain
// their type.
var (
	dtypes  = []array.DType{array.Uint8, array.Int8, array.Uint16, array.Int16, array.Float16, array.Uint32, array.Int32, array.Float32, array.Uint64, array.Int64, array.Float64}
	byDigit = map[byte]array.DType{8: array.Uint8, 9: array.Int8, 16: array.Uint16, 17: array.Int16, 18: array.Float16, 32: array.Uint32, 33: array.Int32, 34: array.Float32, 64: array.Uint64, 65: array.Int64, 66: array.Float64}
)

// ndarray reads an array. Its type and shape are in the encoding, DTYPE:N,N, or else
// before the elements.
func ndarray(encoding string, b []byte) (*array.Array, error) {
	name, sides, _ := strings.Cut(encoding, ":")
	dtype, known := array.DType(0), false
	if name == "" {
		if len(b) == 0 {
			return nil, errValue
		}
		dtype, known = byDigit[b[0]]
		b = b[1:]
	} else {
		var err error
		dtype, err = array.ParseDType(name)
		known = err == nil && slices.Contains(dtypes, dtype)
	}
	if !known {
		return nil, errValue
	}
	shape, b, err := shapeOf(sides, b)
	if err != nil {
		return nil, err
	}
	if n, err := array.Bytes(dtype, shape); err != nil || n != len(b) {
		return nil, errValue
	}
	return array.New(dtype, shape, b)
}

func shapeOf(sides string, b []byte) (shape []int, rest []byte, err error) {
	if sides != "" {
		for side := range strings.SplitSeq(sides, ",") {
			n, err := strconv.ParseUint(side, 10, 31)
			if err != nil {
				return nil, nil, errValue
			}
			shape = append(shape, int(n))
		}
		return shape, b, nil
	}
	if len(b) == 0 {
		return nil, nil, errValue
	}
	rank, word := int(b[0]>>2), 1<<(b[0]&3)
	if b = b[1:]; len(b) < rank*word {
		return nil, nil, errValue
	}
	for range rank {
		var wide [8]byte
		copy(wide[:], b[:word])
		n := binary.LittleEndian.Uint64(wide[:])
		if n > math.MaxInt32 {
			return nil, nil, errValue
		}
		shape, b = append(shape, int(n)), b[word:]
	}
	return shape, b, nil
}

// pixels reads an uncompressed image: its width, height and mode, and its pixels.
func pixels(b []byte) (*array.Array, error) {
	if len(b) < 12 {
		return nil, errValue
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	width, height, size := word(0), word(1), word(2)
	if b = b[12:]; uint64(size) > uint64(len(b)) || width > math.MaxInt32 || height > math.MaxInt32 {
		return nil, errValue
	}
	mode := string(b[:size])
	channels := map[string]int{"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "YCbCr": 3, "HSV": 3, "LAB": 3}[mode]
	if channels == 0 {
		return nil, fmt.Errorf("image mode %q is not supported; write png", mode)
	}
	shape := []int{int(height), int(width), channels}
	if channels == 1 {
		shape = shape[:2]
	}
	if n, err := array.Bytes(array.Uint8, shape); err != nil || n != len(b)-int(size) {
		return nil, errValue
	}
	return array.New(array.Uint8, shape, b[size:])
}

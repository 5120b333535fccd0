package columns

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strings"

	"github.com/larder-data/larder/array"
)

// Mapping returns entries, which are mappings with a key and a value, as one mapping. It
// returns them unchanged if a key is not a string or occurs twice, because one of two
// values would be lost.
func Mapping(entries []any, key, value string) any {
	object := make(map[string]any, len(entries))
	for _, v := range entries {
		entry, ok := v.(map[string]any)
		if !ok {
			return entries
		}
		name, ok := entry[key].(string)
		if _, twice := object[name]; !ok || twice {
			return entries
		}
		object[name] = entry[value]
	}
	return object
}

// UUID formats 16 bytes as a string.
func UUID(b []byte) string {
	h := hex.EncodeToString(b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// Lists returns an array as nested lists of numbers or booleans.
func Lists(a *array.Array) any {
	var list func(shape []int, data []byte) any
	list = func(shape []int, data []byte) any {
		if len(shape) == 0 {
			return number(a.DType, data)
		}
		all, each := []any{}, len(data)/max(1, shape[0])
		for i := range shape[0] {
			all = append(all, list(shape[1:], data[i*each:(i+1)*each]))
		}
		return all
	}
	return list(a.Shape, a.Data)
}

// number returns an element of an array.
func number(of array.DType, b []byte) any {
	little := binary.LittleEndian
	switch of {
	case array.Bool:
		return b[0] != 0
	case array.Float16:
		return Half(little.Uint16(b))
	case array.Float32:
		return float64(math.Float32frombits(little.Uint32(b)))
	case array.Float64:
		return math.Float64frombits(little.Uint64(b))
	case array.Int8:
		return int64(int8(b[0]))
	case array.Int16:
		return int64(int16(little.Uint16(b)))
	case array.Int32:
		return int64(int32(little.Uint32(b)))
	case array.Uint8:
		return int64(b[0])
	case array.Uint16:
		return int64(little.Uint16(b))
	case array.Uint32:
		return int64(little.Uint32(b))
	case array.Uint64:
		if v := little.Uint64(b); v > math.MaxInt64 {
			return new(big.Int).SetUint64(v)
		}
	}
	return int64(little.Uint64(b))
}

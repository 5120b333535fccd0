package columns

import (
	"context"
	"fmt"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
)

// A Kind is what a column that is written holds: values of a type, or lists of them.
type Kind struct {
	Of    string // the name of a type, such as int64 or string
	Depth int    // of lists in lists
}

// types are those of values; numbers lie in columns as they lie in arrays.
var types = map[string]array.DType{
	"bool": array.Bool,
	"int8": array.Int8, "int16": array.Int16, "int32": array.Int32, "int64": array.Int64,
	"uint8": array.Uint8, "uint16": array.Uint16, "uint32": array.Uint32, "uint64": array.Uint64,
	"float16": array.Float16, "float32": array.Float32, "float64": array.Float64,
	"string": 0, "binary": 0, "json": 0,
}

// DType is the type of arrays whose elements are values of a kind; 0 of what are no numbers.
func (k Kind) DType() array.DType { return types[k.Of] }

func (k Kind) String() string {
	return strings.Repeat("list<", k.Depth) + k.Of + strings.Repeat(">", k.Depth)
}

// ParseKind reads what String writes.
func ParseKind(text string) (k Kind, err error) {
	k.Of = text
	for strings.HasPrefix(k.Of, "list<") && strings.HasSuffix(k.Of, ">") {
		k.Of = k.Of[len("list<") : len(k.Of)-1]
		k.Depth++
	}
	if _, ok := types[k.Of]; !ok || k.Depth > 16 {
		return k, fmt.Errorf("%q is no type of a column; there are bool, int8 to int64, uint8 to uint64, float16, float32, float64, string, binary, json, and list<...> of them", text)
	}
	return k, nil
}

// kindOf returns what a column must hold to hold a value; false for nil, which all hold.
func kindOf(v any) (k Kind, ok bool) {
	switch v := v.(type) {
	case nil:
		return k, false
	case bool:
		k.Of = "bool"
	case int64:
		k.Of = "int64"
	case float64:
		k.Of = "float64"
	case string:
		k.Of = "string"
	case []byte:
		k.Of = "binary"
	case *array.Array:
		for name, t := range types {
			if t == v.DType {
				return Kind{name, len(v.Shape)}, true
			}
		}
		k.Of = "binary" // of numbers that no column has, the file that they would be
	default:
		k.Of = "json"
	}
	return k, true
}

// valueOf returns the value of an item that goes into a column: decoded if it is a document, a
// text or an array, and else its bytes.
func valueOf(ctx context.Context, it *dataset.Item) (any, error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	switch dataset.FormatOf(ext) {
	case "json", "yaml", "txt", "npy":
		return it.Value(ctx)
	}
	return it.Bytes(ctx)
}

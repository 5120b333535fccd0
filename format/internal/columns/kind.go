package columns

import (
	"context"
	"fmt"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
)

// A Kind is the type of a written column: scalar values, lists or structs. Any value may
// be missing.
type Kind struct {
	Of     string  // a scalar type, such as int64 or string; or null, list, struct
	Elem   *Kind   // of a list
	Fields []Field // of a struct, by name

	seen int    // the first sample with such a value
	fits uint32 // of numbers in documents: a bit for each type that holds them all
}

// A Field is a field of a struct.
type Field struct {
	Name string
	Kind *Kind
}

// types are the scalar types; numbers have the encoding of arrays.
var types = map[string]array.DType{
	"bool": array.Bool,
	"int8": array.Int8, "int16": array.Int16, "int32": array.Int32, "int64": array.Int64,
	"uint8": array.Uint8, "uint16": array.Uint16, "uint32": array.Uint32, "uint64": array.Uint64,
	"float16": array.Float16, "float32": array.Float32, "float64": array.Float64,
	"string": 0, "binary": 0, "json": 0,
}

// The kinds that are not scalar types.
const (
	Null   = "null" // no value
	List   = "list"
	Struct = "struct"
)

// DType returns the element type of arrays of such values, or 0 if they are not numbers.
func (k *Kind) DType() array.DType { return types[k.Of] }

func (k *Kind) String() string {
	switch k.Of {
	case List:
		return "list<" + k.Elem.String() + ">"
	case Struct:
		fields := make([]string, len(k.Fields))
		for i, f := range k.Fields {
			fields[i] = f.Name + ": " + f.Kind.String()
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	}
	return k.Of
}

// ParseKind parses the String of scalar types and lists of them.
func ParseKind(text string) (*Kind, error) {
	of, depth := text, 0
	for strings.HasPrefix(of, "list<") && strings.HasSuffix(of, ">") {
		of = of[len("list<") : len(of)-1]
		depth++
	}
	if _, ok := types[of]; !ok || depth > 16 {
		return nil, fmt.Errorf("%q is not a column type; use bool, int8 to int64, uint8 to uint64, float16, float32, float64, string, binary, json, list<...>", text)
	}
	return listed(&Kind{Of: of}, depth), nil
}

// listed returns nested lists of a kind.
func listed(k *Kind, depth int) *Kind {
	for range depth {
		k = &Kind{Of: List, Elem: k, seen: k.seen}
	}
	return k
}

// A Leaf is a part of a kind with its own values, possibly in lists and structs.
type Leaf struct {
	Path []string // from the column; a list adds list and element, as in Parquet
	Kind *Kind
	Rep  int // number of enclosing lists
	Def  int // the level of an existing value: see [Piece]
}

// leaves appends the leaves of a kind, in order.
func (k *Kind) leaves(to []Leaf, path []string, rep, def int) []Leaf {
	path = path[:len(path):len(path)]
	switch k.Of {
	case List:
		return k.Elem.leaves(to, append(path, "list", "element"), rep+1, def+2)
	case Struct:
		for _, f := range k.Fields {
			to = f.Kind.leaves(to, append(path, f.Name), rep, def+1)
		}
		return to
	}
	return append(to, Leaf{path, k, rep, def + 1})
}

// Count returns the number of leaves of a kind.
func (k *Kind) Count() int {
	switch k.Of {
	case List:
		return k.Elem.Count()
	case Struct:
		n := 0
		for _, f := range k.Fields {
			n += f.Kind.Count()
		}
		return n
	}
	return 1
}

// valueOf returns the column value of an item. Documents, strings and arrays of
// supported types are decoded; others are their bytes.
func valueOf(ctx context.Context, it *dataset.Item) (any, error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	switch dataset.FormatOf(ext) {
	case "json", "yaml", "txt", "npy":
		v, err := it.Value(ctx)
		if a, ok := v.(*array.Array); ok && typeOf(a.DType) == "" {
			return it.Bytes(ctx)
		}
		return v, err
	}
	return it.Bytes(ctx)
}

// typeOf returns the type name of an array's elements, or "" if no column has it.
func typeOf(of array.DType) string {
	for name, t := range types {
		if t == of {
			return name
		}
	}
	return ""
}

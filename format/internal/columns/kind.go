package columns

import (
	"context"
	"fmt"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
)

// A Kind is what a column that is written holds: values of a type, lists or structs. Any value may
// be missing.
type Kind struct {
	Of     string  // the name of a type, such as int64 or string; or null, list, struct
	Elem   *Kind   // of a list
	Fields []Field // of a struct, by name

	seen int    // the first sample that has such a value
	fits uint32 // of numbers of documents: the types that hold them all, a bit for each
}

// A Field is a part of a struct.
type Field struct {
	Name string
	Kind *Kind
}

// types are those of values; numbers lie in columns as they lie in arrays.
var types = map[string]array.DType{
	"bool": array.Bool,
	"int8": array.Int8, "int16": array.Int16, "int32": array.Int32, "int64": array.Int64,
	"uint8": array.Uint8, "uint16": array.Uint16, "uint32": array.Uint32, "uint64": array.Uint64,
	"float16": array.Float16, "float32": array.Float32, "float64": array.Float64,
	"string": 0, "binary": 0, "json": 0,
}

// Of the kinds that are no types.
const (
	Null   = "null" // no value
	List   = "list"
	Struct = "struct"
)

// DType is the type of arrays whose elements are values of a kind; 0 of what are no numbers.
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

// ParseKind reads what String writes of types and lists of them.
func ParseKind(text string) (*Kind, error) {
	of, depth := text, 0
	for strings.HasPrefix(of, "list<") && strings.HasSuffix(of, ">") {
		of = of[len("list<") : len(of)-1]
		depth++
	}
	if _, ok := types[of]; !ok || depth > 16 {
		return nil, fmt.Errorf("%q is no type of a column; there are bool, int8 to int64, uint8 to uint64, float16, float32, float64, string, binary, json, and list<...> of them", text)
	}
	return listed(&Kind{Of: of}, depth), nil
}

// listed is lists in lists of a kind.
func listed(k *Kind, depth int) *Kind {
	for range depth {
		k = &Kind{Of: List, Elem: k, seen: k.seen}
	}
	return k
}

// A Leaf is a part of a kind that has values of its own, in lists and structs or not.
type Leaf struct {
	Path []string // from the column; of a list it goes on with list and element, as in Parquet
	Kind *Kind
	Rep  int // in how many lists it lies
	Def  int // the level of a value that is there: see [Piece]
}

// leaves appends those of a kind, in order.
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

// Count is how many leaves a kind has.
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

// valueOf returns the value of an item that goes into a column: decoded if it is a document, a
// text or an array of numbers that columns have, and else its bytes.
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

// typeOf is the name of the type of an array's elements, "" if no column has it.
func typeOf(of array.DType) string {
	for name, t := range types {
		if t == of {
			return name
		}
	}
	return ""
}

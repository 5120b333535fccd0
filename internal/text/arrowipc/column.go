// Package arrowipc writes record batches in the streaming format of Apache Arrow
// (https://arrow.apache.org/docs/format/Columnar.html), directly from the memory of the
// values.
package arrowipc

import (
	"fmt"
	"strings"
)

// A Kind is the type of a column. The values are those of the union Type in the
// format's Schema.fbs.
type Kind byte

// Kinds of columns. In parentheses is the content of [Column.Buffers].
const (
	Null      Kind = 1  // no value (no buffer, and There is nil)
	Int       Kind = 2  // integers of Size bits (numbers)
	Float     Kind = 3  // floats of 16, 32 or 64 bits (numbers)
	Binary    Kind = 4  // bytes (int32 offsets, bytes)
	Utf8      Kind = 5  // strings (int32 offsets, bytes)
	Bool      Kind = 6  // a bit each, the lowest first (bits)
	List      Kind = 12 // values of the child (int32 offsets)
	Struct    Kind = 13 // one value of each child (nothing)
	FixedList Kind = 16 // Size values of the child (nothing)
)

var names = map[Kind]string{Null: "null", Int: "int", Float: "float", Binary: "binary", Utf8: "utf8", Bool: "bool", List: "list", Struct: "struct", FixedList: "fixed_size_list"}

// A Column is a column of a record batch, or a child of one.
type Column struct {
	Name     string
	Kind     Kind
	Size     int // bits of a number, or values of a FixedList
	Unsigned bool
	Nullable bool // whether values may be missing
	// Extension is the name of the extension type, if the column has one, and
	// Parameters are that type's parameters as JSON.
	Extension, Parameters string
	Children              []*Column

	Rows    int      // number of values
	Missing int      // number of missing values
	There   []byte   // a bit per value, the lowest first, set if the value exists; nil if none is missing
	Buffers [][]byte // little-endian; they are read while the batch is written
}

// Type returns a human-readable description of the column's type. It is equal for equal
// types.
func (c *Column) Type() string {
	var b strings.Builder
	b.WriteString(names[c.Kind])
	if c.Unsigned {
		b.WriteString(" unsigned")
	}
	if c.Size > 0 {
		fmt.Fprintf(&b, " %d", c.Size)
	}
	for i, child := range c.Children {
		b.WriteString([]string{" of ", ", "}[min(i, 1)] + child.Type())
	}
	if c.Extension != "" {
		fmt.Fprintf(&b, " (%s %s)", c.Extension, c.Parameters)
	}
	return b.String()
}

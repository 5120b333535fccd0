// Package arrowipc writes record batches in the streaming format of Apache Arrow
// (https://arrow.apache.org/docs/format/Columnar.html), straight from the memory that
// values lie in.
package arrowipc

import (
	"fmt"
	"strings"
)

// A Kind is what a column consists of. The values are those of the union Type of the
// format's Schema.fbs.
type Kind byte

// The kinds. In parentheses is what [Column.Buffers] has.
const (
	Null      Kind = 1  // no value (no buffer, and There is none)
	Int       Kind = 2  // whole numbers of Size bits (numbers)
	Float     Kind = 3  // floats of 16, 32 or 64 bits (numbers)
	Binary    Kind = 4  // bytes (int32 offsets, bytes)
	Utf8      Kind = 5  // text (int32 offsets, bytes)
	Bool      Kind = 6  // a bit each, the lowest first (bits)
	List      Kind = 12 // values of the child (int32 offsets)
	Struct    Kind = 13 // one value of each child (nothing)
	FixedList Kind = 16 // Size values of the child (nothing)
)

var names = map[Kind]string{Null: "null", Int: "int", Float: "float", Binary: "binary", Utf8: "utf8", Bool: "bool", List: "list", Struct: "struct", FixedList: "fixed_size_list"}

// A Column is a column of a record batch, or what a value of one is made of.
type Column struct {
	Name     string
	Kind     Kind
	Size     int // bits of a number, values of a FixedList
	Unsigned bool
	Nullable bool // whether values may be missing
	// Extension is the name of the extension type that it is, if it is one, and
	// Parameters are what that type is told, as JSON.
	Extension, Parameters string
	Children              []*Column

	Rows    int      // how many values it has
	Missing int      // how many of them are not there
	There   []byte   // a bit for each, the lowest first, set if it is there; nil where none is missing
	Buffers [][]byte // little-endian; they are read while the batch is written
}

// Type describes the column's type for people. Columns of one type have equal
// descriptions.
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

package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/format/internal/columns"
)

// A cursor iterates over the values of one column of a row.
type cursor struct {
	b              *block
	at, end, value int // in the levels, and in the values
}

func cursorAt(b *block, row int) cursor {
	c := cursor{b: b, at: row, end: row + 1, value: row}
	if b.starts != nil {
		if c.at, c.end = int(b.starts[row]), len(b.def); row+1 < len(b.starts) {
			c.end = int(b.starts[row+1])
		}
	}
	if b.values != nil {
		c.value = int(b.values[row])
	}
	return c
}

// def returns the definition level of the current value, or -1 after the end.
func (c *cursor) def() int {
	switch {
	case c.at >= c.end:
		return -1
	case c.b.def == nil:
		return 0
	}
	return int(c.b.def[c.at])
}

// continues reports whether the current value continues a list that began before.
func (c *cursor) continues(rep int) bool {
	return c.at < c.end && c.b.rep != nil && int(c.b.rep[c.at]) == rep
}

var errLevels = errors.New("invalid levels: the file is damaged")

// whole assembles the value of a row from all its columns.
func whole(n *node, cs []cursor) (any, error) {
	v, err := assemble(n, cs)
	for _, c := range cs {
		if err == nil && c.at != c.end {
			err = errLevels
		}
	}
	return v, err
}

// assemble assembles the value of a node from the columns below it, which must agree on
// it.
func assemble(n *node, cs []cursor) (any, error) {
	if len(cs) == 0 || cs[0].at >= cs[0].end {
		return nil, errLevels
	}
	there := cs[0].def() >= n.maxDef
	for k := range cs {
		if cs[k].at >= cs[k].end || (cs[k].def() >= n.maxDef) != there {
			return nil, errLevels
		}
	}
	if there {
		if n.repetition != repeated {
			return inside(n, cs)
		}
		return elements(n, cs)
	}
	if n.repetition == required {
		return nil, errLevels
	}
	for k := range cs {
		cs[k].at++
	}
	if n.repetition == repeated {
		return []any{}, nil
	}
	return nil, nil //nolint:nilnil // null is a value
}

// elements returns the list of the values of a repeated field.
func elements(n *node, cs []cursor) (any, error) {
	list := []any{}
	for {
		v, err := inside(n, cs)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		more := cs[0].continues(n.maxRep)
		for k := range cs {
			if cs[k].continues(n.maxRep) != more || more && cs[k].def() < n.maxDef {
				return nil, errLevels
			}
		}
		if !more {
			return list, nil
		}
	}
}

// inside returns a value that exists.
func inside(n *node, cs []cursor) (any, error) {
	if n.isLeaf() {
		c := &cs[0]
		if c.def() != n.maxDef || c.value >= c.b.count() {
			return nil, errLevels
		}
		c.at++
		c.value++
		return n.plain(c.b.value(c.value - 1))
	}
	if list := n.list(); list != nil {
		return assembleList(n, cs)
	}
	object := make(map[string]any, len(n.children))
	for _, c := range n.children {
		v, err := assemble(c, cs[c.leaf-n.leaf:][:c.leaves])
		if err != nil {
			return nil, err
		}
		object[c.name] = v
	}
	return object, nil
}

// list returns the repeated field of a list or mapping.
func (n *node) list() *node {
	if (n.meaning == aList || n.meaning == aMap) && len(n.children) == 1 && n.children[0].repetition == repeated {
		return n.children[0]
	}
	return nil
}

// element returns the only field of the repeated group of a list, if the group is only a
// level.
func (n *node) element() *node {
	r := n.list()
	if r == nil || n.meaning != aList || len(r.children) != 1 || r.name == "array" || r.name == n.name+"_tuple" {
		return nil
	}
	return r.children[0]
}

func assembleList(n *node, cs []cursor) (any, error) {
	v, err := assemble(n.list(), cs)
	if err != nil {
		return nil, err
	}
	list := v.([]any)
	if e := n.element(); e != nil {
		for i := range list {
			list[i] = list[i].(map[string]any)[e.name]
		}
		return list, nil
	}
	pair := n.list().children
	if n.meaning != aMap || len(pair) != 2 || pair[0].meaning != aText {
		return list, nil
	}
	return columns.Mapping(list, pair[0].name, pair[1].name), nil
}

// plain returns a value of a column in document form.
func (n *node) plain(b []byte) (any, error) {
	little := binary.LittleEndian
	switch n.meaning {
	case aText, aDocument:
		return string(b), nil
	case aDecimal:
		return n.decimal(b), nil
	case aUUID:
		return columns.UUID(b), nil
	case aHalf:
		return columns.Half(little.Uint16(b)), nil
	case aDate:
		if n.physical == physInt32 {
			return columns.Date(int64(int32(little.Uint32(b)))), nil
		}
	case aTime, aTimestamp:
		v, ok := n.whole(b)
		if ok && n.meaning == aTime {
			return columns.TimeOfDay(v, n.unit), nil
		}
		if ok {
			return columns.Timestamp(v, n.unit, n.utc), nil
		}
	}
	switch n.physical {
	case physBool:
		return b[0] != 0, nil
	case physInt32, physInt64:
		v, _ := n.whole(b)
		if n.unsigned && n.physical == physInt32 {
			return int64(uint32(v)), nil
		}
		if n.unsigned && v < 0 {
			return new(big.Int).SetUint64(uint64(v)), nil
		}
		return v, nil
	case physFloat:
		return float64(math.Float32frombits(little.Uint32(b))), nil
	case physDoub:
		return math.Float64frombits(little.Uint64(b)), nil
	case physInt96: // nanoseconds of a day, and the Julian day
		const epoch = 2440588
		t := time.Unix((int64(int32(little.Uint32(b[8:])))-epoch)*86400, int64(little.Uint64(b))).UTC()
		return columns.TimeText(t, false), nil
	}
	return slices.Clone(b), nil
}

// whole reads an integer.
func (n *node) whole(b []byte) (int64, bool) {
	switch n.physical {
	case physInt32:
		return int64(int32(binary.LittleEndian.Uint32(b))), true
	case physInt64:
		return int64(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// decimal formats a fixed-point number.
func (n *node) decimal(b []byte) string {
	v := new(big.Int)
	if i, ok := n.whole(b); ok {
		v.SetInt64(i)
	} else if v.SetBytes(b); len(b) > 0 && b[0] >= 0x80 { // big-endian, two's complement
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return columns.Decimal(v, n.scale)
}

// number returns the element type of arrays of a column's values, or 0 if there is none.
func (n *node) number() array.DType {
	switch {
	case n.meaning == aHalf:
		return array.Float16
	case n.meaning != plainValue && n.meaning != anInteger:
		return 0
	}
	switch n.physical {
	case physBool:
		return array.Bool
	case physFloat:
		return array.Float32
	case physDoub:
		return array.Float64
	case physInt32, physInt64:
		signed := map[int]array.DType{8: array.Int8, 16: array.Int16, 32: array.Int32, 64: array.Int64}
		unsigned := map[int]array.DType{8: array.Uint8, 16: array.Uint16, 32: array.Uint32, 64: array.Uint64}
		if n.bits == 0 || n.meaning == plainValue {
			return signed[8*n.width]
		}
		if n.unsigned {
			return unsigned[n.bits]
		}
		return signed[n.bits]
	}
	return 0
}

// arrayOf returns a row of a column as an array: lists of numbers, without nulls and
// with equal lengths. It returns nil for other rows.
func arrayOf(n *node, cs []cursor) (*array.Array, error) {
	depth, at, defs := 0, n, []int{}
	for at != nil && !at.isLeaf() {
		defs = append(defs, at.maxDef)
		if depth++; at.meaning == aList && at.element() == nil && at.list() != nil && at.list().isLeaf() {
			at = at.list()
		} else {
			at = at.element()
		}
	}
	if at == nil || depth == 0 || at.number() == 0 || len(cs) != 1 {
		return nil, nil //nolint:nilnil // none is not an error
	}
	dtype, c := at.number(), cs[0]
	if c.end == c.at+1 && depth == 1 && c.def() == defs[0] { // an empty list
		return array.New(dtype, make([]int, 1), nil)
	}
	for i := c.at; i < c.end; i++ {
		if int(c.b.def[i]) != at.maxDef {
			return nil, nil //nolint:nilnil // none is not an error
		}
	}
	shape, ok := columns.Shape(c.b.rep[c.at:c.end], depth)
	if !ok {
		return nil, nil //nolint:nilnil // none is not an error
	}
	if c.value+c.end-c.at > c.b.count() {
		return nil, errLevels
	}
	word := dtype.Word()
	data := make([]byte, 0, word*(c.end-c.at))
	for i := range c.end - c.at {
		data = append(data, c.b.value(c.value + i)[:word]...) // small integers are stored in larger ones
	}
	return array.New(dtype, shape, data)
}

package arrow

import (
	"encoding/binary"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/internal/arrowipc"
)

// A batch is the rows that are written together.
type batch struct {
	table  *columns.Table
	pieces []columns.Piece // of each column
	rows   int
	bytes  int
}

func newBatch(table *columns.Table) *batch {
	return &batch{table: table, pieces: make([]columns.Piece, len(table.Names))}
}

// bytesOf is about how large a row is.
func bytesOf(row []columns.Piece) (n int) {
	for i := range row {
		n += row[i].Size()
	}
	return n
}

func (b *batch) add(row []columns.Piece) {
	for i := range row {
		b.pieces[i].Join(&row[i])
	}
	b.rows++
	b.bytes += bytesOf(row)
}

func (b *batch) clear() {
	for i := range b.pieces {
		b.pieces[i].Clear()
	}
	b.rows, b.bytes = 0, 0
}

// columns are the rows as Arrow has them.
func (b *batch) columns() []*arrowipc.Column {
	all := make([]*arrowipc.Column, len(b.pieces))
	for i, name := range b.table.Names {
		c := column(b.table.Kinds[i], &b.pieces[i], 0)
		c.Name, c.Nullable = name, true
		all[i] = c
	}
	return all
}

// column makes a column of what lies in so many lists of a piece.
func column(k columns.Kind, p *columns.Piece, depth int) *arrowipc.Column {
	var c *arrowipc.Column
	if depth == k.Depth {
		c = leaf(k, p)
	} else {
		child := column(k, p, depth+1)
		child.Name = "item"
		c = &arrowipc.Column{Kind: arrowipc.List, Children: []*arrowipc.Column{child}}
		c.Buffers = [][]byte{offsets(p, depth)}
		c.Rows = len(c.Buffers[0])/4 - 1
	}
	if depth == 0 {
		c.There, c.Missing = there(p)
	}
	return c
}

// offsets say where in the elements of lists each list begins, and where the last one ends.
func offsets(p *columns.Piece, depth int) []byte {
	to, elements := []byte{}, uint32(0)
	for i, rep := range p.Rep {
		if begins(rep, p.Def[i], depth) {
			to = binary.LittleEndian.AppendUint32(to, elements)
		}
		if begins(rep, p.Def[i], depth+1) {
			elements++
		}
	}
	return binary.LittleEndian.AppendUint32(to, elements)
}

// begins reports whether something that lies in so many lists begins at a level: of no lists, a
// row, whatever is there of it.
func begins(rep, def byte, depth int) bool {
	return int(rep) <= depth && (depth == 0 || int(def) > depth)
}

// there says which rows are there, if some are not.
func there(p *columns.Piece) (bits []byte, missing int) {
	rows := 0
	for i, rep := range p.Rep {
		if rep > 0 {
			continue
		}
		if rows%8 == 0 {
			bits = append(bits, 0)
		}
		if p.Def[i] > 0 {
			bits[rows/8] |= 1 << (rows % 8)
		} else {
			missing++
		}
		rows++
	}
	if missing == 0 {
		return nil, 0
	}
	return bits, missing
}

// kinds are what numbers are in Arrow.
var kinds = map[string]arrowipc.Column{
	"int8": {Kind: arrowipc.Int, Size: 8}, "int16": {Kind: arrowipc.Int, Size: 16},
	"int32": {Kind: arrowipc.Int, Size: 32}, "int64": {Kind: arrowipc.Int, Size: 64},
	"uint8": {Kind: arrowipc.Int, Size: 8, Unsigned: true}, "uint16": {Kind: arrowipc.Int, Size: 16, Unsigned: true},
	"uint32": {Kind: arrowipc.Int, Size: 32, Unsigned: true}, "uint64": {Kind: arrowipc.Int, Size: 64, Unsigned: true},
	"float16": {Kind: arrowipc.Float, Size: 16}, "float32": {Kind: arrowipc.Float, Size: 32}, "float64": {Kind: arrowipc.Float, Size: 64},
	"bool": {Kind: arrowipc.Bool}, "string": {Kind: arrowipc.Utf8}, "binary": {Kind: arrowipc.Binary},
	"json": {Kind: arrowipc.Utf8, Extension: "arrow.json"},
}

// leaf makes the column of values that are no lists. What is not there has a value, too, of zeros.
func leaf(k columns.Kind, p *columns.Piece) *arrowipc.Column {
	c := kinds[k.Of]
	for i, rep := range p.Rep {
		if begins(rep, p.Def[i], k.Depth) {
			c.Rows++
		}
	}
	switch {
	case k.DType() == 0:
		c.Buffers = texts(k, p)
	case k.DType() == array.Bool:
		c.Buffers = [][]byte{packed(spaced(k, p, 1))}
	default:
		c.Buffers = [][]byte{spaced(k, p, k.DType().Word())}
	}
	return &c
}

// spaced is values of one size with room for those that are not there.
func spaced(k columns.Kind, p *columns.Piece, size int) []byte {
	if k.Depth > 0 || p.Values == len(p.Def) {
		return p.Data
	}
	all, at := make([]byte, len(p.Def)*size), 0
	for i, def := range p.Def {
		if def > 0 {
			at += copy(all[i*size:][:size], p.Data[at:])
		}
	}
	return all
}

// texts are values with their lengths as Arrow has them: where each begins, and the values.
func texts(k columns.Kind, p *columns.Piece) [][]byte {
	offsets := make([]byte, 4, 4*(len(p.Def)+1))
	data := make([]byte, 0, len(p.Data))
	rest := p.Data
	for i, def := range p.Def {
		if int(def) > k.Depth {
			n := binary.LittleEndian.Uint32(rest)
			data, rest = append(data, rest[4:][:n]...), rest[4+n:]
		}
		if begins(p.Rep[i], def, k.Depth) {
			offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)))
		}
	}
	return [][]byte{offsets, data}
}

// packed is truth values as bits.
func packed(b []byte) []byte {
	bits := make([]byte, (len(b)+7)/8)
	for i, v := range b {
		bits[i/8] |= v << (i % 8)
	}
	return bits
}

package arrow

import (
	"encoding/binary"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/internal/text/arrowipc"
)

// A batch is a record batch: rows that are written together.
type batch struct {
	table  *columns.Table
	pieces []columns.Piece // of each column
	rows   int
	bytes  int
}

func newBatch(table *columns.Table) *batch {
	return &batch{table: table, pieces: make([]columns.Piece, len(table.Leaves))}
}

// bytesOf estimates the size of a row.
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

// columns returns the rows as Arrow columns.
func (b *batch) columns() []*arrowipc.Column {
	all := make([]*arrowipc.Column, len(b.table.Names))
	at := 0
	for i, name := range b.table.Names {
		k := b.table.Kinds[i]
		n := k.Count()
		all[i] = column(name, k, b.pieces[at:at+n], 0, level{})
		at += n
	}
	return all
}

// A level gives the Def from which a slot for a value exists, and the Def from which the
// value exists. In between are structs that are null.
type level struct{ place, value int }

// column returns a column of the leaves of a kind, nested in depth lists.
func column(name string, k *columns.Kind, leaves []columns.Piece, depth int, at level) *arrowipc.Column {
	c := &arrowipc.Column{}
	switch k.Of {
	case columns.Null:
		c.Kind = arrowipc.Null
	case columns.List:
		c.Kind = arrowipc.List
		in := at.value + 2
		c.Children = []*arrowipc.Column{column("item", k.Elem, leaves, depth+1, level{in, in})}
		c.Buffers = [][]byte{offsets(&leaves[0], depth, at)}
	case columns.Struct:
		c.Kind = arrowipc.Struct
		rest := leaves
		for _, f := range k.Fields {
			n := f.Kind.Count()
			c.Children = append(c.Children, column(f.Name, f.Kind, rest[:n], depth, level{at.place, at.value + 1}))
			rest = rest[n:]
		}
	default:
		of := kinds[k.Of]
		c = &of
		c.Buffers = leaf(k, &leaves[0], depth, at)
	}
	c.Name, c.Nullable = name, true
	c.Rows, c.Missing, c.There = there(&leaves[0], depth, at)
	return c
}

// places calls f for each slot of a value, with whether the value exists.
func places(p *columns.Piece, depth int, at level, f func(i int, there bool)) {
	for i, rep := range p.Rep {
		if int(rep) <= depth && int(p.Def[i]) >= at.place {
			f(i, int(p.Def[i]) > at.value)
		}
	}
}

// there returns the number of slots and of missing values, and the validity bitmap if
// values are missing.
func there(p *columns.Piece, depth int, at level) (n, missing int, bits []byte) {
	places(p, depth, at, func(_ int, there bool) {
		if n%8 == 0 {
			bits = append(bits, 0)
		}
		if there {
			bits[n/8] |= 1 << (n % 8)
		} else {
			missing++
		}
		n++
	})
	if missing == 0 {
		return n, 0, nil
	}
	return n, missing, bits
}

// offsets returns the offsets of lists: where each begins in the elements, and where the
// last one ends.
func offsets(p *columns.Piece, depth int, at level) []byte {
	to, elements := []byte{}, uint32(0)
	for i, rep := range p.Rep {
		if int(rep) <= depth && int(p.Def[i]) >= at.place {
			to = binary.LittleEndian.AppendUint32(to, elements)
		}
		if int(rep) <= depth+1 && int(p.Def[i]) >= at.value+2 {
			elements++
		}
	}
	return binary.LittleEndian.AppendUint32(to, elements)
}

// kinds maps numbers to Arrow types.
var kinds = map[string]arrowipc.Column{
	"int8": {Kind: arrowipc.Int, Size: 8}, "int16": {Kind: arrowipc.Int, Size: 16},
	"int32": {Kind: arrowipc.Int, Size: 32}, "int64": {Kind: arrowipc.Int, Size: 64},
	"uint8": {Kind: arrowipc.Int, Size: 8, Unsigned: true}, "uint16": {Kind: arrowipc.Int, Size: 16, Unsigned: true},
	"uint32": {Kind: arrowipc.Int, Size: 32, Unsigned: true}, "uint64": {Kind: arrowipc.Int, Size: 64, Unsigned: true},
	"float16": {Kind: arrowipc.Float, Size: 16}, "float32": {Kind: arrowipc.Float, Size: 32}, "float64": {Kind: arrowipc.Float, Size: 64},
	"bool": {Kind: arrowipc.Bool}, "string": {Kind: arrowipc.Utf8}, "binary": {Kind: arrowipc.Binary},
	"json": {Kind: arrowipc.Utf8, Extension: "arrow.json"},
}

// leaf returns the buffers of values other than lists. A missing value is stored as
// zeros.
func leaf(k *columns.Kind, p *columns.Piece, depth int, at level) [][]byte {
	switch {
	case k.DType() == 0:
		return texts(p, depth, at)
	case k.DType() == array.Bool:
		return [][]byte{packed(spaced(p, depth, at, 1))}
	}
	return [][]byte{spaced(p, depth, at, k.DType().Word())}
}

// spaced returns values of one size, with gaps for the missing ones.
func spaced(p *columns.Piece, depth int, at level, size int) []byte {
	all, rest := make([]byte, 0, len(p.Def)*size), p.Data
	places(p, depth, at, func(_ int, there bool) {
		if !there {
			all = append(all, make([]byte, size)...)
			return
		}
		all, rest = append(all, rest[:size]...), rest[size:]
	})
	return all
}

// texts returns Arrow's offsets and data of values of variable length.
func texts(p *columns.Piece, depth int, at level) [][]byte {
	offsets := make([]byte, 4, 4*(len(p.Def)+1))
	data, rest := make([]byte, 0, len(p.Data)), p.Data
	places(p, depth, at, func(_ int, there bool) {
		if there {
			n := binary.LittleEndian.Uint32(rest)
			data, rest = append(data, rest[4:][:n]...), rest[4+n:]
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)))
	})
	return [][]byte{offsets, data}
}

// packed packs booleans into bits.
func packed(b []byte) []byte {
	bits := make([]byte, (len(b)+7)/8)
	for i, v := range b {
		bits[i/8] |= v << (i % 8)
	}
	return bits
}

package server

import (
	"slices"

	"github.com/larder-data/larder/loader"
)

// layouts are the layouts that the client knows: the positions of fields in a
// batch.
type layouts struct {
	known [256][]loader.Field
	next  int // number of layouts so far
	last  int
}

// append appends the frame of a layout that the client does not know, and returns
// the number of the layout.
func (l *layouts) append(to []byte, fields []loader.Field) (b []byte, number int, err error) {
	if equal(l.known[l.last], fields) && l.next > 0 {
		return to, l.last, nil
	}
	n := l.next % len(l.known)
	l.next++
	l.known[n], l.last = fields, n
	b, err = appendJSON(to, kindLayout, map[string]any{"layout": n, "fields": layoutsOf(fields)})
	return b, n, err
}

func equal(a, b []loader.Field) bool {
	return slices.EqualFunc(a, b, func(a, b loader.Field) bool {
		return a.Name == b.Name && a.Collation == b.Collation && equalBlock(&a.Block, &b.Block) &&
			equalBlock(a.Lengths, b.Lengths) && equalBlock(a.Offsets, b.Offsets) && equalBlock(a.Shapes, b.Shapes)
	})
}

func equalBlock(a, b *loader.Block) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.DType == b.DType && a.Offset == b.Offset && a.Bytes == b.Bytes && slices.Equal(a.Shape, b.Shape)
}

// fieldLayout is the JSON form of a field.
type fieldLayout struct {
	Name      string           `json:"name"`
	Collation loader.Collation `json:"collation"`
	blockLayout
	Lengths *blockLayout `json:"lengths,omitempty"`
	Offsets *blockLayout `json:"offsets,omitempty"`
	Shapes  *blockLayout `json:"shapes,omitempty"`
}

type blockLayout struct {
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
}

func layoutsOf(fields []loader.Field) []fieldLayout {
	all := make([]fieldLayout, len(fields))
	for i, f := range fields {
		all[i] = fieldLayout{f.Name, f.Collation, *layoutOf(&f.Block), layoutOf(f.Lengths), layoutOf(f.Offsets), layoutOf(f.Shapes)}
	}
	return all
}

func layoutOf(b *loader.Block) *blockLayout {
	if b == nil {
		return nil
	}
	shape := b.Shape
	if shape == nil {
		shape = []int{}
	}
	return &blockLayout{b.DType.String(), shape, b.Offset, b.Bytes}
}

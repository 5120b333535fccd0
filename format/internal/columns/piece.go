package columns

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/called"
)

// A Piece is what values become in a column that is written. The levels are those of Dremel
// (Melnik et al. 2010) that Parquet has: for each value, empty list and nil Rep says how many lists
// it goes on with, and Def how much of what the kind promises is there, from 0 for nil over 1 for
// a list, and one more for each list in it, to Depth+1 for a value.
type Piece struct {
	Rep, Def []byte
	// Data has the values that are there: numbers as they lie in arrays, truth values as bytes,
	// others with their length before them in four bytes; little-endian.
	Data   []byte
	Values int // in Data
}

// Join appends what another piece has.
func (p *Piece) Join(other *Piece) {
	p.Rep, p.Def, p.Data = append(p.Rep, other.Rep...), append(p.Def, other.Def...), append(p.Data, other.Data...)
	p.Values += other.Values
}

// Size is about how many bytes a piece takes.
func (p *Piece) Size() int { return len(p.Data) + len(p.Def) }

// Clear empties a piece, and keeps its memory.
func (p *Piece) Clear() { *p = Piece{Rep: p.Rep[:0], Def: p.Def[:0], Data: p.Data[:0]} }

// maxValue bounds a value, so that what is beside it in a piece can be counted.
const maxValue = 1 << 29

// Append adds an item of a row to a piece; nil where the row does not have it.
func (k Kind) Append(ctx context.Context, to *Piece, it *dataset.Item) error {
	if it == nil {
		to.nothing(0, 0)
		return nil
	}
	v, err := valueOf(ctx, it)
	if err != nil {
		return err
	}
	switch {
	case v == nil && k.Of != "json", v == nil && k.Depth > 0:
		to.nothing(0, 0)
		return nil
	case k.Depth == 0 && k.Of == "json":
		if a, ok := v.(*array.Array); ok && a.DType != array.Complex64 && a.DType != array.Complex128 {
			v = Lists(a) // a document has its numbers
		}
		v, err = dataset.NewItem("json", v).Bytes(ctx)
	case k.Depth == 0 && k.Of == "binary":
		v, err = it.Bytes(ctx)
	}
	if err != nil {
		return err
	}
	if a, ok := v.(*array.Array); ok {
		return k.appendArray(to, a)
	}
	return k.appendList(to, v, 0, 0)
}

// nothing says that there is no more than a level.
func (p *Piece) nothing(rep, def int) {
	p.Rep, p.Def = append(p.Rep, byte(rep)), append(p.Def, byte(def))
}

// appendList adds a value, in lists up to a depth already. The level of what is there is one for
// the column and one for each list.
func (k Kind) appendList(to *Piece, v any, rep, depth int) error {
	if depth == k.Depth {
		data, err := k.one(to.Data, v)
		if err != nil {
			return err
		}
		to.nothing(rep, depth+1)
		to.Data, to.Values = data, to.Values+1
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return k.unfit(v)
	}
	if len(list) == 0 {
		to.nothing(rep, depth+1)
	}
	for _, e := range list {
		if err := k.appendList(to, e, rep, depth+1); err != nil {
			return err
		}
		rep = depth + 1
	}
	return nil
}

func (k Kind) appendArray(to *Piece, a *array.Array) error {
	if a.DType != k.DType() || len(a.Shape) != k.Depth {
		return k.unfit(a)
	}
	n := 1
	for depth, d := range a.Shape {
		if d == 0 {
			if depth > 0 {
				return component.Unfit(fmt.Errorf("it has the shape %v, which lists would not keep", a.Shape))
			}
			to.nothing(0, 1)
			return nil
		}
		n *= d
	}
	for i := range n {
		rep, stride := k.Depth, 1
		for rep > 0 && i%(stride*a.Shape[rep-1]) == 0 {
			rep, stride = rep-1, stride*a.Shape[rep-1]
		}
		to.nothing(rep, k.Depth+1)
	}
	to.Values += n
	to.Data = append(to.Data, a.Data...)
	return nil
}

// one appends a value that is no list.
func (k Kind) one(to []byte, v any) ([]byte, error) {
	little := binary.LittleEndian
	switch v := v.(type) {
	case string:
		if k.Of == "string" {
			if len(v) > maxValue {
				return nil, errLarge
			}
			return append(little.AppendUint32(to, uint32(len(v))), v...), nil
		}
	case []byte:
		if k.Of == "binary" || k.Of == "json" {
			if len(v) > maxValue {
				return nil, errLarge
			}
			return append(little.AppendUint32(to, uint32(len(v))), v...), nil
		}
	case bool:
		if k.Of == "bool" {
			b := byte(0)
			if v {
				b = 1
			}
			return append(to, b), nil
		}
	case int64:
		return k.integer(to, big.NewInt(v))
	case *big.Int:
		return k.integer(to, v)
	case float64:
		switch {
		case k.Of == "float64":
			return little.AppendUint64(to, math.Float64bits(v)), nil
		case k.Of == "float32" && float64(float32(v)) == v:
			return little.AppendUint32(to, math.Float32bits(float32(v))), nil
		}
	}
	return nil, k.unfit(v)
}

func (k Kind) integer(to []byte, v *big.Int) ([]byte, error) {
	if k.Of == "float64" && v.IsInt64() && int64(float64(v.Int64())) == v.Int64() {
		return binary.LittleEndian.AppendUint64(to, math.Float64bits(float64(v.Int64()))), nil
	}
	unsigned := strings.HasPrefix(k.Of, "uint")
	word := k.DType().Word()
	bits := 8 * word
	switch {
	case !unsigned && !strings.HasPrefix(k.Of, "int"),
		unsigned && (v.Sign() < 0 || v.BitLen() > bits),
		!unsigned && (!v.IsInt64() || v.Int64()<<(64-bits)>>(64-bits) != v.Int64()):
		return nil, k.unfit(v)
	}
	number := uint64(v.Int64())
	if unsigned {
		number = v.Uint64()
	}
	return append(to, binary.LittleEndian.AppendUint64(nil, number)[:word]...), nil
}

var errLarge = component.Unfit(fmt.Errorf("it has more than %d bytes, which is more than a value of a column can have", maxValue))

// unfit is the error of a value that a column cannot hold.
func (k Kind) unfit(v any) error {
	return component.Unfit(fmt.Errorf("it is %s, which a column of %v does not hold as it is; convert it before, or say another type, such as types: {ITEM: json}", called.Value(v), k))
}

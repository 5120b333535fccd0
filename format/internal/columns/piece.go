package columns

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// A Piece holds values of a leaf of a written column. The levels are those of Dremel
// (Melnik et al. 2010) in Parquet. Rep is the number of lists that a value continues.
// Def is the number of existing levels around a value: one for each struct, two for each
// list with elements and one for an empty list, and one for the value.
type Piece struct {
	Rep, Def []byte
	// Data has the existing values, little-endian: numbers as in arrays, booleans as bytes,
	// others after their length in four bytes.
	Data   []byte
	Values int // in Data
}

// Join appends another piece.
func (p *Piece) Join(other *Piece) {
	p.Rep, p.Def, p.Data = append(p.Rep, other.Rep...), append(p.Def, other.Def...), append(p.Data, other.Data...)
	p.Values += other.Values
}

// Size estimates the bytes of a piece.
func (p *Piece) Size() int { return len(p.Data) + len(p.Def) }

// Clear empties a piece, and reuses its memory.
func (p *Piece) Clear() { *p = Piece{Rep: p.Rep[:0], Def: p.Def[:0], Data: p.Data[:0]} }

// maxValue bounds a value, so that offsets in a piece cannot overflow.
const maxValue = 1 << 29

// nothing adds levels without a value.
func (p *Piece) nothing(rep, def int) {
	p.Rep, p.Def = append(p.Rep, byte(rep)), append(p.Def, byte(def))
}

// put adds a value to the leaves of a kind. depth is the number of enclosing lists.
func (k *Kind) put(to []Piece, v any, rep, depth, def int) error {
	if v == nil {
		for i := range to {
			to[i].nothing(rep, def)
		}
		return nil
	}
	switch v := v.(type) {
	case *array.Array:
		return k.putArray(&to[0], v, rep, depth, def)
	case []any:
		if k.Of == List {
			return k.putList(to, v, rep, depth, def)
		}
	case map[string]any:
		if k.Of == Struct {
			return k.putStruct(to, v, rep, depth, def)
		}
	}
	if k.Of == List || k.Of == Struct {
		return k.unfit(v)
	}
	data, err := k.one(to[0].Data, v)
	if err != nil {
		return err
	}
	to[0].nothing(rep, def+1)
	to[0].Data, to[0].Values = data, to[0].Values+1
	return nil
}

func (k *Kind) putList(to []Piece, list []any, rep, depth, def int) error {
	if len(list) == 0 {
		for i := range to {
			to[i].nothing(rep, def+1)
		}
	}
	for _, e := range list {
		if err := k.Elem.put(to, e, rep, depth+1, def+2); err != nil {
			return err
		}
		rep = depth + 1
	}
	return nil
}

func (k *Kind) putStruct(to []Piece, object map[string]any, rep, depth, def int) error {
	known := 0
	for _, f := range k.Fields {
		v, ok := object[f.Name]
		if ok {
			known++
		}
		n := f.Kind.Count()
		if err := f.Kind.put(to[:n], v, rep, depth, def+1); err != nil {
			return fmt.Errorf("%s: %w", display.Name(f.Name), err)
		}
		to = to[n:]
	}
	if known < len(object) {
		return k.unfit(object)
	}
	return nil
}

func (k *Kind) putArray(to *Piece, a *array.Array, rep, depth, def int) error {
	leaf, rank := k, 0
	for ; leaf.Of == List; rank++ {
		leaf = leaf.Elem
	}
	if a.DType != leaf.DType() || len(a.Shape) != rank {
		return k.unfit(a)
	}
	n := 1
	for d, length := range a.Shape {
		if length == 0 {
			if d > 0 {
				return component.Unfit(fmt.Errorf("shape %v cannot be stored as lists", a.Shape))
			}
			to.nothing(rep, def+1)
			return nil
		}
		n *= length
	}
	for i := range n {
		at, stride := rank, 1
		for at > 0 && i%(stride*a.Shape[at-1]) == 0 {
			at, stride = at-1, stride*a.Shape[at-1]
		}
		if at += depth; i == 0 {
			at = rep
		}
		to.nothing(at, def+2*rank+1)
	}
	to.Values += n
	to.Data = append(to.Data, a.Data...)
	return nil
}

// one appends a value other than a list.
func (k *Kind) one(to []byte, v any) ([]byte, error) {
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
		case k.Of == "float32" && isSingle(v):
			return little.AppendUint32(to, math.Float32bits(float32(v))), nil
		case k.Of == "float16":
			if b, ok := half(v); ok {
				return little.AppendUint16(to, b), nil
			}
		}
	}
	return nil, k.unfit(v)
}

func (k *Kind) integer(to []byte, v *big.Int) ([]byte, error) {
	if of := k.DType(); of == array.Float16 || of == array.Float32 || of == array.Float64 {
		if v.IsInt64() && holders(v.Int64())&(1<<of) != 0 {
			return k.one(to, float64(v.Int64()))
		}
		return nil, k.unfit(v)
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

var errLarge = component.Unfit(fmt.Errorf("the value exceeds %d bytes; make it smaller", maxValue))

// unfit is the error of a value that a column cannot hold.
func (k *Kind) unfit(v any) error {
	return component.Unfit(fmt.Errorf("%s cannot be stored in a column of %v; convert it first, or set types: {ITEM: json}", display.Value(v), k))
}

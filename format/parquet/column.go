package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/called"
)

// A kind is what a column that is written holds: values of a type, or lists of them.
type kind struct {
	of    string // of types
	depth int    // of lists in lists
}

// A written is a type of values, as it stands in a schema.
type written struct {
	physical, width int
	meaning         meaning
	bits            int
	unsigned        bool
	dtype           array.DType // of numbers
}

var types = map[string]written{
	"bool":    {physical: physBool, dtype: array.Bool},
	"int8":    {physical: physInt32, width: 4, meaning: anInteger, bits: 8, dtype: array.Int8},
	"int16":   {physical: physInt32, width: 4, meaning: anInteger, bits: 16, dtype: array.Int16},
	"int32":   {physical: physInt32, width: 4, dtype: array.Int32},
	"int64":   {physical: physInt64, width: 8, dtype: array.Int64},
	"uint8":   {physical: physInt32, width: 4, meaning: anInteger, bits: 8, unsigned: true, dtype: array.Uint8},
	"uint16":  {physical: physInt32, width: 4, meaning: anInteger, bits: 16, unsigned: true, dtype: array.Uint16},
	"uint32":  {physical: physInt32, width: 4, meaning: anInteger, bits: 32, unsigned: true, dtype: array.Uint32},
	"uint64":  {physical: physInt64, width: 8, meaning: anInteger, bits: 64, unsigned: true, dtype: array.Uint64},
	"float16": {physical: physFixed, width: 2, meaning: aHalf, dtype: array.Float16},
	"float32": {physical: physFloat, width: 4, dtype: array.Float32},
	"float64": {physical: physDoub, width: 8, dtype: array.Float64},
	"string":  {physical: physBytes, meaning: aText},
	"binary":  {physical: physBytes},
	"json":    {physical: physBytes, meaning: aDocument},
}

func (k kind) String() string {
	return strings.Repeat("list<", k.depth) + k.of + strings.Repeat(">", k.depth)
}

// parseKind reads what String writes.
func parseKind(text string) (k kind, err error) {
	k.of = text
	for strings.HasPrefix(k.of, "list<") && strings.HasSuffix(k.of, ">") {
		k.of = k.of[len("list<") : len(k.of)-1]
		k.depth++
	}
	if _, ok := types[k.of]; !ok || k.depth > 16 {
		return k, fmt.Errorf("%q is no type of a column; there are bool, int8 to int64, uint8 to uint64, float16, float32, float64, string, binary, json, and list<...> of them", text)
	}
	return k, nil
}

// kindOf returns what a column must hold to hold a value; false for nil, which all hold.
func kindOf(v any) (k kind, ok bool) {
	switch v := v.(type) {
	case nil:
		return k, false
	case bool:
		k.of = "bool"
	case int64:
		k.of = "int64"
	case float64:
		k.of = "float64"
	case string:
		k.of = "string"
	case []byte:
		k.of = "binary"
	case *array.Array:
		for name, t := range types {
			if t.dtype == v.DType {
				return kind{name, len(v.Shape)}, true
			}
		}
		k.of = "binary" // of numbers that no column has, the file that they would be
	default:
		k.of = "json"
	}
	return k, true
}

// valueOf returns the value of an item that goes into a column: decoded if it is a document, a
// text or an array, and else its bytes.
func valueOf(ctx context.Context, it *dataset.Item) (any, error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	switch dataset.FormatOf(ext) {
	case "json", "yaml", "txt", "npy":
		return it.Value(ctx)
	}
	return it.Bytes(ctx)
}

// A piece is what a value becomes in a column: levels, and the bytes of what is there.
type piece struct {
	rep, def []byte
	data     []byte // in the encoding PLAIN, but truth values take a byte each
	values   int    // in data
}

// append adds the value of a row to a piece.
func (k kind) append(ctx context.Context, to *piece, it *dataset.Item) error {
	if it == nil {
		to.nothing(0, 0)
		return nil
	}
	v, err := valueOf(ctx, it)
	if err != nil {
		return err
	}
	switch {
	case v == nil && k.of != "json", v == nil && k.depth > 0:
		to.nothing(0, 0)
		return nil
	case k.depth == 0 && k.of == "json":
		v, err = dataset.NewItem("json", v).Bytes(ctx)
	case k.depth == 0 && k.of == "binary":
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
func (p *piece) nothing(rep, def int) {
	p.rep, p.def = append(p.rep, byte(rep)), append(p.def, byte(def))
}

// appendList adds a value, in lists up to a depth already. The level of what is there is one for
// the column and one for each list.
func (k kind) appendList(to *piece, v any, rep, depth int) error {
	if depth == k.depth {
		data, err := k.one(to.data, v)
		if err != nil {
			return err
		}
		to.nothing(rep, depth+1)
		to.data, to.values = data, to.values+1
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

func (k kind) appendArray(to *piece, a *array.Array) error {
	t := types[k.of]
	if a.DType != t.dtype || len(a.Shape) != k.depth {
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
		rep, stride := k.depth, 1
		for rep > 0 && i%(stride*a.Shape[rep-1]) == 0 {
			rep, stride = rep-1, stride*a.Shape[rep-1]
		}
		to.nothing(rep, k.depth+1)
	}
	to.values += n
	word := t.dtype.Word()
	if word >= t.width {
		to.data = append(to.data, a.Data...)
		return nil
	}
	for i := range n { // small numbers lie in larger ones, with their signs
		to.data = binary.LittleEndian.AppendUint32(to.data, widened(t, a.Data[i*word:]))
	}
	return nil
}

func widened(t written, b []byte) uint32 {
	switch t.dtype {
	case array.Int8:
		return uint32(int32(int8(b[0])))
	case array.Int16:
		return uint32(int32(int16(binary.LittleEndian.Uint16(b))))
	case array.Uint16:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return uint32(b[0])
}

// one appends a value that is no list.
func (k kind) one(to []byte, v any) ([]byte, error) {
	t := types[k.of]
	little := binary.LittleEndian
	switch v := v.(type) {
	case string:
		if k.of == "string" {
			return append(little.AppendUint32(to, uint32(len(v))), v...), nil
		}
	case []byte:
		if k.of == "binary" || k.of == "json" {
			if len(v) > maxPage/2 {
				return nil, component.Unfit(errors.New("it is larger than a value can be"))
			}
			return append(little.AppendUint32(to, uint32(len(v))), v...), nil
		}
	case bool:
		if k.of == "bool" {
			b := byte(0)
			if v {
				b = 1
			}
			return append(to, b), nil
		}
	case int64:
		return k.integer(to, t, big.NewInt(v))
	case *big.Int:
		return k.integer(to, t, v)
	case float64:
		switch {
		case k.of == "float64":
			return little.AppendUint64(to, math.Float64bits(v)), nil
		case k.of == "float32" && float64(float32(v)) == v:
			return little.AppendUint32(to, math.Float32bits(float32(v))), nil
		}
	}
	return nil, k.unfit(v)
}

func (k kind) integer(to []byte, t written, v *big.Int) ([]byte, error) {
	little := binary.LittleEndian
	if k.of == "float64" && v.IsInt64() && int64(float64(v.Int64())) == v.Int64() {
		return little.AppendUint64(to, math.Float64bits(float64(v.Int64()))), nil
	}
	bits := 8 * t.dtype.Word()
	switch {
	case t.physical != physInt32 && t.physical != physInt64,
		t.unsigned && (v.Sign() < 0 || v.BitLen() > bits),
		!t.unsigned && (!v.IsInt64() || v.Int64()<<(64-bits)>>(64-bits) != v.Int64()):
		return nil, k.unfit(v)
	}
	word := uint64(v.Int64())
	if t.unsigned {
		word = v.Uint64()
	}
	if t.width == 4 {
		return little.AppendUint32(to, uint32(word)), nil
	}
	return little.AppendUint64(to, word), nil
}

// unfit is the error of a value that a column cannot hold.
func (k kind) unfit(v any) error {
	return component.Unfit(fmt.Errorf("it is %s, which a column of %v does not hold as it is; convert it before, or say another type, such as types: {ITEM: json}", called.Value(v), k))
}

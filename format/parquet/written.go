package parquet

import (
	"encoding/binary"
	"math/bits"

	"github.com/larder-data/larder/array"
)

// A written is the schema type of written values.
type written struct {
	physical, width int
	meaning         meaning
	bits            int
	unsigned        bool
}

// types are the types that columns may have, by name.
var types = map[string]written{
	"bool":    {physical: physBool},
	"int8":    {physical: physInt32, width: 4, meaning: anInteger, bits: 8},
	"int16":   {physical: physInt32, width: 4, meaning: anInteger, bits: 16},
	"int32":   {physical: physInt32, width: 4},
	"int64":   {physical: physInt64, width: 8},
	"uint8":   {physical: physInt32, width: 4, meaning: anInteger, bits: 8, unsigned: true},
	"uint16":  {physical: physInt32, width: 4, meaning: anInteger, bits: 16, unsigned: true},
	"uint32":  {physical: physInt32, width: 4, meaning: anInteger, bits: 32, unsigned: true},
	"uint64":  {physical: physInt64, width: 8, meaning: anInteger, bits: 64, unsigned: true},
	"float16": {physical: physFixed, width: 2, meaning: aHalf},
	"float32": {physical: physFloat, width: 4},
	"float64": {physical: physDoub, width: 8},
	"string":  {physical: physBytes, meaning: aText},
	"binary":  {physical: physBytes},
	"json":    {physical: physBytes, meaning: aDocument},
	"null":    {physical: physInt32, meaning: nothing},
}

// converted returns the older converted type; -1 for none.
func (t written) converted() int {
	switch {
	case t.meaning == aText:
		return 0
	case t.meaning == aDocument:
		return 19
	case t.meaning == anInteger && t.unsigned:
		return 11 + bits.TrailingZeros(uint(t.bits/8))
	case t.meaning == anInteger:
		return 15 + bits.TrailingZeros(uint(t.bits/8))
	}
	return -1
}

func (t written) logical(e *writing) {
	empty := func(*writing) {}
	switch t.meaning {
	case aText:
		e.group(1, empty)
	case anInteger:
		e.group(10, func(e *writing) {
			e.i8(1, byte(t.bits))
			e.bool(2, !t.unsigned)
		})
	case nothing:
		e.group(11, empty)
	case aDocument:
		e.group(12, empty)
	case aHalf:
		e.group(15, empty)
	}
}

// plain returns values in the encoding PLAIN: booleans as bits, and small integers in
// larger ones, with their signs.
func (t written) plain(data []byte, of array.DType) []byte {
	switch word := of.Word(); {
	case of == array.Bool:
		return packBits(data)
	case t.meaning == anInteger && word < t.width:
		wide := make([]byte, 0, len(data)/word*t.width)
		for i := 0; i < len(data); i += word {
			wide = binary.LittleEndian.AppendUint32(wide, widened(of, data[i:]))
		}
		return wide
	}
	return data
}

func widened(of array.DType, b []byte) uint32 {
	switch of {
	case array.Int8:
		return uint32(int32(int8(b[0])))
	case array.Int16:
		return uint32(int32(int16(binary.LittleEndian.Uint16(b))))
	case array.Uint16:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return uint32(b[0])
}

// packBits packs booleans, eight in a byte.
func packBits(b []byte) []byte {
	packed := make([]byte, (len(b)+7)/8)
	for i, v := range b {
		packed[i/8] |= v << (i % 8)
	}
	return packed
}

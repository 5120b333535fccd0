package array

import (
	"encoding/binary"
	"math"
)

// Scalar returns the element of an array without dimensions: a bool, an int64, a uint64
// or a float64. ok is false for other arrays, and for complex numbers.
func (a Array) Scalar() (v any, ok bool) {
	if len(a.Shape) > 0 || a.Validate() != nil {
		return nil, false
	}
	var word [8]byte
	copy(word[:], a.Data)
	bits := binary.LittleEndian.Uint64(word[:])
	switch a.DType {
	case Bool:
		return bits != 0, true
	case Uint8, Uint16, Uint32, Uint64:
		return bits, true
	case Int8, Int16, Int32, Int64:
		unused := 64 - 8*a.DType.Size()
		return int64(bits<<unused) >> unused, true
	case Float16:
		return Half(bits).Float64(), true
	case BFloat16:
		return float64(math.Float32frombits(uint32(bits) << 16)), true
	case Float32:
		return float64(math.Float32frombits(uint32(bits))), true
	case Float64:
		return math.Float64frombits(bits), true
	}
	return nil, false
}

// Float64 returns the number.
func (h Half) Float64() float64 {
	exponent, fraction := int(h>>10&0x1f), float64(h&0x3ff)
	v := math.Ldexp(fraction+1024, exponent-25)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}

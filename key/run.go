package key

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Bit patterns of the one NaN that stands for all, and of infinity, above
// which (without the sign) there are only NaNs.
const (
	nan32 = 0x7fc00000
	inf32 = 0x7f800000
	nan64 = 0x7ff8000000000000
	inf64 = 0x7ff0000000000000
)

func (e *encoder) float32(f float32) {
	if f != f {
		e.uint32(nan32)
		return
	}
	e.uint32(math.Float32bits(f))
}

func (e *encoder) float64(f float64) {
	if f != f {
		e.uint64(nan64)
		return
	}
	e.uint64(math.Float64bits(f))
}

// pieceBytes is how much of a run is looked through for NaNs before it is
// hashed: it stays in the processor's cache in between.
const pieceBytes = 32 << 10

// run encodes n bytes of memory whose layout is that of their encoding, but
// for NaNs.
func (e *encoder) run(l layout, p unsafe.Pointer, n uintptr) {
	b := unsafe.Slice((*byte)(p), n)
	if l == plainBytes {
		e.raw(b)
		return
	}
	for len(b) > 0 {
		piece := b[:min(len(b), pieceBytes)]
		b = b[len(piece):]
		if l == float32s {
			e.floats32(piece)
		} else {
			e.floats64(piece)
		}
	}
}

func (e *encoder) floats32(b []byte) {
	const lanes = 1 | 1<<32
	if !nanIn(b, inf32*lanes, 1<<31*lanes) {
		e.raw(b)
		return
	}
	for ; len(b) > 0; b = b[4:] {
		e.float32(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	e.spill()
}

func (e *encoder) floats64(b []byte) {
	if !nanIn(b, inf64, 1<<63) {
		e.raw(b)
		return
	}
	for ; len(b) > 0; b = b[8:] {
		e.float64(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	e.spill()
}

// nanIn reports whether one of the floats in b is a NaN, for two floats of 32
// bits or one of 64 in each word. It has no branch in its loop: it collects the
// signs of infinity minus the float without its sign. Of two floats only a NaN
// in the lower one borrows from the upper one, and then the answer is known.
func nanIn(b []byte, inf, sign uint64) bool {
	var found uint64
	for ; len(b) >= 32; b = b[32:] {
		found |= (inf - binary.LittleEndian.Uint64(b)&^sign) |
			(inf - binary.LittleEndian.Uint64(b[8:])&^sign) |
			(inf - binary.LittleEndian.Uint64(b[16:])&^sign) |
			(inf - binary.LittleEndian.Uint64(b[24:])&^sign)
	}
	for ; len(b) >= 8; b = b[8:] {
		found |= inf - binary.LittleEndian.Uint64(b)&^sign
	}
	if len(b) > 0 {
		found |= inf - uint64(binary.LittleEndian.Uint32(b))&^sign
	}
	return found&sign != 0
}

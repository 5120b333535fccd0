package key

import (
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
	if l == plainBytes {
		e.raw(unsafe.Slice((*byte)(p), n))
		return
	}
	for n > 0 {
		m := min(n, pieceBytes)
		if l == float32s {
			e.floats32(unsafe.Slice((*float32)(p), m/4))
		} else {
			e.floats64(unsafe.Slice((*float64)(p), m/8))
		}
		n -= m
		if n > 0 { // a pointer past the end would keep another object alive
			p = unsafe.Add(p, m)
		}
	}
}

func (e *encoder) floats32(fs []float32) {
	if !nanIn32(fs) {
		e.raw(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(fs))), 4*len(fs)))
		return
	}
	for _, f := range fs {
		e.float32(f)
	}
	e.spill()
}

func (e *encoder) floats64(fs []float64) {
	if !nanIn64(fs) {
		e.raw(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(fs))), 8*len(fs)))
		return
	}
	for _, f := range fs {
		e.float64(f)
	}
	e.spill()
}

// nanIn32 has no branch in its loop: it collects the sign of infinity minus
// each element.
func nanIn32(fs []float32) bool {
	var sign uint32
	for _, u := range unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(fs))), len(fs)) {
		sign |= inf32 - u&(1<<31-1)
	}
	return sign>>31 != 0
}

func nanIn64(fs []float64) bool {
	var sign uint64
	for _, u := range unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(fs))), len(fs)) {
		sign |= inf64 - u&(1<<63-1)
	}
	return sign>>63 != 0
}

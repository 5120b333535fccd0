package loader

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/larder-data/larder/array"
)

// converted reports whether elements of a type can be converted.
func converted(d array.DType) bool {
	return d >= array.Bool && d <= array.Int64 || d == array.Float32 || d == array.Float64
}

// A conversion computes the elements of a field from those of its items.
type conversion struct {
	from, to        array.DType
	scale           float64
	mean, deviation []float64 // by channel; a single one applies to all
	computes        bool
	channels        int // number of interleaved channels
	table           [][256]float32
}

// conversionOf returns the conversion of a field for an element type and a
// number of channels.
func conversionOf(f *FieldOptions, from array.DType, channels int) (*conversion, error) {
	c := &conversion{from: from, to: from, scale: 1, mean: f.Mean, deviation: f.Deviation, computes: f.computes(), channels: max(1, channels)}
	if !f.converts() {
		return c, nil
	}
	if !converted(from) {
		return nil, fmt.Errorf("elements are %v, which cannot be converted", from)
	}
	if f.Scale != 0 {
		c.scale = f.Scale
	}
	if c.to = f.DType; c.to == 0 {
		c.to = array.Float32
	}
	for _, list := range [][]float64{c.mean, c.deviation} {
		if len(list) > 1 && len(list) != channels {
			return nil, fmt.Errorf("mean or deviation has %d numbers, and there are %d channels", len(list), channels)
		}
	}
	if len(c.mean) <= 1 && len(c.deviation) <= 1 {
		c.channels = 1
	}
	if from == array.Uint8 && c.to == array.Float32 {
		c.tabulate()
	}
	return c, nil
}

// tabulate computes the result of each byte, unless some result does not fit,
// because that byte may not occur.
func (c *conversion) tabulate() {
	c.table = make([][256]float32, c.channels)
	for k := range c.table {
		for x := range 256 {
			c.table[k][x] = float32(c.compute(float64(x), k))
			if math.IsInf(float64(c.table[k][x]), 0) {
				c.table = nil
				return
			}
		}
	}
}

func (c *conversion) same() bool { return c.from == c.to && !c.computes }

func (c *conversion) compute(x float64, channel int) float64 {
	if !c.computes {
		return x
	}
	x *= c.scale
	if len(c.mean) > 0 {
		x -= c.mean[channel%len(c.mean)]
	}
	if len(c.deviation) > 0 {
		x /= c.deviation[channel%len(c.deviation)]
	}
	return x
}

// run converts all of dst from every step-th element of src. The first belongs
// to the given channel, and each further one to the channel turn further.
func (c *conversion) run(dst, src []byte, step, channel, turn int) error {
	switch {
	case c.same() && step == 1:
		copy(dst, src)
		return nil
	case c.same():
		gather(dst, src, c.from.Size(), step)
		return nil
	case c.table != nil:
		c.look(dst, src, step, channel, turn)
		return nil
	}
	return c.runSlowly(dst, src, step, channel, turn)
}

func gather(dst, src []byte, size, step int) {
	if size == 1 {
		for i, at := 0, 0; i < len(dst); i, at = i+1, at+step {
			dst[i] = src[at]
		}
		return
	}
	for i, at := 0, 0; i < len(dst); i, at = i+size, at+step*size {
		copy(dst[i:i+size], src[at:])
	}
}

func (c *conversion) look(dst, src []byte, step, channel, turn int) {
	if turn == 0 || c.channels == 1 {
		t := &c.table[channel%c.channels]
		for i, at := 0, 0; i+4 <= len(dst); i, at = i+4, at+step {
			binary.LittleEndian.PutUint32(dst[i:i+4], math.Float32bits(t[src[at]]))
		}
		return
	}
	k := channel % c.channels
	for i, at := 0, 0; i+4 <= len(dst); i, at = i+4, at+step {
		binary.LittleEndian.PutUint32(dst[i:i+4], math.Float32bits(c.table[k][src[at]]))
		if k += turn; k >= c.channels {
			k -= c.channels
		}
	}
}

// runSlowly converts element by element: integers to integers directly, all
// others as float64.
func (c *conversion) runSlowly(dst, src []byte, step, channel, turn int) error {
	in, out := c.from.Size(), c.to.Size()
	whole := !c.computes && c.from < array.Float16 && c.to < array.Float16
	for i, at, k := 0, 0, channel; i < len(dst); i, at, k = i+out, at+step*in, k+turn {
		if whole {
			v := loadWhole(src[at:], c.from)
			if !v.store(dst[i:], c.to) {
				return fmt.Errorf("the number %v does not fit %v", v, c.to)
			}
			continue
		}
		v := c.compute(load(src[at:], c.from), k%c.channels)
		if !store(dst[i:], c.to, v) {
			return fmt.Errorf("the number %v does not fit %v", v, c.to)
		}
	}
	return nil
}

// A wholeNumber is a 64-bit integer, signed or unsigned.
type wholeNumber struct {
	bits     uint64
	negative bool
}

func (w wholeNumber) String() string {
	if w.negative {
		return fmt.Sprint(int64(w.bits))
	}
	return fmt.Sprint(w.bits)
}

func loadWhole(b []byte, d array.DType) wholeNumber {
	le := binary.LittleEndian
	signed := func(v int64) wholeNumber { return wholeNumber{uint64(v), v < 0} }
	switch d {
	case array.Uint16:
		return wholeNumber{uint64(le.Uint16(b)), false}
	case array.Uint32:
		return wholeNumber{uint64(le.Uint32(b)), false}
	case array.Uint64:
		return wholeNumber{le.Uint64(b), false}
	case array.Int8:
		return signed(int64(int8(b[0])))
	case array.Int16:
		return signed(int64(int16(le.Uint16(b))))
	case array.Int32:
		return signed(int64(int32(le.Uint32(b))))
	case array.Int64:
		return signed(int64(le.Uint64(b)))
	}
	return wholeNumber{uint64(b[0]), false} // bool, uint8
}

// store writes the number, if it fits.
func (w wholeNumber) store(b []byte, d array.DType) bool {
	bits := uint(8 * d.Size())
	switch {
	case d == array.Bool && w.bits > 1,
		d >= array.Uint8 && d <= array.Uint64 && (w.negative || w.bits>>(bits-1)>>1 != 0),
		d >= array.Int8 && w.negative && int64(w.bits) < -1<<(bits-1),
		d >= array.Int8 && !w.negative && w.bits > 1<<(bits-1)-1:
		return false
	}
	putBits(b, w.bits, d.Size())
	return true
}

func putBits(b []byte, bits uint64, size int) {
	for i := range size {
		b[i] = byte(bits >> (8 * i))
	}
}

func load(b []byte, d array.DType) float64 {
	switch d {
	case array.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case array.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	if w := loadWhole(b, d); w.negative {
		return float64(int64(w.bits))
	} else {
		return float64(w.bits)
	}
}

// store writes a number as an element of a type, if the type can represent it.
func store(b []byte, d array.DType, v float64) bool {
	switch d {
	case array.Float32:
		narrow := float32(v)
		binary.LittleEndian.PutUint32(b, math.Float32bits(narrow))
		return !math.IsInf(float64(narrow), 0) || math.IsInf(v, 0)
	case array.Float64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(v))
		return true
	}
	if v != math.Trunc(v) || v < -1<<63 || v >= 1<<64 {
		return false
	}
	if v < 0 {
		return wholeNumber{uint64(int64(v)), true}.store(b, d)
	}
	return wholeNumber{uint64(v), false}.store(b, d)
}

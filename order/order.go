// Package order provides orders, the sequences in which the elements of a source are
// read. An [Order] maps positions to indices and can be inverted. So reading can resume
// at any position, and the next read of an element is known without a list of future
// reads.
//
// Orders are data, not closures: they can be printed and compared, and need little
// memory. Numbers of elements are 64-bit ints; sizes up to 10^12 are in use.
package order

import (
	"fmt"
	"math"
	"math/bits"
)

// An Order is a sequence of indices. Orders are immutable and safe for concurrent use.
type Order interface {
	// Len returns the number of positions.
	Len() int
	// At returns the index at a position in [0, Len()). It panics for other positions,
	// as a slice does.
	At(pos int) int
	// Next returns the first position after the given one at which an index is read;
	// after is -1 to search from the start. ok is false if it is not read again.
	Next(index, after int) (pos int, ok bool)
}

func checkPos(pos, n int) {
	if uint(pos) >= uint(n) {
		panic(fmt.Sprintf("order: position %d of %d", pos, n))
	}
}

// Resolve returns the index that Python's x[index] reads of n elements: a negative one
// counts from the end. An index out of range is an error.
func Resolve(n, index int) (int, error) {
	if index < -n || index >= n {
		return 0, fmt.Errorf("index %d is out of range for %d elements", index, n)
	}
	if index < 0 {
		index += n
	}
	return index, nil
}

// Identity returns the order of n elements as they are.
func Identity(n int) Order { return Affine{Start: 0, Step: 1, N: n} }

// Reverse returns the order of n elements from the last to the first.
func Reverse(n int) Order { return Affine{Start: n - 1, Step: -1, N: n} }

// Affine is the order Start, Start+Step, Start+2*Step and so on, with N positions. Step
// is not 0 unless N is 0.
type Affine struct{ Start, Step, N int }

// Len implements Order.
func (a Affine) Len() int { return a.N }

// OncePerPass implements Passes.
func (Affine) OncePerPass() bool { return true }

// At implements Order.
func (a Affine) At(pos int) int {
	checkPos(pos, a.N)
	return a.Start + pos*a.Step
}

// Next implements Order.
func (a Affine) Next(index, after int) (int, bool) {
	if a.N == 0 || (index-a.Start)%a.Step != 0 {
		return 0, false
	}
	pos := (index - a.Start) / a.Step
	return pos, pos > after && pos >= 0 && pos < a.N
}

// Slice selects positions of n elements exactly as Python's x[start:stop:step] does;
// nil omits a bound.
func Slice(n int, start, stop, step *int) (Order, error) {
	by := 1
	if step != nil {
		by = *step
	}
	if by == 0 {
		return nil, fmt.Errorf("the step of a slice is 0; give another integer")
	}
	low, high := 0, n // bounds of a position
	from, to := 0, n
	if by < 0 {
		low, high = -1, n-1
		from, to = n-1, -1
	}
	clip := func(p *int, missing int) int {
		if p == nil {
			return missing
		}
		v := *p
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	from, to = clip(start, from), clip(stop, to)
	count := 0
	if by > 0 && to > from {
		count = (to-from-1)/by + 1
	}
	if by < 0 && from > to {
		count = int(uint(from-to-1)/(-uint(by))) + 1
	}
	return Affine{Start: from, Step: by, N: count}, nil
}

// Repeat returns n elements times times. For a fraction the first elements come once
// more: 2.5 times 4 elements are two passes and the first 2. Half an element is rounded
// up.
func Repeat(n int, times float64) (Order, error) {
	total, err := repeated(n, times)
	if err != nil {
		return nil, err
	}
	return cycled{N: n, Total: total}, nil
}

// repeated returns n*times, rounded.
func repeated(n int, times float64) (int, error) {
	if !(times >= 0) || times > maxPositions {
		return 0, fmt.Errorf("cannot repeat %v times; give 0 to %d", times, int64(maxPositions))
	}
	whole, part := math.Modf(times)
	total, err := product(n, int(whole))
	if err != nil {
		return 0, err
	}
	more := int(math.Round(part * float64(n)))
	if more > maxPositions-total {
		return 0, fmt.Errorf("%v times %d positions exceed the limit", times, n)
	}
	return total + more, nil
}

// Cycle repeats n elements up to total positions.
func Cycle(n, total int) (Order, error) {
	if total < 0 {
		return nil, fmt.Errorf("cannot return %d positions; give 0 or more", total)
	}
	if n == 0 && total > 0 {
		return nil, fmt.Errorf("an empty dataset cannot fill %d positions; give one with samples", total)
	}
	return cycled{N: n, Total: total}, nil
}

type cycled struct{ N, Total int }

// Len implements Order.
func (c cycled) Len() int { return c.Total }

// OncePerPass implements Passes.
func (cycled) OncePerPass() bool { return true }

// At implements Order.
func (c cycled) At(pos int) int {
	checkPos(pos, c.Total)
	return pos % c.N
}

// Next implements Order.
func (c cycled) Next(index, after int) (int, bool) {
	if index < 0 || index >= c.N {
		return 0, false
	}
	pos := index
	if after >= index {
		pos += ((after-index)/c.N + 1) * c.N
	}
	return pos, pos < c.Total
}

// RepeatEach returns n elements, each times times in a row. For a fraction the first
// elements come once more, so that each comes as often as in [Repeat].
func RepeatEach(n int, times float64) (Order, error) {
	total, err := repeated(n, times)
	if err != nil || n == 0 {
		return each{}, err
	}
	return each{N: n, Times: total / n, More: total % n}, nil
}

// each is N elements in their order, each Times times in a row, and the first More of
// them once more.
type each struct{ N, Times, More int }

// Len implements Order.
func (e each) Len() int { return e.N*e.Times + e.More }

// At implements Order.
func (e each) At(pos int) int {
	checkPos(pos, e.Len())
	if long := e.More * (e.Times + 1); pos >= long {
		return e.More + (pos-long)/e.Times
	}
	return pos / (e.Times + 1)
}

// Next implements Order.
func (e each) Next(index, after int) (int, bool) {
	if index < 0 || index >= e.N {
		return 0, false
	}
	start := func(index int) int { return index*e.Times + min(index, e.More) }
	pos := max(start(index), after+1)
	return pos, pos < start(index+1)
}

// Passes is an Order that may read its elements in passes.
type Passes interface {
	Order
	// OncePerPass reports whether each pass has each element once. The last pass may be
	// shorter if all passes have one order.
	OncePerPass() bool
}

// OncePerPass reports whether an order is known to read each of its elements once per
// pass, because its [Passes] says so.
func OncePerPass(o Order) bool {
	p, ok := o.(Passes)
	return ok && p.OncePerPass()
}

// maxPositions exceeds the length of any order.
const maxPositions = math.MaxInt >> 1

// product returns a*b, or an error if an int cannot hold it.
func product(a, b int) (int, error) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > maxPositions {
		return 0, fmt.Errorf("%d times %d positions exceed the limit", b, a)
	}
	return int(low), nil
}

// Then composes two orders: at each position it has the element that inner has at
// outer's index. Next takes as many steps as outer uses one inner position before the
// position sought.
func Then(outer, inner Order) Order {
	if a, ok := inner.(Affine); ok && a.Start == 0 && a.Step == 1 {
		return outer
	}
	if outer == Identity(inner.Len()) {
		return inner
	}
	if a, ok := outer.(Affine); ok {
		switch in := inner.(type) {
		case Affine:
			return a.of(in)
		case composed:
			if b, ok := in.outer.(Affine); ok {
				return composed{a.of(b), in.inner}
			}
		}
	}
	return composed{outer, inner}
}

// of composes a with b: a selects positions of b.
func (a Affine) of(b Affine) Affine {
	if a.N <= 1 {
		return Affine{Start: b.Start + b.Step*a.Start, Step: 1, N: a.N} // its step may not fit into an int
	}
	return Affine{Start: b.Start + b.Step*a.Start, Step: b.Step * a.Step, N: a.N}
}

type composed struct{ outer, inner Order }

func (c composed) Len() int       { return c.outer.Len() }
func (c composed) At(pos int) int { return c.inner.At(c.outer.At(pos)) }

func (c composed) Next(index, after int) (pos int, ok bool) {
	// Step by step: a recursive Next would query its inner order twice.
	layers := []Order{c.outer}
	inner := c.inner
	for in, ok := inner.(composed); ok; in, ok = inner.(composed) {
		layers, inner = append(layers, in.outer), in.inner
	}
	return nextOf(append(layers, inner), index, after)
}

// nextOf is Next of composed orders, each over the positions of the one after it.
func nextOf(layers []Order, index, after int) (best int, ok bool) {
	last := len(layers) - 1
	if last == 0 {
		return layers[0].Next(index, after)
	}
	for at, found := layers[last].Next(index, -1); found; at, found = layers[last].Next(index, at) {
		if pos, read := nextOf(layers[:last], at, after); read && (!ok || pos < best) {
			best, ok = pos, true
		}
	}
	return best, ok
}

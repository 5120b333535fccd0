package stream

import (
	"context"
	"errors"
	"io"
	"slices"
)

// positions returns which elements of the input a shuffle holds, by buffer position,
// after the given number of them were returned. hole is the position to be filled next, or -1.
// total is 1 + the number of input elements if the end was seen, and 0 otherwise.
func (u *shuffleNode[T]) positions(made, total uint64) (at []uint64, hole int) {
	size := uint64(u.size)
	steady := made // number of draws from a full buffer, or the last with a hole
	if total > 0 {
		n := total - 1
		size = min(size, n)
		steady = min(made, n-size+1) // the hole of the last draw was not filled
	}
	at = make([]uint64, size)
	if n := total - 1; total > 0 && n < uint64(u.size) {
		steady = 0
	}
	u.refilled(at, steady)
	if hole = -1; steady > 0 {
		hole = u.draw(steady-1, len(at))
	}
	for k := steady; k < made; k++ {
		if hole >= 0 {
			at = remove(at, hole)
		}
		hole = u.draw(k, len(at))
	}
	return at, hole
}

func remove(at []uint64, i int) []uint64 {
	at[i] = at[len(at)-1]
	return at[:len(at)-1]
}

// refilled computes the element at each position after drawn draws from a full buffer,
// the last of which has not been replaced. It goes back from there to the last element
// stored at each position, or the initial one.
func (u *shuffleNode[T]) refilled(at []uint64, drawn uint64) {
	found := make([]bool, len(at))
	left := len(at)
	for k := int64(drawn) - 2; k >= 0 && left > 0; k-- {
		if j := u.draw(uint64(k), len(at)); !found[j] {
			found[j], at[j] = true, uint64(len(at))+uint64(k)
			left--
		}
	}
	for j, ok := range found {
		if !ok {
			at[j] = uint64(j)
		}
	}
}

// restore reads the elements of the buffer again.
func (c *shuffleCursor[T]) restore(ctx context.Context) error {
	if c.total > 0 && (c.made > c.total-1) {
		return errBeyond
	}
	at, hole := c.of.positions(c.made, c.total)
	c.buffer, c.hole = make([]held[T], len(at)), hole
	places := make(map[uint64]int, len(at))
	for i, p := range at {
		c.buffer[i].at = p
		if i != hole {
			places[p] = i
		}
	}
	end := c.made + uint64(c.of.size) - 1 // as many as have been read
	if c.total > 0 {
		end = c.total - 1
	}
	if len(at) > 0 && slices.Min(at) < c.in.n {
		return errMarks
	}
	for c.in.n < end {
		e, err := c.read(ctx)
		if errors.Is(err, io.EOF) {
			return errBeyond
		}
		if err != nil {
			return err
		}
		if i, ok := places[e.at]; ok {
			c.buffer[i] = e
		}
	}
	c.age()
	return nil
}

package order

import "fmt"

// Pad is n elements in their order, and after them the one at index with, as
// often as it takes to have total positions. with is as Python has it: -1 is
// the last element. A total below n, or elements out of nothing, are errors.
func Pad(n, total, with int) (Order, error) {
	if total < n {
		return nil, fmt.Errorf("%d elements do not fit in %d positions", n, total)
	}
	if n == 0 && total == 0 {
		return padded{}, nil
	}
	with, err := Resolve(n, with)
	if err != nil {
		return nil, fmt.Errorf("the element to pad with: %w", err)
	}
	return padded{N: n, Total: total, With: with}, nil
}

// padded is N elements in their order, and after them the one at With up to
// Total positions.
type padded struct{ N, Total, With int }

// Len implements Order.
func (p padded) Len() int { return p.Total }

// At implements Order.
func (p padded) At(pos int) int {
	checkPos(pos, p.Total)
	if pos < p.N {
		return pos
	}
	return p.With
}

// Next implements Order.
func (p padded) Next(index, after int) (int, bool) {
	switch {
	case index < 0 || index >= p.N:
		return 0, false
	case index > after:
		return index, true
	case index != p.With:
		return 0, false
	}
	pos := max(p.N, after+1)
	return pos, pos < p.Total
}

package order

import "fmt"

// Pad returns n elements in their order, followed by the element at index with up to
// total positions. with is as in Python: -1 is the last element. Pad returns an error
// for a total below n, and if n is 0 but total is not.
func Pad(n, total, with int) (Order, error) {
	if total < n {
		return nil, fmt.Errorf("%d elements exceed %d positions", n, total)
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

// padded is N elements in their order, followed by the one at With up to Total
// positions.
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

package order

import (
	"fmt"
	"slices"
	"sync"
)

// Index is the order of the given indices, each in [0, n). The list is copied.
func Index(n int, indices []int) (Order, error) {
	for pos, i := range indices {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("order: index %d at position %d is outside of %d elements", i, pos, n)
		}
	}
	return &list{indices: slices.Clone(indices)}, nil
}

type list struct {
	indices []int

	once  sync.Once
	where map[int][]int // positions of each index, made when first asked for
}

func (l *list) Len() int       { return len(l.indices) }
func (l *list) At(pos int) int { return l.indices[pos] }

func (l *list) Next(index, after int) (int, bool) {
	l.once.Do(func() {
		l.where = make(map[int][]int, len(l.indices))
		for pos, i := range l.indices {
			l.where[i] = append(l.where[i], pos)
		}
	})
	positions := l.where[index]
	k, _ := slices.BinarySearch(positions, after+1)
	if k == len(positions) {
		return 0, false
	}
	return positions[k], true
}

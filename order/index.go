package order

import (
	"fmt"
	"slices"
	"sort"
	"sync"
)

// Index returns the order of the given indices as in Python: a negative one counts from
// the end, and one outside of n elements is an error. The list is copied.
func Index(n int, indices []int) (Order, error) {
	resolved, err := resolveAll(n, indices)
	if err != nil {
		return nil, err
	}
	return &list{indices: resolved}, nil
}

func resolveAll(n int, indices []int) ([]int, error) {
	resolved := make([]int, len(indices))
	for pos, i := range indices {
		var err error
		if resolved[pos], err = Resolve(n, i); err != nil {
			return nil, fmt.Errorf("indices[%d]: %w", pos, err)
		}
	}
	return resolved, nil
}

type list struct {
	indices []int

	once  sync.Once
	where map[int][]int // positions of each index, built when first needed
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

// Except returns n elements in their order without those at the given indices, which
// are as for [Index].
func Except(n int, indices []int) (Order, error) {
	dropped, err := resolveAll(n, indices)
	if err != nil {
		return nil, err
	}
	slices.Sort(dropped)
	return &without{n, slices.Compact(dropped)}, nil
}

type without struct {
	n       int
	dropped []int // ascending, each once
}

func (w *without) Len() int { return w.n - len(w.dropped) }

func (w *without) OncePerPass() bool { return true }

func (w *without) At(pos int) int {
	checkPos(pos, w.Len())
	// dropped[k]-k remaining elements precede dropped[k].
	return pos + sort.Search(len(w.dropped), func(k int) bool { return w.dropped[k]-k > pos })
}

func (w *without) Next(index, after int) (int, bool) {
	before, dropped := slices.BinarySearch(w.dropped, index)
	if dropped || index < 0 || index >= w.n {
		return 0, false
	}
	pos := index - before
	return pos, pos > after
}

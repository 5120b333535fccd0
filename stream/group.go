package stream

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
)

// Grouping configures [Group].
type Grouping struct {
	// Buffer is the largest number of elements held; 0 means 10000. When it is full, the
	// largest group is returned; of several, the oldest.
	Buffer int
	// Size is the largest number of elements of a group, which is returned when it has
	// them. 0 means no bound but Buffer.
	Size int
	// AtLeast is the smallest number of elements of a returned group. A smaller group is an
	// error or, with Drop, omitted.
	AtLeast int
	Drop    bool
	// Every, if greater than 0, returns all groups after that many input elements. A
	// resumed state then reads at most that many again.
	Every int
}

const defaultBuffer = 10_000

// A Grouped holds elements with one key, in their order.
type Grouped[K comparable, T any] struct {
	Key    K
	Values []T
}

// ErrSmallGroup is the error of a group that must be returned and has too few elements.
var ErrSmallGroup = errors.New("a group with too few elements must be returned; raise Buffer, or set Drop")

// Group collects elements with the same key, within the bounds of a buffer. Groups left
// at the end are returned in the order in which they began. Its state is the state of
// its input when it last held nothing, and the number of groups since. If some key is
// always held, that is the beginning, unless Every is set.
func Group[K comparable, T any](s Stream[T], g Grouping, by func(T) K) Stream[Grouped[K, T]] {
	if g.Buffer == 0 {
		g.Buffer = defaultBuffer
	}
	switch {
	case g.Buffer < 1 || g.Size < 0 || g.AtLeast < 0 || g.Every < 0:
		return refused[Grouped[K, T]]("group", "a number is below 0")
	case g.Size > 0 && g.AtLeast > g.Size, g.AtLeast > g.Buffer:
		return refused[Grouped[K, T]]("group", "groups of at most %d elements, in a buffer of %d, cannot have at least %d", g.Size, g.Buffer, g.AtLeast)
	}
	return Stream[Grouped[K, T]]{&groupNode[K, T]{s, g, by}}
}

type groupNode[K comparable, T any] struct {
	in Stream[T]
	Grouping
	by func(T) K
}

func (g *groupNode[K, T]) describe(s *shape) {
	s.op("group", param("buffer", g.Buffer), param("size", g.Size), param("least", g.AtLeast), param("drop", g.Drop), param("every", g.Every))
	s.function()
	s.input(g.in.of().describe)
}

func (g *groupNode[K, T]) open(o *opening) (cursor[Grouped[K, T]], error) {
	since := o.marks.number()
	in, err := openInput(o, g.in)
	if err != nil {
		return nil, err
	}
	return hold[Grouped[K, T]](since, &grouper[K, T]{of: g, in: in, groups: map[K]*begun[K, T]{}}, in), nil
}

// begun is a current group, in a ring of groups by age.
type begun[K comparable, T any] struct {
	Grouped[K, T]
	before, after *begun[K, T]
	number        uint64 // of groups that began before
	place         int    // position in the heap
}

type grouper[K comparable, T any] struct {
	of      *groupNode[K, T]
	in      *input[T]
	groups  map[K]*begun[K, T]
	first   *begun[K, T] // the oldest
	last    *begun[K, T]
	heap    largest[K, T]
	begun   uint64 // groups so far
	n       int    // elements held
	leaving bool
}

func (g *grouper[K, T]) holds() bool { return g.n > 0 }

func (g *grouper[K, T]) next(ctx context.Context) (out Grouped[K, T], err error) {
	for {
		if g.leaving && g.first != nil {
			if out, ok, err := g.leave(g.first); ok || err != nil {
				return out, err
			}
			continue
		}
		g.leaving = false
		if g.n >= g.of.Buffer {
			if out, ok, err := g.leave(g.heap[0]); ok || err != nil {
				return out, err
			}
			continue
		}
		v, err := g.in.next(ctx)
		if errors.Is(err, io.EOF) && g.first != nil {
			g.leaving = true
			continue
		}
		if err != nil {
			return out, err
		}
		b, err := g.add(v)
		if err != nil {
			return out, g.in.wrong("group", err)
		}
		g.leaving = g.of.Every > 0 && g.in.n%uint64(g.of.Every) == 0
		if len(b.Values) == g.of.Size {
			out, _, err = g.leave(b)
			return out, err
		}
	}
}

// add puts an element into its group.
func (g *grouper[K, T]) add(v T) (*begun[K, T], error) {
	k := g.of.by(v)
	if !equal(k, k) {
		return nil, errNotItself
	}
	b := g.groups[k]
	if b == nil {
		b = &begun[K, T]{Grouped: Grouped[K, T]{Key: k}, before: g.last, number: g.begun}
		g.begun++
		heap.Push(&g.heap, b)
		g.groups[k] = b
		if g.last != nil {
			g.last.after = b
		} else {
			g.first = b
		}
		g.last = b
	}
	b.Values = append(b.Values, v)
	heap.Fix(&g.heap, b.place)
	g.n++
	return b, nil
}

// errNotItself is the error of a key that could never be found again.
var errNotItself = errors.New("the key is not equal to itself, as NaN is not; make another of it")

func equal[K comparable](a, b K) bool { return a == b }

// leave removes a group. ok is false if it is dropped.
func (g *grouper[K, T]) leave(b *begun[K, T]) (out Grouped[K, T], ok bool, err error) {
	if len(b.Values) < g.of.AtLeast && !g.of.Drop {
		return out, false, g.in.wrong("group", fmt.Errorf("%w: the group %v has %d of %d", ErrSmallGroup, b.Key, len(b.Values), g.of.AtLeast))
	}
	if b.before != nil {
		b.before.after = b.after
	} else {
		g.first = b.after
	}
	if b.after != nil {
		b.after.before = b.before
	} else {
		g.last = b.before
	}
	heap.Remove(&g.heap, b.place)
	delete(g.groups, b.Key)
	g.n -= len(b.Values)
	return b.Grouped, len(b.Values) >= g.of.AtLeast, nil
}

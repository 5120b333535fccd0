package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// JoinOptions configures [Join].
type JoinOptions struct {
	// Buffer is the largest number of elements of the right stream that wait for their
	// partner; 0 means 10000.
	Buffer int
	// Oldest drops the oldest element when the buffer is full. Otherwise that is an error.
	Oldest bool
	// Unmatched omits elements of the left stream that have no partner. Otherwise that is
	// an error.
	Unmatched bool
	// Rest allows unused elements of the right stream when the left one ends. Otherwise
	// they are an error; elements that were not read yet are not checked.
	Rest bool
}

// The errors of joins.
var (
	ErrJoinFull      = errors.New("too many unmatched elements of the right stream; raise Buffer, or set Oldest")
	ErrJoinTwice     = errors.New("the right stream has the key twice, and the first element is still unmatched")
	ErrJoinUnmatched = errors.New("no element of the right stream has this key, or it was evicted; set Unmatched to omit such elements")
	ErrJoinRest      = errors.New("elements of the right stream have no partner in the left stream; set Rest to ignore them")
)

// Join pairs each element of the left stream with one of the right stream that has the
// same key, in the order of the left stream. It reads the right stream only as far as
// needed, and uses each of its elements once. Its state is the state of both streams
// when it last held nothing, and the number of pairs since.
func Join[A, B any, K comparable](left Stream[A], right Stream[B], j JoinOptions, ofLeft func(A) K, ofRight func(B) K) Stream[Pair[A, B]] {
	if j.Buffer == 0 {
		j.Buffer = defaultBuffer
	}
	if j.Buffer < 1 {
		return refused[Pair[A, B]]("join", "the buffer cannot have %d elements", j.Buffer)
	}
	return Stream[Pair[A, B]]{&joinNode[A, B, K]{left, right, j, ofLeft, ofRight}}
}

type joinNode[A, B any, K comparable] struct {
	left  Stream[A]
	right Stream[B]
	JoinOptions
	ofLeft  func(A) K
	ofRight func(B) K
}

func (j *joinNode[A, B, K]) describe(s *shape) {
	s.op("join", param("buffer", j.Buffer), param("oldest", j.Oldest), param("unmatched", j.Unmatched), param("rest", j.Rest))
	s.function()
	s.input(j.left.of().describe)
	s.input(j.right.of().describe)
}

func (j *joinNode[A, B, K]) open(o *opening) (cursor[Pair[A, B]], error) {
	since := o.marks.number()
	two, err := openTwo(o, j.left, j.right)
	if err != nil {
		return nil, err
	}
	return hold[Pair[A, B]](since, &joiner[A, B, K]{two: two, of: j, waiting: map[K]waiting[B]{}}, two), nil
}

type joiner[A, B any, K comparable] struct {
	*two[A, B]
	of      *joinNode[A, B, K]
	waiting map[K]waiting[B]
	ages    []aged[K] // by age, with some that no longer wait
	ended   bool      // the right stream
}

// waiting is an element of the right stream, with its position.
type waiting[B any] struct {
	value B
	at    uint64
}

type aged[K any] struct {
	key K
	at  uint64
}

func (j *joiner[A, B, K]) holds() bool { return len(j.waiting) > 0 }

func (j *joiner[A, B, K]) next(ctx context.Context) (p Pair[A, B], err error) {
	for {
		if p.A, err = j.a.next(ctx); err != nil {
			if errors.Is(err, io.EOF) && len(j.waiting) > 0 && !j.of.Rest {
				err = wrongAt("join", j.a.n, fmt.Errorf("%w: %d, one of them with the key %v", ErrJoinRest, len(j.waiting), j.oldest()))
			}
			return p, err
		}
		k := j.of.ofLeft(p.A)
		ok, err := j.find(ctx, k)
		if err != nil {
			return p, err
		}
		if ok {
			p.B = j.waiting[k].value
			delete(j.waiting, k)
			return p, nil
		}
		if !j.of.Unmatched {
			return p, j.a.wrong("join", fmt.Errorf("%w: %v", ErrJoinUnmatched, k))
		}
	}
}

// find reads the right stream up to an element with key k.
func (j *joiner[A, B, K]) find(ctx context.Context, k K) (ok bool, err error) {
	for {
		if _, ok = j.waiting[k]; ok || j.ended {
			return ok, nil
		}
		v, err := j.b.next(ctx)
		if errors.Is(err, io.EOF) {
			j.ended = true
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if err := j.keep(v); err != nil {
			return false, j.b.wrong("join", err)
		}
	}
}

// keep stores an element of the right stream.
func (j *joiner[A, B, K]) keep(v B) error {
	k := j.of.ofRight(v)
	if !equal(k, k) {
		return errNotItself
	}
	if _, ok := j.waiting[k]; ok {
		return fmt.Errorf("%w: %v", ErrJoinTwice, k)
	}
	if len(j.waiting) >= j.of.Buffer {
		if !j.of.Oldest {
			return fmt.Errorf("%w: %d", ErrJoinFull, len(j.waiting))
		}
		delete(j.waiting, j.oldest())
	}
	j.waiting[k] = waiting[B]{v, j.b.n}
	j.ages = append(j.ages, aged[K]{k, j.b.n})
	if len(j.ages) > 2*j.of.Buffer+maxAtOnce {
		j.tidy()
	}
	return nil
}

// oldest returns the key that has waited longest.
func (j *joiner[A, B, K]) oldest() (k K) {
	for len(j.ages) > 0 {
		first := j.ages[0]
		if w, ok := j.waiting[first.key]; ok && w.at == first.at {
			return first.key
		}
		j.ages = j.ages[1:]
	}
	return k
}

// tidy removes entries that no longer wait.
func (j *joiner[A, B, K]) tidy() {
	retained := make([]aged[K], 0, len(j.waiting))
	for _, a := range j.ages {
		if w, ok := j.waiting[a.key]; ok && w.at == a.at {
			retained = append(retained, a)
		}
	}
	j.ages = retained
}

package dataset

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Stream yields the elements of ds in order while workers get the next ones
// ready. A worker takes some consecutive elements at a time: as many as it is
// likely to make within a fraction of a millisecond, and one if they take longer.
// At most twice as many as all workers take are ready or under way beside those
// that are handed out, so a slow consumer holds the workers back. It ends at the
// first error. Within a context of [Bounded] it shares that bound.
func Stream[T any](ctx context.Context, ds Dataset[T], workers int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		s := &stream[T]{ds: ds, n: ds.Len(), workers: Workers(workers), size: 1, done: map[int]stretch[T]{}}
		s.changed = sync.NewCond(&s.mu)
		s.bound, _ = ctx.Value(boundKey{}).(*semaphore.Weighted)
		var wait sync.WaitGroup
		defer wait.Wait()
		defer cancel(errStreamEnded)
		context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
		for range min(s.workers, s.n) {
			wait.Go(func() { s.work(ctx) })
		}
		for s.at < s.n {
			t, ok := s.take(ctx)
			if !ok {
				t.err = context.Cause(ctx)
			}
			for _, v := range t.values {
				if !yield(v, nil) {
					return
				}
			}
			if t.err != nil {
				var zero T
				yield(zero, t.err)
				return
			}
		}
	}
}

var errStreamEnded = errors.New("dataset: the consumer of the stream has left")

// stream is what the workers and the consumer share.
type stream[T any] struct {
	ds      Dataset[T]
	n       int
	workers int
	bound   *semaphore.Weighted // on what is done at once, with others; nil means none

	mu      sync.Mutex
	changed *sync.Cond         // something of what follows did, or the context has ended
	at      int                // the element that the consumer takes next
	next    int                // elements before are done, under way or given back
	back    []span             // given back by workers, as they take long
	size    int                // how many elements a worker takes
	done    map[int]stretch[T] // by their first element
}

// span is the elements from one up to another.
type span struct{ from, to int }

// stretch is some consecutive elements, or as many of them as could be made.
type stretch[T any] struct {
	values []T
	err    error // of the element after these
}

// take waits for the elements that come next.
func (s *stream[T]) take(ctx context.Context) (t stretch[T], ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if t, ok = s.done[s.at]; ok {
			delete(s.done, s.at)
			s.at += len(t.values)
			s.changed.Broadcast()
			return t, true
		}
		if ctx.Err() != nil {
			return t, false
		}
		s.changed.Wait()
	}
}

// claim waits for elements to make.
func (s *stream[T]) claim(ctx context.Context) (t span, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil {
		if len(s.back) > 0 {
			return s.claimBack(), true
		}
		if s.next < s.n && s.next < s.at+2*s.workers*s.size {
			t = span{s.next, min(s.next+s.size, s.n)}
			s.next = t.to
			return t, true
		}
		if s.at == s.n {
			return t, false
		}
		s.changed.Wait()
	}
	return t, false
}

// claimBack takes the first of the elements that were given back; others help with
// those after it.
func (s *stream[T]) claimBack() span {
	k := 0
	for i, t := range s.back {
		if t.from < s.back[k].from {
			k = i
		}
	}
	first := span{s.back[k].from, s.back[k].from + 1}
	if s.back[k].from++; s.back[k].from == s.back[k].to {
		s.back = slices.Delete(s.back, k, k+1)
	}
	return first
}

func (s *stream[T]) work(ctx context.Context) {
	inner := context.WithValue(ctx, boundKey{}, (*semaphore.Weighted)(nil)) // what an element does belongs to it
	for {
		t, ok := s.claim(ctx)
		if !ok {
			return
		}
		if s.bound != nil && s.bound.Acquire(ctx, 1) != nil {
			return
		}
		start := time.Now()
		made := s.make(inner, t, start)
		took := time.Since(start)
		if s.bound != nil {
			s.bound.Release(1)
		}
		s.settle(t, made, took)
	}
}

// A worker takes as many elements as it makes in about stretchTime, so that to
// hand them on costs little beside, and gives back what it has not come to in ten
// times that.
const (
	stretchTime = 200 * time.Microsecond
	stretchMost = 256 // elements
)

// make makes elements, the first of them and more as long as that is quick.
func (s *stream[T]) make(ctx context.Context, t span, start time.Time) (made stretch[T]) {
	made.values = make([]T, 0, t.to-t.from)
	for i := t.from; i < t.to; i++ {
		if i > t.from && time.Since(start) > 10*stretchTime {
			break
		}
		v, err := s.ds.At(ctx, i)
		if err != nil {
			made.err = err
			break
		}
		made.values = append(made.values, v)
	}
	return made
}

// settle notes what was made of the elements that a worker took.
func (s *stream[T]) settle(t span, made stretch[T], took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[t.from] = made
	n := len(made.values)
	if rest := (span{t.from + n, t.to}); rest.from < rest.to && made.err == nil {
		s.back = append(s.back, rest)
	}
	switch {
	case took > 2*stretchTime:
		s.size = max(1, min(s.size, int(int64(n)*int64(stretchTime)/int64(took))))
	case took < stretchTime/2 && n >= s.size:
		s.size = min(2*s.size, stretchMost)
	}
	s.changed.Broadcast()
}

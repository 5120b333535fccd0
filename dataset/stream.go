package dataset

import (
	"context"
	"errors"
	"iter"
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
		s := &stream[T]{ds: ds, n: ds.Len(), workers: Workers(workers), done: map[int]stretch[T]{}}
		s.spans.n = s.n
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
	spans   spans              // what is to be made
	done    map[int]stretch[T] // by their first element
}

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
		if t, ok := s.spans.take(s.at + 2*s.workers*s.spans.most()); ok {
			return t, true
		}
		if s.at == s.n {
			return t, false
		}
		s.changed.Wait()
	}
	return t, false
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

// make makes elements, the first of them and more as long as that is quick.
func (s *stream[T]) make(ctx context.Context, t span, start time.Time) (made stretch[T]) {
	if r, ok := s.ds.(Ranger[T]); ok {
		made.values, made.err = r.Range(ctx, t.from, t.to)
		return made
	}
	made.values = make([]T, 0, t.to-t.from)
	for i := t.from; i < t.to; i++ {
		if i > t.from && time.Since(start) > patience {
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
	s.spans.settle(t, len(made.values), made.err != nil, took)
	s.changed.Broadcast()
}

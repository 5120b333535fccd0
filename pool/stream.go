package pool

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// Stream yields the elements of [0, n) in order while workers compute the next ones.
// make returns the elements from one index on, as many as it computes within
// [Patience], and at least one; its error is that of the element after these. A worker
// takes several consecutive elements at a time if they are fast, and one if they take
// more than some milliseconds.
//
// In addition to those yielded, at most twice as many elements as all workers take are
// ready or in progress. So a slow consumer holds the workers back. A task in a
// [Blocking] call adds one worker. Stream ends at the first error.
func Stream[T any](ctx context.Context, p *Pool, n int, make func(ctx context.Context, from, to int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		s := &stream[T]{n: n, make: make, done: map[int]stretch[T]{}}
		s.spans = p.spansOf(n)
		s.news = sync.NewCond(&s.mu)
		var wait sync.WaitGroup
		defer wait.Wait()
		defer cancel(errStreamEnded)
		context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.news.Broadcast()
		})
		inner, slots := p.passes(ctx)
		s.workers = p.Workers()
		take := func() (span, bool) { return s.claim(inner) }
		worker := func() { _ = s.work(take, func(t span) error { return s.computeSpan(inner, slots, t) }) } // ctx passes the error to the consumer
		wait.Go(func() { s.run(n, func() { wait.Go(worker) }) })
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

var errStreamEnded = errors.New("pool: the consumer of the stream has left")

// stream is the state that workers and consumer share.
type stream[T any] struct {
	workerGroup // its lock guards the fields below
	n           int
	make        func(ctx context.Context, from, to int) ([]T, error)

	news  *sync.Cond         // a field below changed, or the context has ended
	at    int                // next element of the consumer
	spans spans              // elements to compute
	done  map[int]stretch[T] // by their first element
}

// stretch is consecutive elements, or as many of them as succeeded.
type stretch[T any] struct {
	values []T
	err    error // error of the element after these
}

// take waits for the next elements.
func (s *stream[T]) take(ctx context.Context) (t stretch[T], ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if t, ok = s.done[s.at]; ok {
			delete(s.done, s.at)
			s.at += len(t.values)
			s.news.Broadcast()
			return t, true
		}
		if ctx.Err() != nil {
			return t, false
		}
		s.news.Wait()
	}
}

// claim waits for elements to compute. The caller holds the lock.
func (s *stream[T]) claim(ctx context.Context) (t span, ok bool) {
	for ctx.Err() == nil {
		if t, ok := s.spans.take(s.at + (s.workers+s.live)*s.spans.most()); ok {
			return t, true
		}
		if s.at == s.n {
			return t, false
		}
		s.news.Wait()
	}
	return t, false
}

// errEnded is the error of a pass in which an element ended its goroutine.
var errEnded = errors.New("pool: an element ended the goroutine that made it")

// computeSpan computes elements in a slot.
func (s *stream[T]) computeSpan(ctx context.Context, slots *slots, t span) error {
	inner, end, err := slots.begin(ctx, &s.workerGroup)
	if err != nil {
		return err
	}
	defer end()
	inner, passed := stopwatch(inner)
	made := stretch[T]{err: errEnded}
	defer func() {
		d := passed()
		slots.observe(d)
		s.settle(t, made, d)
	}()
	made.values, made.err = s.make(inner, t.from, t.to)
	return nil
}

// settle records the results of a worker's elements.
func (s *stream[T]) settle(t span, made stretch[T], d durations) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[t.from] = made
	s.spans.settle(t, len(made.values), made.err != nil, d)
	s.news.Broadcast()
}

package pool

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// Stream yields the elements of [0, n) in order while workers get the next ones
// ready: make returns those from one up to another, as many as it comes to within
// [Patience], and one at least; its error is that of the element after these. A
// worker takes some consecutive elements at a time: as many as it is likely to make
// within some milliseconds, and one if they take longer. At most twice as
// many as all workers take are ready or under way beside those that are handed out,
// so a slow consumer holds the workers back; who is [Away] is one worker more. It ends at the first
// error.
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
		wait.Go(func() { s.run(n, func() { wait.Go(func() { s.work(inner, slots) }) }) })
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

// stream is what the workers and the consumer share.
type stream[T any] struct {
	crew // its lock is that of what follows
	n    int
	make func(ctx context.Context, from, to int) ([]T, error)

	news  *sync.Cond         // something of what follows did, or the context has ended
	at    int                // the element that the consumer takes next
	spans spans              // what is to be made
	done  map[int]stretch[T] // by their first element
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
			s.news.Broadcast()
			return t, true
		}
		if ctx.Err() != nil {
			return t, false
		}
		s.news.Wait()
	}
}

// claim waits for elements to make.
func (s *stream[T]) claim(ctx context.Context) (t span, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next(func() (t span, ok bool) {
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
	})
}

func (s *stream[T]) work(ctx context.Context, slots *slots) {
	for t, ok := s.claim(ctx); ok; t, ok = s.claim(ctx) {
		if !s.turn(ctx, slots, t) {
			s.quit()
			return
		}
	}
}

// turn makes elements in a slot. It reports false if the pass ends before there is one.
func (s *stream[T]) turn(ctx context.Context, slots *slots, t span) bool {
	inner, end, err := slots.begin(ctx, &s.crew)
	if err != nil {
		return false
	}
	start := time.Now()
	var made stretch[T]
	made.values, made.err = s.make(inner, t.from, t.to)
	took := time.Since(start)
	s.settle(t, made, took)
	end()
	return true
}

// settle notes what was made of the elements that a worker took.
func (s *stream[T]) settle(t span, made stretch[T], took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[t.from] = made
	s.spans.settle(t, len(made.values), made.err != nil, took)
	s.news.Broadcast()
}

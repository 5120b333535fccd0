package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
)

// A Reader returns the elements of a stream. Next is for one goroutine at a time; the
// other methods may be called concurrently at any time.
type Reader[T any] struct {
	turn   sync.Mutex // held by Next and Close
	cursor cursor[T]
	given  context.Context // that it was opened with
	ctx    context.Context
	cancel context.CancelCauseFunc
	err    error
	closed bool

	mu    sync.Mutex
	marks []byte // after the last element
	print string
}

// Open returns a reader that continues at a state; the zero State is the beginning. The
// caller must close it. The end of ctx ends it, too. A state of another stream is a
// [StateError]. Nothing is read before the first call of Next.
func (s Stream[T]) Open(ctx context.Context, from State) (*Reader[T], error) {
	all, err := Together(ctx, []State{from}, s)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Together opens several streams, each with its own state, so that branches of a [Fork]
// among them share one reading of the input. Each reader may be used by its own
// goroutine. A nil slice of states means the beginning of all.
func Together[T any](ctx context.Context, from []State, streams ...Stream[T]) ([]*Reader[T], error) {
	if len(from) != 0 && len(from) != len(streams) {
		return nil, fmt.Errorf("stream: %d streams were to be opened with %d states", len(streams), len(from))
	}
	together := newSession(ctx)
	var all []*Reader[T]
	for i, s := range streams {
		state := State{}
		if len(from) > 0 {
			state = from[i]
		}
		r, err := s.open(ctx, state, together)
		if err != nil {
			for _, r := range all {
				r.Close()
			}
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (s Stream[T]) open(ctx context.Context, from State, together *session) (*Reader[T], error) {
	sh := shapeOf(s)
	if sh.err != nil {
		return nil, sh.err
	}
	if from != (State{}) {
		if why := sh.differs(from.of); why != "" {
			return nil, &StateError{from, why}
		}
	}
	r := &Reader[T]{given: ctx, print: sh.print(), marks: []byte(from.marks)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	m := marksOf(r.marks)
	c, err := s.of().open(&opening{r.ctx, m, together})
	if err == nil && m.end() != nil {
		c.close()
		err = &StateError{from, m.err.Error()}
	}
	if err != nil {
		r.cancel(err)
		return nil, err
	}
	r.cursor = c
	return r, nil
}

// ErrClosed is the error of a reader that was closed.
var ErrClosed = errors.New("stream: the reader is closed")

var errPanic = errors.New("stream: a function of the stream has panicked; open the stream again with its state")

// Next returns the next element. The error is io.EOF at the end. After an error, each
// further call returns the same error. A context that ends during a call is such an
// error.
func (r *Reader[T]) Next(ctx context.Context) (T, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	var zero T
	if r.err != nil {
		return zero, r.err
	}
	ctx, end := r.within(ctx)
	defer end()
	r.err = errPanic // replaced unless the call panics
	v, err := r.cursor.next(ctx)
	if r.err = err; err != nil {
		r.cancel(err)
		return zero, err
	}
	r.mu.Lock()
	r.marks = r.cursor.mark(r.marks[:0])
	r.mu.Unlock()
	return v, nil
}

// within returns a context that ends with the call's and with the reader's. The call's
// context is usually the one known from Open, which costs nothing.
func (r *Reader[T]) within(ctx context.Context) (context.Context, func()) {
	if ctx == r.given || ctx.Done() == nil {
		return r.ctx, nothing
	}
	return joined(ctx, r.ctx)
}

func nothing() {}

// joined returns ctx, which also ends with other.
func joined(ctx, other context.Context) (context.Context, func()) {
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return both, func() {
		stop()
		cancel(nil)
	}
}

// State returns the position of the reader: after the last element that Next returned,
// even if it has failed since.
func (r *Reader[T]) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.marks) == 0 {
		return State{}
	}
	return State{r.print, string(r.marks)}
}

// Close ends the reader and all its goroutines, and waits for them. It may be called
// more than once.
func (r *Reader[T]) Close() {
	r.cancel(ErrClosed)
	r.turn.Lock()
	defer r.turn.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	if r.err == nil {
		r.err = ErrClosed
	}
	r.cursor.close()
}

// All yields the remaining elements, and then an error if there is one. It does not
// close the reader.
func (r *Reader[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// All yields the elements of a stream from its beginning, and then an error if there is
// one.
func (s Stream[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r, err := s.Open(ctx, State{})
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		defer r.Close()
		r.All(ctx)(yield)
	}
}

// Collect returns all elements of a stream, or those before the error if there is one.
func Collect[T any](ctx context.Context, s Stream[T]) (all []T, err error) {
	for v, err := range s.All(ctx) {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

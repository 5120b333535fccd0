package stream

import (
	"context"
	"errors"
	"sync"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// A slot passes an element between goroutines, with the mark of its input after it.
// Slots are reused, so elements need no allocation.
type slot[T, U any] struct {
	in    T
	out   U
	err   error
	mark  []byte
	bytes int64
	done  chan struct{} // receives one value when out or err is set
}

// A line passes slots, in order, from the goroutine that reads an input to the one that
// takes elements.
type line[T, U any] struct {
	in     *input[T]
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	begun  bool
	free   chan *slot[T, U]
	queue  chan *slot[T, U]
	last   []byte // the mark after the last returned element
}

func newLine[T, U any](o *opening, of Stream[T], slots int) (*line[T, U], error) {
	in, err := openInput(o, of)
	if err != nil {
		return nil, err
	}
	l := &line[T, U]{in: in, free: make(chan *slot[T, U], slots), queue: make(chan *slot[T, U], slots), last: in.mark(nil)}
	l.ctx, l.cancel = context.WithCancelCause(o.ctx)
	for range slots {
		l.free <- &slot[T, U]{done: make(chan struct{}, 1)}
	}
	return l, nil
}

// errGone is the error of a function that has ended its goroutine.
var errGone = errors.New("a function of the stream has ended its goroutine (runtime.Goexit)")

// fill reads the input while there are free slots. send receives each slot with an
// element; if it fails, the slot is lost. A slot with an error is the last.
func (l *line[T, U]) fill(send func(*slot[T, U]) error) {
	for {
		var s *slot[T, U]
		select {
		case s = <-l.free:
		case <-l.ctx.Done():
			return
		}
		if l.one(s, send) != nil {
			return
		}
	}
}

// one reads an element into a slot.
func (l *line[T, U]) one(s *slot[T, U], send func(*slot[T, U]) error) error {
	err := errGone
	defer func() {
		if err != nil {
			s.err = err
			s.done <- struct{}{}
		}
		l.queue <- s // has capacity for all slots
	}()
	_, err = singleflight.Protect(func() (struct{}, error) {
		v, err := l.in.next(l.ctx)
		if err == nil {
			s.in, s.mark = v, l.in.mark(s.mark[:0])
			err = send(s)
		}
		return struct{}{}, err
	})
	return err
}

// take waits for the next element.
func (l *line[T, U]) take(ctx context.Context) (u U, bytes int64, err error) {
	var s *slot[T, U]
	select {
	case s = <-l.queue:
	case <-ctx.Done():
		return u, 0, context.Cause(ctx)
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		return u, 0, context.Cause(ctx)
	}
	if s.err != nil {
		return u, 0, s.err
	}
	var none slot[T, U]
	u, bytes = s.out, s.bytes
	l.last, s.mark = s.mark, l.last
	s.in, s.out = none.in, none.out
	l.free <- s
	return u, bytes, nil
}

func (l *line[T, U]) mark(to []byte) []byte { return append(to, l.last...) }

func (l *line[T, U]) close() {
	l.cancel(ErrClosed)
	l.work.Wait()
	l.in.close()
}

package stream

import (
	"context"
	"io"
	"iter"
)

// FromSeq returns a stream of the elements of a generator. generate is called for each
// reader and must yield the same elements each time. The stream replays. The generator's
// context ends with the reader, or with a call of Next that ends before it has an
// element.
func FromSeq[T any](name string, generate func(ctx context.Context) iter.Seq2[T, error]) Stream[T] {
	if generate == nil {
		return refused[T](name, "it needs a generator")
	}
	return From(Source[T]{Name: name, Open: func(opened context.Context, _ int64) (Feed[T], error) {
		ctx, cancel := context.WithCancelCause(opened)
		next, stop := iter.Pull2(generate(ctx))
		return &seqFeed[T]{opened, cancel, next, stop}, nil
	}})
}

type seqFeed[T any] struct {
	opened context.Context
	cancel context.CancelCauseFunc
	pull   func() (T, error, bool)
	stop   func()
}

func (f *seqFeed[T]) Next(ctx context.Context) (v T, err error) {
	if ctx != f.opened {
		stop := context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })
		defer stop()
	}
	v, err, ok := f.pull()
	switch {
	case ctx.Err() != nil:
		return v, context.Cause(ctx)
	case !ok:
		return v, io.EOF
	}
	return v, err
}

func (f *seqFeed[T]) Close() error {
	f.cancel(ErrClosed)
	f.stop()
	return nil
}

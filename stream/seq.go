package stream

import (
	"context"
	"io"
	"iter"
)

// FromSeq is a stream of what a generator yields, which is begun anew for each reader and
// must yield the same each time. It replays; its context ends with the reader.
func FromSeq[T any](name string, generate func(ctx context.Context) iter.Seq2[T, error]) Stream[T] {
	if generate == nil {
		return refused[T](name, "it needs a generator")
	}
	return From(Source[T]{Name: name, Open: func(ctx context.Context, _ int64) (Feed[T], error) {
		next, stop := iter.Pull2(generate(ctx))
		return &seqFeed[T]{next, stop}, nil
	}})
}

type seqFeed[T any] struct {
	pull func() (T, error, bool)
	stop func()
}

func (f *seqFeed[T]) Next(context.Context) (T, error) {
	v, err, ok := f.pull()
	if !ok {
		return v, io.EOF
	}
	return v, err
}

func (f *seqFeed[T]) Close() error {
	f.stop()
	return nil
}

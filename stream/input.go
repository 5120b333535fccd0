package stream

import (
	"context"
	"encoding/binary"
)

// An input counts what comes into an operator, so that errors can say which element
// they are about.
type input[T any] struct {
	from cursor[T]
	n    uint64
}

// openInput opens the input of an operator.
func openInput[T any](o *opening, of Stream[T]) (*input[T], error) {
	n := o.marks.number()
	from, err := of.of().open(o)
	if err != nil {
		return nil, err
	}
	return &input[T]{from, n}, nil
}

func (i *input[T]) next(ctx context.Context) (T, error) {
	v, err := i.from.next(ctx)
	if err == nil {
		i.n++
	}
	return v, err
}

func (i *input[T]) mark(to []byte) []byte {
	return i.from.mark(binary.AppendUvarint(to, i.n))
}

func (i *input[T]) close() { i.from.close() }

// wrong is an error about the element that came last.
func (i *input[T]) wrong(op string, err error) error { return wrongAt(op, i.n-1, err) }

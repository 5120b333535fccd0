package stream

import (
	"context"
	"encoding/binary"
	"io"
)

// An input counts the elements that an operator reads, for error messages. After the
// end, it returns only the end.
type input[T any] struct {
	from  cursor[T]
	n     uint64
	ended bool
}

// openInput opens the input of an operator.
func openInput[T any](o *opening, of Stream[T]) (*input[T], error) {
	n := o.marks.number()
	from, err := of.of().open(o)
	if err != nil {
		return nil, err
	}
	return &input[T]{from: from, n: n}, nil
}

func (i *input[T]) next(ctx context.Context) (v T, err error) {
	if i.ended {
		return v, io.EOF
	}
	if v, err = i.from.next(ctx); err == nil {
		i.n++
	} else if err == io.EOF { //nolint:errorlint // no error is wrapped on its way
		i.ended = true
	}
	return v, err
}

func (i *input[T]) mark(to []byte) []byte {
	return i.from.mark(binary.AppendUvarint(to, i.n))
}

func (i *input[T]) close() { i.from.close() }

// wrong returns an error about the last element.
func (i *input[T]) wrong(op string, err error) error { return wrongAt(op, i.n-1, err) }

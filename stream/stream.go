// Package stream provides resumable sequences without random access: standard input,
// pipes, live feeds, compressed archives, generators. Indexed data is better represented
// by a [dataset.Dataset], which has random access, a global shuffle, and resumes at any
// position at no cost.
//
// A [Stream] describes a source and the operators on it. Creating one reads nothing; it
// is immutable, and may be opened by any number of goroutines. A [Reader] returns its
// elements in order, and its [State] after each of them. A reader opened with that state
// returns exactly the elements that would have followed, whatever was prefetched or held
// by operators.
//
// Operators are functions from streams to streams. [Stream.Open] returns the error of
// invalid parameters. The error of an element is an [Error], which names operator and
// position. A reader ends with the first error, or when the context of any of its calls
// ends. The elements that it has returned stay valid, and its state is that after the
// last element.
//
// States are small, as they never hold elements. An operator that holds some, such as
// [Shuffle] or [Group], records the position from which to read its input again, and the
// number of outputs to skip. So functions passed to operators are called again for some
// elements, and must return the same results. Functions are not part of a state: a state
// of a stream with the same operators and other functions is accepted.
package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// A Stream is a sequence of elements that are read in order. The zero Stream is empty.
type Stream[T any] struct{ node node[T] }

// A node is an immutable part of a stream.
type node[T any] interface {
	// describe writes the operator, its parameters and its inputs.
	describe(s *shape)
	// open returns a cursor at the marks of o. It reads from them what the cursor's mark
	// wrote, and reads no elements.
	open(o *opening) (cursor[T], error)
}

// A cursor reads a node, for one goroutine at a time.
type cursor[T any] interface {
	// next returns the next element, or io.EOF at the end. It is not called again after an
	// error.
	next(ctx context.Context) (T, error)
	// mark appends the position of the cursor: after the element that next returned last.
	// It is not called after an error other than io.EOF.
	mark(to []byte) []byte
	close()
}

// An opening holds the arguments for opening nodes.
type opening struct {
	ctx     context.Context // ends with the reader
	marks   *marks
	session *session
}

// A session is a set of streams that are opened together: branches of a fork in one
// session share its input.
type session struct {
	ctx   context.Context
	forks map[any]any // *trunk -> *reading
}

func newSession(ctx context.Context) *session { return &session{ctx, map[any]any{}} }

// later opens at marks while other cursors are being read.
func (o *opening) later(m *marks) *opening { return &opening{o.ctx, m, newSession(o.ctx)} }

// fresh opens at the beginning while other cursors are being read.
func (o *opening) fresh() *opening { return o.later(&marks{}) }

// of returns the node of a stream.
func (s Stream[T]) of() node[T] {
	if s.node == nil {
		return &listNode[T]{name: "nothing", step: 1}
	}
	return s.node
}

// broken is a stream with invalid parameters.
type broken[T any] struct{ err error }

func refused[T any](op, format string, args ...any) Stream[T] {
	return Stream[T]{broken[T]{fmt.Errorf("stream: "+op+": "+format, args...)}}
}

// describe reports the error, because the stream may not be opened immediately.
func (b broken[T]) describe(s *shape) { s.err = cmp.Or(s.err, b.err) }

func (b broken[T]) open(*opening) (cursor[T], error) { return nil, b.err }

// An Error says in which operator an element failed.
type Error struct {
	Op string
	// At is the position of the element in the operator's input, or in the output of a
	// source, from 0.
	At  uint64
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: element %d: %v", e.Op, e.At, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// wrongAt returns an [Error]. An io.EOF within an element is not the end of the stream.
func wrongAt(op string, at uint64, err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err) //nolint:errorlint // see above
	}
	return &Error{op, at, err}
}

// again returns an error of computing elements before a state again: the input ended too
// early.
func again(err error) error {
	if errors.Is(err, io.EOF) {
		return errBeyond
	}
	return err
}

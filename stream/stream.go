// Package stream is about sequences without random access: standard input, pipes,
// live feeds, archives in one compressed piece, generators. What can be indexed is
// better a [dataset.Dataset], which has random access, a global shuffle and resumes
// at any position for nothing.
//
// A [Stream] says what is read and what is done with it. Making one costs nothing and
// reads nothing; it is immutable, and may be opened by any number of goroutines. A
// [Reader] hands its elements out, one after another, and says after each of them in
// which [State] it is. A reader that is opened with that state has exactly the elements
// that would have followed, whatever was made ahead or held by operators meanwhile.
//
// Operators are functions from streams to streams. Parameters that make no sense are
// the error of [Stream.Open]. What goes wrong with an element is an [Error], which names
// operator and position. The first error ends a reader, and so does the end of the
// context of any of its calls: what it has handed out stays right, and its state is that
// after the last element.
//
// States are small, as they never hold elements. An operator that holds some, such as
// [Shuffle] or [Group], keeps in its state where its input is to be read again and what
// of its output is to be passed over. So functions that are given to operators are called
// again for some elements, and must return the same for them. They are not part of a
// state: a state of a stream of the same operators with other functions is not noticed.
package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// A Stream is a sequence of elements that are read one after another. The zero Stream is
// empty.
type Stream[T any] struct{ node node[T] }

// A node is what a stream consists of. It is not changed once made.
type node[T any] interface {
	// describe writes the operator, its parameters and its inputs.
	describe(s *shape)
	// open returns a cursor where the marks of o say. It takes from them what the
	// cursor's mark writes, and reads no elements.
	open(o *opening) (cursor[T], error)
}

// A cursor is a node that is being read, by one goroutine at a time.
type cursor[T any] interface {
	// next returns the next element; io.EOF is the end. It is not called again after
	// an error.
	next(ctx context.Context) (T, error)
	// mark appends where the cursor is: behind the element that next returned last. It
	// is not called after an error but io.EOF.
	mark(to []byte) []byte
	close()
}

// An opening is what nodes are opened with.
type opening struct {
	ctx     context.Context // ends with the reader
	marks   *marks
	session *session
}

// A session is what is opened together: branches of a fork that are in one share its
// input.
type session struct {
	ctx   context.Context
	forks map[any]any // of *trunk to *reading
}

func newSession(ctx context.Context) *session { return &session{ctx, map[any]any{}} }

// later opens where marks say, while others are being read.
func (o *opening) later(m *marks) *opening { return &opening{o.ctx, m, newSession(o.ctx)} }

// fresh opens at the beginning, while others are being read.
func (o *opening) fresh() *opening { return o.later(&marks{}) }

// of returns the node of a stream.
func (s Stream[T]) of() node[T] {
	if s.node == nil {
		return &listNode[T]{name: "nothing", step: 1}
	}
	return s.node
}

// broken is a stream of parameters that make no sense.
type broken[T any] struct{ err error }

func refused[T any](op, format string, args ...any) Stream[T] {
	return Stream[T]{broken[T]{fmt.Errorf("stream: "+op+": "+format, args...)}}
}

// describe is where it is found, as it may not be opened at once.
func (b broken[T]) describe(s *shape) { s.err = cmp.Or(s.err, b.err) }

func (b broken[T]) open(*opening) (cursor[T], error) { return nil, b.err }

// An Error says in which operator an element went wrong.
type Error struct {
	Op string
	// At is the position of the element among those that came into the operator, from 0
	// on; of a source, among those that it made.
	At  uint64
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: element %d: %v", e.Op, e.At, e.Err) }

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// wrongAt is an [Error]. What ends within an element is not the end of the stream.
func wrongAt(op string, at uint64, err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err) //nolint:errorlint // see above
	}
	return &Error{op, at, err}
}

// again is an error of making again what was made before a state: then the end comes too
// soon.
func again(err error) error {
	if errors.Is(err, io.EOF) {
		return errBeyond
	}
	return err
}

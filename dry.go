package larder

import (
	"context"
	"errors"
)

// ErrDry is returned under a dry context for a value that would have to be
// computed.
var ErrDry = errors.New("larder: it would have to be computed")

type dryKey struct{}

// Dry returns a context under which nothing is computed or written: what is
// kept is handed out, and everything else is ErrDry.
func Dry(ctx context.Context) context.Context { return context.WithValue(ctx, dryKey{}, true) }

// IsDry reports whether ctx was made by [Dry].
func IsDry(ctx context.Context) bool { return ctx.Value(dryKey{}) != nil }

// dry carries out what may be done of a call when nothing was found under its
// own key: it may still be found by the content of its inputs.
func (c Call[T]) dry(ctx context.Context, l *Larder) (Result[T], error) {
	if c.Action.Resolved() || c.Resolve == nil {
		return Result[T]{}, ErrDry
	}
	inputs, err := c.Resolve(ctx)
	if err != nil {
		return Result[T]{}, err
	}
	c.Action, c.Resolve = c.Action.WithInputs(inputs), nil
	return c.Do(ctx, l)
}

package larder

import (
	"context"
	"errors"
)

// ErrDry is returned under a dry context for a value that is not cached.
var ErrDry = errors.New("larder: it would have to be computed")

type dryKey struct{}

// Dry returns a context under which nothing is computed or written: calls return cached
// values or ErrDry.
func Dry(ctx context.Context) context.Context { return context.WithValue(ctx, dryKey{}, true) }

// IsDry reports whether ctx derives from [Dry].
func IsDry(ctx context.Context) bool { return ctx.Value(dryKey{}) != nil }

// dry looks for the value by the content of its inputs after a miss under its own key.
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

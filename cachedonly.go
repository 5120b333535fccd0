package larder

import (
	"context"
	"errors"
)

// ErrNotCached is returned under [CachedOnly] for a value that is not cached.
var ErrNotCached = errors.New("larder: it would have to be computed")

type cachedOnlyKey struct{}

// CachedOnly returns a context under which nothing is computed or written: calls return
// cached values or ErrNotCached.
func CachedOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, cachedOnlyKey{}, true)
}

// IsCachedOnly reports whether ctx derives from [CachedOnly].
func IsCachedOnly(ctx context.Context) bool { return ctx.Value(cachedOnlyKey{}) != nil }

// findCachedOnly looks for the value by the content of its inputs after a miss under its own key.
func (c Call[T]) findCachedOnly(ctx context.Context, l *Larder) (Result[T], error) {
	if c.Action.Resolved() || c.Resolve == nil {
		return Result[T]{}, ErrNotCached
	}
	inputs, err := c.Resolve(ctx)
	if err != nil {
		return Result[T]{}, err
	}
	c.Action, c.Resolve = c.Action.WithInputs(inputs), nil
	return c.Do(ctx, l)
}

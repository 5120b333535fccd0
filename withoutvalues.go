package larder

import (
	"context"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// WithoutValues returns a context that hides the caller's values, because no key covers them. It
// keeps the cancellation of ctx.
func WithoutValues(ctx context.Context) context.Context { return withoutValues{ctx} }

type withoutValues struct{ context.Context }

// Value returns Larder's own values only.
func (b withoutValues) Value(k any) any {
	switch k.(type) {
	case notebookKey, singleflight.ContextKey, cachedOnlyKey:
		return b.Context.Value(k)
	}
	return nil
}

package larder

import (
	"context"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// Bare returns a context that hides the caller's values, because no key covers them. It
// keeps the cancellation of ctx.
func Bare(ctx context.Context) context.Context { return bare{ctx} }

type bare struct{ context.Context }

// Value returns Larder's own values only.
func (b bare) Value(k any) any {
	switch k.(type) {
	case notebookKey, singleflight.ContextKey, dryKey:
		return b.Context.Value(k)
	}
	return nil
}

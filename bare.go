package larder

import (
	"context"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// Bare returns ctx without the values that its makers put in: a computation
// that could see them would depend on something that no key covers. It ends
// when ctx does.
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

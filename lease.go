package larder

import (
	"context"

	"github.com/larder-data/larder/key"
)

// lease waits for the right to compute k.
func (l *Larder) lease(ctx context.Context, k key.Key) (release func(), err error) {
	return l.store.Lease(ctx, k)
}

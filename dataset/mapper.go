package dataset

import "context"

// A Mapper computes one sample from another. Map must depend only on the items of its
// sample, and may be called from many goroutines.
//
// A mapper that only renames or drops items implements just this interface. It runs on
// every access and must not read items. A mapper that computes is a [Transform].
type Mapper interface {
	Map(ctx context.Context, in Sample) (Sample, error)
}

// A MapperFunc is a function used as a mapper that reads no items.
type MapperFunc func(ctx context.Context, in Sample) (Sample, error)

// Map calls f.
func (f MapperFunc) Map(ctx context.Context, in Sample) (Sample, error) { return f(ctx, in) }

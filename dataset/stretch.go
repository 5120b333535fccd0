package dataset

import (
	"context"

	"github.com/larder-data/larder/key"
)

// A Stretch is some consecutive samples, and what they are made of.
type Stretch struct {
	Samples int
	Digest  key.Digest
}

// Stretched is a dataset that knows, without looking at a sample, what its samples
// are made of. Each sample depends on a part of that, and on nothing else: not on
// its position, nor on the samples around its stretch.
type Stretched interface {
	// Stretches lists what all samples are made of, in their order. Where a
	// stretch ends depends on what is in it, so that what is inserted leaves
	// those before and after what they were. Nil means that it is not known after
	// all.
	Stretches(ctx context.Context) ([]Stretch, error)
}

// Stretches lists what the samples of ds are made of, without making one: of what
// a [Stretched] dataset says of its own, if each sample of ds is made of the one in
// the same place and depends on nothing else but the mappers in between. What
// these are the digests do not tell. Nil means that it is not known.
func Stretches(ctx context.Context, ds Dataset[Sample]) ([]Stretch, error) {
	if d, ok := ds.(Stretched); ok {
		return d.Stretches(ctx)
	}
	return nil, nil
}

func (d *mapped) Stretches(ctx context.Context) ([]Stretch, error) {
	if r := d.maker.Random(); r != nil && r.perPosition() {
		return nil, nil
	}
	return Stretches(ctx, d.ds)
}

// Stretches asks the steps, which go on to what these are applied to.
func (d *composed) Stretches(ctx context.Context) ([]Stretch, error) { return Stretches(ctx, d.steps) }

func (a *arranged) Stretches(ctx context.Context) ([]Stretch, error) { return Stretches(ctx, a.ds) }

func (k *keeping) Stretches(ctx context.Context) ([]Stretch, error) { return Stretches(ctx, k.ds) }

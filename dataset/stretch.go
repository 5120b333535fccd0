package dataset

import (
	"context"

	"github.com/larder-data/larder/key"
)

// A Stretch is a chunk: a run of consecutive samples, with a digest of their inputs.
type Stretch struct {
	Samples int
	Digest  key.Digest
}

// Stretched is a dataset that knows the inputs of its samples without reading one. Each
// sample depends only on a part of them: not on its position, nor on samples outside its
// chunk.
type Stretched interface {
	// Stretches lists the chunks of all samples, in order. Chunk boundaries depend on
	// content, so an insertion does not change the chunks before and after. Nil means that
	// they are not known after all.
	Stretches(ctx context.Context) ([]Stretch, error)
}

// Stretches lists the chunks of ds without computing a sample. They are those of a
// [Stretched] dataset below, if each sample of ds depends only on the sample at the same
// position and on mappers in between. The digests do not cover these mappers. Nil means
// that the chunks are not known.
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

// Stretches asks the steps, which ask the dataset that the chain is applied to.
func (d *composed) Stretches(ctx context.Context) ([]Stretch, error) { return Stretches(ctx, d.steps) }

func (a *arranged) Stretches(ctx context.Context) ([]Stretch, error) { return Stretches(ctx, a.ds) }

func (k *keeping) Stretches(ctx context.Context) ([]Stretch, error) { return Stretches(ctx, k.ds) }

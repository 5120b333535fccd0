package dataset

import (
	"context"

	"github.com/larder-data/larder/key"
)

// A Chunk is a run of consecutive samples, with a digest of their inputs.
type Chunk struct {
	Samples int
	Digest  key.Digest
}

// Chunked is a dataset that knows the inputs of its samples without reading one. Each
// sample depends only on a part of them: not on its position, nor on samples outside its
// chunk.
type Chunked interface {
	// Chunks lists the chunks of all samples, in order. Chunk boundaries depend on
	// content, so an insertion does not change the chunks before and after. Nil means that
	// they are not known after all.
	Chunks(ctx context.Context) ([]Chunk, error)
}

// Chunks lists the chunks of ds without computing a sample. They are those of a
// [Chunked] dataset below, if each sample of ds depends only on the sample at the same
// position and on mappers in between. The digests do not cover these mappers. Nil means
// that the chunks are not known.
func Chunks(ctx context.Context, ds Dataset[Sample]) ([]Chunk, error) {
	if d, ok := ds.(Chunked); ok {
		return d.Chunks(ctx)
	}
	return nil, nil
}

func (d *mapped) Chunks(ctx context.Context) ([]Chunk, error) {
	if r := d.transform.Random(); r != nil && r.perPosition() {
		return nil, nil
	}
	return Chunks(ctx, d.ds)
}

// Chunks asks the steps, which ask the dataset that the chain is applied to.
func (d *composed) Chunks(ctx context.Context) ([]Chunk, error) { return Chunks(ctx, d.steps) }

func (a *arranged) Chunks(ctx context.Context) ([]Chunk, error) { return Chunks(ctx, a.ds) }

func (k *keeping) Chunks(ctx context.Context) ([]Chunk, error) { return Chunks(ctx, k.ds) }

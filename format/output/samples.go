package output

import (
	"context"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// WriteSamples writes the single dataset that a sink receives to a file, by calling write
// for each sample in order. It computes samples concurrently, as env allows, and counts
// them. The path is a parameter of the sink; the file appears as with [WriteFile].
func WriteSamples(ctx context.Context, env *component.Env, p component.Path, how Overwrite, in component.Data, write func(w io.Writer, s dataset.Sample) error) error {
	samples, err := in.Single()
	if err != nil {
		return err
	}
	path, err := Place(ctx, env, p)
	if err != nil {
		return err
	}
	env.Stats.Total.Add(int64(samples.Len()))
	n, err := WriteFile(ctx, path, how, func(w io.Writer) error {
		i := 0
		for s, err := range dataset.Stream(ctx, samples, env.Pool) {
			if err != nil {
				return err
			}
			if err := write(w, s); err != nil {
				return &dataset.SampleError{Node: env.Node, Index: i, Err: err}
			}
			env.Stats.Done.Add(1)
			i++
		}
		return nil
	})
	env.Stats.BytesWritten.Add(n)
	return err
}

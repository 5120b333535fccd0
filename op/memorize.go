package op

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

func init() {
	component.RegisterOp("memorize", "Reads the whole dataset into memory in one pass, decoding all items.",
		func(ctx context.Context, env *component.Env, p Memorize, in component.Samples) (component.Samples, error) {
			return p.Apply(ctx, env, in)
		}).Scans = true
}

// Memorize reads a dataset into memory.
type Memorize struct {
	Bytes int `param:"bytes,how" doc:"maximum number of bytes of the decoded values; 0 means 1 GiB" default:"1073741824"`
}

// Check refuses a negative number.
func (m Memorize) Check() error { return notNegative("bytes", m.Bytes) }

// leastSample is the approximate memory of a sample without items, in bytes.
const leastSample = 24

// Apply implements the operator. A dry run reads cached results only.
func (m Memorize) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Samples, error) {
	most := int64(cmp.Or(m.Bytes, 1<<30))
	if n := in.Len(); int64(n) > most/leastSample {
		return nil, fmt.Errorf("%d samples always take more than the %d bytes allowed; raise bytes, or cache the node before instead", n, most)
	}
	if larder.IsCachedOnly(ctx) {
		return in, requestAll(ctx, in)
	}
	env.Stats.Total.Store(int64(in.Len()))
	samples := make([]dataset.Sample, in.Len())
	var total atomic.Int64
	err := dataset.Pass(ctx, in, env.Pool, func(ctx context.Context, i int, s dataset.Sample) error {
		samples[i] = s
		bytes, err := readAll(ctx, samples[i])
		if err != nil {
			return &dataset.SampleError{Node: env.Node, Index: i, Err: err}
		}
		done := env.Stats.Done.Add(1)
		if got := total.Add(bytes); got > most {
			return fmt.Errorf("%d of %d samples take %d bytes, above the %d allowed; raise bytes, drop items, or cache the node before instead", done, len(samples), got, most)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dataset.List(samples...), nil
}

// readAll reads every item of a sample and returns the approximate memory of the
// values.
func readAll(ctx context.Context, s dataset.Sample) (bytes int64, err error) {
	for _, k := range s.Keys() {
		it, err := s.Item(k)
		if err != nil {
			return 0, err
		}
		it.Retain()
		v, err := s.Value(ctx, k)
		if err != nil {
			return 0, err
		}
		bytes += dataset.BytesHeld(v)
	}
	return bytes, nil
}

// requestAll requests all results for the samples under [larder.CachedOnly], and skips those
// that are not cached.
func requestAll(ctx context.Context, in component.Samples) error {
	for i := range dataset.Distinct(ctx, in) {
		s, err := in.At(ctx, i)
		for _, e := range s.Executions() {
			if err == nil || errors.Is(err, larder.ErrNotCached) {
				err = e.Make(ctx)
			}
		}
		if err != nil && !errors.Is(err, larder.ErrNotCached) {
			return err
		}
	}
	return context.Cause(ctx)
}

package op

import (
	"context"
	"errors"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/stream"
)

// Operators do the same on streams as on datasets, as far as a single pass allows. An
// operator that needs the number of samples, or needs to go back, is refused.

type indexed = stream.Indexed[dataset.Sample]

// eachOf returns the stream of the results of f for each sample and its position.
func eachOf(env *component.Env, in component.Stream, name string, f func(ctx context.Context, i int, s dataset.Sample) (dataset.Sample, error)) component.Stream {
	return stream.MapAs(stream.Enumerate(in, 0), name, func(ctx context.Context, at indexed) (dataset.Sample, error) {
		s, err := f(ctx, at.Index, at.Value)
		return s, named(env, at.Index, err)
	})
}

// named adds node and sample to an error.
func named(env *component.Env, i int, err error) error {
	if _, ok := errors.AsType[*dataset.SampleError](err); ok || err == nil {
		return err
	}
	return &dataset.SampleError{Node: env.Node, Index: i, Err: err}
}

func (Clone) onStream(_ *component.Env, in []component.Stream) (component.Stream, error) {
	return in[0], nil
}

func (Cat) onStreams(_ *component.Env, in []component.Stream) (component.Stream, error) {
	return stream.Concat(in...), nil
}

func (p Interleave) onStreams(_ *component.Env, in []component.Stream) (component.Stream, error) {
	if p.Until == "shortest" {
		return component.Stream{}, errors.New("until: shortest needs the length of a stream; use until: longest, or op: materialise before")
	}
	return stream.Interleave(stream.Mixing{Longest: true}, in...), nil
}

func (s Slice) onStream(_ *component.Env, in []component.Stream) (component.Stream, error) {
	start, step := valueOf(s.Start, 0), valueOf(s.Step, 1)
	if start < 0 || s.Stop != nil && *s.Stop < 0 || step < 1 {
		return component.Stream{}, errors.New("a stream has no negative positions and steps; use positive ones, or op: materialise before")
	}
	out := in[0]
	if s.Stop != nil {
		out = stream.Limit(out, *s.Stop)
	}
	out = stream.Skip(out, start)
	if step > 1 {
		out = stream.Shard(out, 0, step)
	}
	return out, nil
}

func valueOf(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

func (s Shard) onStream(_ *component.Env, in []component.Stream) (component.Stream, error) {
	if s.Rest != "" && s.Rest != "keep" {
		return component.Stream{}, errors.New("rest needs the length of a stream; use rest: keep, or op: materialise before")
	}
	return stream.Shard(in[0], s.Rank, s.WorldSize), nil
}

func (s Shuffle) onStream(_ *component.Env, in []component.Stream) (component.Stream, error) {
	if s.Buffer == 0 {
		return component.Stream{}, errors.New("a stream is shuffled in a buffer; set buffer, or use op: materialise before to shuffle all")
	}
	return stream.Shuffle(in[0], s.Buffer, seedOf(s.Seed, s.Epoch)), nil
}

func (e Enumerate) onStream(env *component.Env, in []component.Stream) (component.Stream, error) {
	return eachOf(env, in[0], "enumerate", func(_ context.Context, i int, s dataset.Sample) (dataset.Sample, error) {
		return e.add(i, s)
	}), nil
}

func (f Filter) onStream(env *component.Env, in []component.Stream) (component.Stream, error) {
	e, err := expr.Compile(f.Where)
	if err != nil {
		return component.Stream{}, err
	}
	passes := func(ctx context.Context, s dataset.Sample) (bool, error) {
		passed, err := holds(ctx, e, s)
		return passed != f.Negate, err
	}
	if f.KeepLength {
		return eachOf(env, in[0], "filter", func(ctx context.Context, _ int, s dataset.Sample) (dataset.Sample, error) {
			if ok, err := passes(ctx, s); ok || err != nil {
				return s, err
			}
			return sharedOnly(s), nil
		}), nil
	}
	cached := stream.Filter(stream.Enumerate(in[0], 0), func(ctx context.Context, at indexed) (bool, error) {
		ok, err := passes(ctx, at.Value)
		return ok, named(env, at.Index, err)
	})
	return stream.MapAs(cached, "filtered", func(_ context.Context, at indexed) (dataset.Sample, error) { return at.Value, nil }), nil
}

func (u Unbatch) onStream(env *component.Env, in []component.Stream) (component.Stream, error) {
	return stream.FlatMap(stream.Enumerate(in[0], 0), func(ctx context.Context, at indexed) (all []dataset.Sample, err error) {
		n, err := elements(ctx, at.Value, u.Items)
		for e := 0; e < n && err == nil; e++ {
			var one dataset.Sample
			one, err = u.one(ctx, at.Value, e)
			all = append(all, one)
		}
		return all, named(env, at.Index, err)
	}), nil
}

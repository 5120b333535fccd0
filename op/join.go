package op

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

func init() {
	component.OnStreams(component.RegisterJoin("cat", "Joins datasets one after another.",
		func(_ context.Context, _ *component.Env, _ Cat, in []component.Samples) (component.Samples, error) {
			return dataset.Cat(in...), nil
		}), Cat.onStreams)
	component.OnStreams(component.RegisterJoin("interleave", "Joins datasets by turns: the first sample of each, the second of each, and so on.",
		func(_ context.Context, _ *component.Env, p Interleave, in []component.Samples) (component.Samples, error) {
			return p.Apply(in), nil
		}), Interleave.onStreams)
	component.RegisterJoin("mix", "Draws samples at random from several datasets, with replacement: first the dataset, by weight, then the sample.",
		func(_ context.Context, _ *component.Env, p Mix, in []component.Samples) (component.Samples, error) {
			return p.Apply(in)
		})
	component.RegisterJoin("zip", "Joins the samples at the same position of several datasets; no item may be in two of them, unless the parameters say what becomes of it.",
		func(_ context.Context, env *component.Env, p Zip, in []component.Samples) (component.Samples, error) {
			return p.Apply(env, in)
		})
}

// Cat joins datasets one after another.
type Cat struct{}

// Interleave joins datasets in turn.
type Interleave struct {
	Until string `param:"until" doc:"when to end: with the longest dataset, where one that is at its end is left out, or with the shortest, after its last full round" enum:"longest|shortest" default:"longest"`
}

// Check refuses an unknown end.
func (p Interleave) Check() error { return oneOf("until", p.Until, "", "longest", "shortest") }

// Apply implements the operator.
func (p Interleave) Apply(in []component.Samples) component.Samples {
	turns := make([]order.Order, len(in))
	start := 0
	for k, ds := range in {
		n := ds.Len()
		if p.Until == "shortest" {
			n = shortest(in)
		}
		turns[k] = order.Affine{Start: start, Step: 1, N: n}
		start += ds.Len()
	}
	return dataset.Reorder(dataset.Cat(in...), order.Interleave(turns...))
}

func shortest(in []component.Samples) int {
	n := in[0].Len()
	for _, ds := range in {
		n = min(n, ds.Len())
	}
	return n
}

// Mix draws samples from several datasets.
type Mix struct {
	N       int       `param:"n,required" doc:"how many samples to draw"`
	Weights []float64 `param:"weights" doc:"shares of the draws, one for each dataset, relative to each other; without, all datasets have the same"`
	Seed    int       `param:"seed" doc:"another seed draws others" default:"0"`
	Epoch   int       `param:"epoch" doc:"the pass over the data: each draws its own" default:"0"`
}

// Check refuses a negative number.
func (p Mix) Check() error { return notNegative("n", p.N) }

// Apply implements the operator.
func (p Mix) Apply(in []component.Samples) (component.Samples, error) {
	if p.Weights != nil && len(p.Weights) != len(in) {
		return nil, fmt.Errorf("there are %d weights for %d datasets; give one for each", len(p.Weights), len(in))
	}
	pools := make([]order.Pool, len(in))
	for k, ds := range in {
		pools[k] = order.Pool{N: ds.Len(), Weight: 1}
		if p.Weights != nil {
			pools[k].Weight = p.Weights[k]
		}
		if p.N > 0 && pools[k].N == 0 && pools[k].Weight > 0 {
			return nil, fmt.Errorf("dataset %d of %d: no samples to mix; leave it out, or give it the weight 0", k+1, len(in))
		}
	}
	o, err := order.Mix(p.N, seedOf(p.Seed, p.Epoch), pools...)
	if err != nil {
		return nil, err
	}
	return dataset.Reorder(dataset.Cat(in...), o), nil
}

// Zip joins samples at the same position.
type Zip struct {
	Length string   `param:"length" doc:"equal refuses datasets of different lengths, shortest ends with the shortest" enum:"equal|shortest" default:"equal"`
	Keys   []string `param:"keys" doc:"how the items of each dataset are called, one text for each: * stands for the item's own name, so [\"*\", \"right_*\"] renames those of the second"`
	Clash  string   `param:"clash" doc:"what becomes of an item that several datasets have: an error, or that of the first or of the last is passed on" enum:"error|first|last" default:"error"`
}

// Check refuses name formats without a place for the item's own name.
func (z Zip) Check() error {
	for _, format := range z.Keys {
		if !strings.Contains(format, "*") {
			return fmt.Errorf("keys: %q has no * for the item's own name: all would be called the same", format)
		}
	}
	if err := oneOf("length", z.Length, "", "equal", "shortest"); err != nil {
		return err
	}
	return oneOf("clash", z.Clash, "", "error", "first", "last")
}

// Apply implements the operator.
func (z Zip) Apply(env *component.Env, in []component.Samples) (component.Samples, error) {
	if z.Keys != nil && len(z.Keys) != len(in) {
		return nil, fmt.Errorf("there are %d keys for %d datasets; give one text for each, such as \"*\"", len(z.Keys), len(in))
	}
	parts := slices.Clone(in)
	for k := range parts {
		if z.Length == "shortest" {
			parts[k] = dataset.Reorder(parts[k], order.Identity(shortest(in)))
		}
		if z.Keys != nil && z.Keys[k] != "*" {
			parts[k] = renamed(parts[k], z.Keys[k])
		}
	}
	switch z.Clash {
	case "first":
		return dataset.ZipWith(env.Node, func(out, s dataset.Sample) dataset.Sample {
			return out.With(slices.Collect(s.Without(out.Keys()...).Fields())...)
		}, parts...)
	case "last":
		return dataset.ZipWith(env.Node, func(out, s dataset.Sample) dataset.Sample {
			return out.With(slices.Collect(s.Fields())...)
		}, parts...)
	}
	return dataset.Zip(env.Node, parts...)
}

// renamed returns ds with every key put in place of the * of a format.
func renamed(ds component.Samples, format string) component.Samples {
	return dataset.Each(ds, func(_ context.Context, _ int, s dataset.Sample) (dataset.Sample, error) {
		names := make(map[string]string, s.Len())
		for _, k := range s.Keys() {
			names[k] = strings.ReplaceAll(format, "*", k)
		}
		return s.Rename(names)
	})
}

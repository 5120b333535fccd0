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
	component.OnStreams(component.RegisterJoin("cat", "Concatenates datasets.",
		func(_ context.Context, _ *component.Env, _ Cat, in []component.Samples) (component.Samples, error) {
			return dataset.Cat(in...), nil
		}), Cat.onStreams)
	component.OnStreams(component.RegisterJoin("interleave", "Interleaves datasets: the first sample of each, the second of each, and so on.",
		func(_ context.Context, _ *component.Env, p Interleave, in []component.Samples) (component.Samples, error) {
			return p.Apply(in), nil
		}), Interleave.onStreams)
	component.RegisterJoin("mix", "Draws samples at random from several datasets, with replacement: first the dataset, by weight, then the sample.",
		func(_ context.Context, _ *component.Env, p Mix, in []component.Samples) (component.Samples, error) {
			return p.Apply(in)
		})
	component.RegisterJoin("zip", "Joins the samples at the same position of several datasets; keys and clash resolve items that several datasets have.",
		func(_ context.Context, env *component.Env, p Zip, in []component.Samples) (component.Samples, error) {
			return p.Apply(env, in)
		})
}

// Cat joins datasets one after another.
type Cat struct{}

// Interleave joins datasets in turn.
type Interleave struct {
	Until string `param:"until" doc:"when to end: with the longest dataset (skipping exhausted ones), or after the last full round of the shortest" enum:"longest|shortest" default:"longest"`
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
	N       int       `param:"n,required" doc:"number of samples to draw"`
	Weights []float64 `param:"weights" doc:"relative weights, one for each dataset; equal by default"`
	Seed    int       `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch   int       `param:"epoch" doc:"number of the epoch; each has its own draws" default:"0"`
}

// Check refuses a negative number.
func (p Mix) Check() error { return notNegative("n", p.N) }

// Apply implements the operator.
func (p Mix) Apply(in []component.Samples) (component.Samples, error) {
	if p.Weights != nil && len(p.Weights) != len(in) {
		return nil, fmt.Errorf("%d weights for %d datasets; give one for each dataset", len(p.Weights), len(in))
	}
	pools := make([]order.Pool, len(in))
	for k, ds := range in {
		pools[k] = order.Pool{N: ds.Len(), Weight: 1}
		if p.Weights != nil {
			pools[k].Weight = p.Weights[k]
		}
		if p.N > 0 && pools[k].N == 0 && pools[k].Weight > 0 {
			return nil, fmt.Errorf("dataset %d of %d is empty; leave it out, or give it weight 0", k+1, len(in))
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
	Length string   `param:"length" doc:"equal requires datasets of equal length; shortest ends with the shortest dataset" enum:"equal|shortest" default:"equal"`
	Keys   []string `param:"keys" doc:"a pattern of item names for each dataset, in which * represents the name: [\"*\", \"right_*\"] renames the items of the second"`
	Clash  string   `param:"clash" doc:"what to do with an item that several datasets have: fail, or use that of the first or last dataset" enum:"error|first|last" default:"error"`
}

// Check refuses name formats without a place for the item's own name.
func (z Zip) Check() error {
	for _, format := range z.Keys {
		if !strings.Contains(format, "*") {
			return fmt.Errorf("keys: %q has no *, so all items would get one name; add a *", format)
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
		return nil, fmt.Errorf("%d keys for %d datasets; give one for each dataset, such as \"*\"", len(z.Keys), len(in))
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

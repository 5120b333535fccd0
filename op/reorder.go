package op

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

func init() {
	component.RegisterOrder("slice", "Passes on the samples from start up to stop, every step-th, as Python's slices do.", Slice.Order)
	component.RegisterOrder("reverse", "Passes on the samples from the last to the first.", Reverse.Order)
	component.RegisterOrder("repeat", "Passes on the whole dataset several times.", Repeat.Order)
	component.RegisterOrder("cycle", "Passes on so many samples, starting again when the dataset is at its end.", Cycle.Order)
	component.RegisterOrder("index", "Passes on the samples at the given positions, in that order.", Index.Order)
	component.RegisterOrder("shuffle", "Passes on the samples in a random order that depends only on the seed and the number of samples.", Shuffle.Order)
	component.RegisterJoin("cat", "Joins datasets one after another.",
		func(_ context.Context, _ *component.Env, _ Cat, in []component.Samples) (component.Samples, error) {
			return dataset.Cat(in...), nil
		})
	component.RegisterJoin("zip", "Joins the samples at the same position of several datasets of equal length; no item may be in two of them.",
		func(_ context.Context, env *component.Env, _ Zip, in []component.Samples) (component.Samples, error) {
			return dataset.Zip(env.Node, in...)
		})
}

// Slice selects samples as Python's slices do.
type Slice struct {
	Start *int `param:"start" doc:"first position; negative counts from the end"`
	Stop  *int `param:"stop" doc:"position to stop before; negative counts from the end"`
	Step  *int `param:"step" doc:"distance between positions; negative goes backwards"`
}

// Check refuses a step of zero.
func (s Slice) Check() error {
	if s.Step != nil && *s.Step == 0 {
		return errors.New("step must not be 0")
	}
	return nil
}

// Order returns the slice of n samples.
func (s Slice) Order(n int) (order.Order, error) { return order.Slice(n, s.Start, s.Stop, s.Step) }

// Reverse turns a dataset round.
type Reverse struct{}

// Order returns the reverse of n samples.
func (Reverse) Order(n int) (order.Order, error) { return order.Reverse(n), nil }

// Repeat passes on a dataset several times.
type Repeat struct {
	Times      int  `param:"times,required" doc:"how many times; 0 gives an empty dataset"`
	Interleave bool `param:"interleave" doc:"repeat each sample in its place instead of the whole sequence"`
}

// Check refuses a negative number.
func (r Repeat) Check() error { return notNegative("times", r.Times) }

// Order returns n samples repeated.
func (r Repeat) Order(n int) (order.Order, error) {
	if r.Interleave {
		return order.RepeatEach(n, r.Times)
	}
	return order.Repeat(n, r.Times)
}

// Cycle passes on a number of samples, starting again at the end.
type Cycle struct {
	N int `param:"n,required" doc:"how many samples to pass on"`
}

// Check refuses a negative number.
func (c Cycle) Check() error { return notNegative("n", c.N) }

// Order returns c.N of n samples.
func (c Cycle) Order(n int) (order.Order, error) { return order.Cycle(n, c.N) }

// Index selects samples by position.
type Index struct {
	Indices []int `param:"indices,required" doc:"positions, in any order and as often as wanted; negative counts from the end"`
}

// Order returns the positions among n samples.
func (x Index) Order(n int) (order.Order, error) {
	indices := make([]int, len(x.Indices))
	for i, at := range x.Indices {
		if at < -n || at >= n {
			return nil, fmt.Errorf("indices[%d] is %d, outside a dataset of %d", i, at, n)
		}
		indices[i] = at
		if at < 0 {
			indices[i] = at + n
		}
	}
	return order.Index(n, indices)
}

// Shuffle passes on samples in a random order.
type Shuffle struct {
	Seed  int `param:"seed" doc:"another seed gives another order" default:"0"`
	Epoch int `param:"epoch" doc:"the pass over the data: each has an order of its own" default:"0"`
}

// Order returns n samples shuffled.
func (s Shuffle) Order(n int) (order.Order, error) {
	return order.Shuffle(n, uint64(s.Seed), uint64(s.Epoch))
}

// Cat joins datasets one after another.
type Cat struct{}

// Zip joins samples at the same position.
type Zip struct{}

func notNegative(name string, v int) error {
	if v < 0 {
		return fmt.Errorf("%s is %d and must not be negative", name, v)
	}
	return nil
}

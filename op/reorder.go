package op

import (
	"errors"
	"fmt"
	"math"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/order"
)

func init() {
	component.OnStreams(component.RegisterOrder("clone", "Returns the dataset unchanged.", Clone.Order), Clone.onStream)
	component.OnStreams(component.RegisterOrder("slice", "Selects the samples from start to stop, every step-th, like a Python slice.", Slice.Order), Slice.onStream)
	component.RegisterOrder("reverse", "Reverses the order of the samples.", Reverse.Order)
	component.RegisterOrder("repeat", "Repeats the dataset.", Repeat.Order)
	component.RegisterOrder("cycle", "Returns n samples, restarting at the end of the dataset.", Cycle.Order)
	component.RegisterOrder("index", "Selects the samples at the given positions, in that order, or all others.", Index.Order)
	component.RegisterOrder("pad", "Extends a dataset by repeating one of its samples at the end.", Pad.Order)
	component.OnStreams(component.RegisterOrder("shuffle", "Shuffles the samples; the order depends only on seed, epoch and number of samples.", Shuffle.Order), Shuffle.onStream)
	component.OnStreams(component.RegisterOrder("shard", "Selects the samples of one of several processes: every world-size-th.", Shard.Order), Shard.onStream)
	component.RegisterOrder("sample", "Draws samples at random with replacement. To draw without replacement, use shuffle and slice.", Sample.Order)
	component.RegisterOrder("check-length", "Returns the dataset unchanged; fails if its number of samples is not as required.", CheckLength.Order)
}

// Clone passes on a dataset unchanged.
type Clone struct{}

// Order returns the identity of n samples.
func (Clone) Order(n int) (order.Order, error) { return order.Identity(n), nil }

// Slice selects samples as Python's slices do.
type Slice struct {
	Start *int `param:"start" doc:"first position; a negative one counts from the end"`
	Stop  *int `param:"stop" doc:"position to stop before; a negative one counts from the end"`
	Step  *int `param:"step" doc:"distance between positions; a negative one goes backwards"`
}

// Check refuses a step of zero.
func (s Slice) Check() error {
	if s.Step != nil && *s.Step == 0 {
		return errors.New("step is 0; give another integer")
	}
	return nil
}

// Order returns the slice of n samples.
func (s Slice) Order(n int) (order.Order, error) { return order.Slice(n, s.Start, s.Stop, s.Step) }

// Reverse reverses a dataset.
type Reverse struct{}

// Order returns the reverse of n samples.
func (Reverse) Order(n int) (order.Order, error) { return order.Reverse(n), nil }

// Repeat passes on a dataset several times.
type Repeat struct {
	Times      float64 `param:"times,required" doc:"number of passes; 0 gives an empty dataset, and 2.5 repeats the first half three times and the rest twice"`
	Interleave bool    `param:"interleave" doc:"repeat each sample directly after itself, instead of the whole sequence"`
}

// Check refuses a negative number.
func (r Repeat) Check() error {
	if !(r.Times >= 0) || math.IsInf(r.Times, 1) {
		return fmt.Errorf("times is %v; give a number of 0 or more", r.Times)
	}
	return nil
}

// Order returns n samples repeated.
func (r Repeat) Order(n int) (order.Order, error) {
	if r.Interleave {
		return order.RepeatEach(n, r.Times)
	}
	return order.Repeat(n, r.Times)
}

// Cycle passes on a number of samples, starting again at the end.
type Cycle struct {
	N int `param:"n,required" doc:"number of samples"`
}

// Check refuses a negative number.
func (c Cycle) Check() error { return notNegative("n", c.N) }

// Order returns c.N of n samples.
func (c Cycle) Order(n int) (order.Order, error) { return order.Cycle(n, c.N) }

// Index selects samples by position.
type Index struct {
	Indices []int `param:"indices,required" doc:"positions, in any order, repetitions allowed; negative ones count from the end"`
	Negate  bool  `param:"negate" doc:"select all other samples, in the order of the dataset"`
}

// Order returns the positions among n samples.
func (x Index) Order(n int) (order.Order, error) {
	if x.Negate {
		return order.Except(n, x.Indices)
	}
	return order.Index(n, x.Indices)
}

// Pad makes a dataset longer.
type Pad struct {
	Length   int  `param:"length,required" doc:"number of samples"`
	With     *int `param:"with" doc:"position of the sample to pad with; a negative one counts from the end" default:"-1"`
	Truncate bool `param:"truncate" doc:"truncate a longer dataset instead of failing"`
}

// Check refuses a negative length.
func (p Pad) Check() error { return notNegative("length", p.Length) }

// Order returns n samples padded.
func (p Pad) Order(n int) (order.Order, error) {
	if n > p.Length && p.Truncate {
		return order.Slice(n, nil, &p.Length, nil)
	}
	if n > p.Length {
		return nil, fmt.Errorf("the dataset has %d samples, more than %d; set truncate: true to cut it", n, p.Length)
	}
	with := -1
	if p.With != nil {
		with = *p.With
	}
	return order.Pad(n, p.Length, with)
}

// Shuffle passes on samples in a random order.
type Shuffle struct {
	Seed  int `param:"seed" doc:"seed of the random order" default:"0"`
	Epoch int `param:"epoch" doc:"number of the epoch; each has its own order" default:"0"`

	Buffer int `param:"buffer" doc:"for streams only: number of buffered samples, from which the next one is drawn"`
}

// Check refuses a negative number.
func (s Shuffle) Check() error { return notNegative("buffer", s.Buffer) }

// Order returns n samples shuffled.
func (s Shuffle) Order(n int) (order.Order, error) {
	if s.Buffer > 0 {
		return nil, errors.New("buffer applies only to streams, and a dataset is shuffled as a whole; remove buffer")
	}
	return order.Shuffle(n, uint64(s.Seed), uint64(s.Epoch))
}

// Shard passes on the share of one process. Together the processes read each sample
// once, unless Rest says otherwise.
type Shard struct {
	Rank      int    `param:"rank,required" doc:"rank of the process, from 0"`
	WorldSize int    `param:"world-size,required" doc:"number of processes"`
	Rest      string `param:"rest" doc:"what to do with remaining samples: keep gives them to the first processes, drop leaves them out, repeat fills up with the first samples. With drop and repeat, all processes read equally many" enum:"keep|drop|repeat" default:"keep"`
}

// Check refuses a rank outside of the world size.
func (s Shard) Check() error {
	if s.WorldSize < 1 {
		return fmt.Errorf("world-size is %d; give at least 1", s.WorldSize)
	}
	if s.Rank < 0 || s.Rank >= s.WorldSize {
		return fmt.Errorf("rank is %d of %d; give 0 to world-size - 1", s.Rank, s.WorldSize)
	}
	return oneOf("rest", s.Rest, "", "keep", "drop", "repeat")
}

// Order returns the share of n samples.
func (s Shard) Order(n int) (order.Order, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	total := n
	switch over := n % s.WorldSize; {
	case s.Rest == "drop":
		total = n - over
	case s.Rest == "repeat" && over > 0:
		total = n - over + s.WorldSize
	}
	all, err := order.Cycle(n, total)
	if err != nil {
		return nil, err
	}
	mine, err := order.Shard(total, s.Rank, s.WorldSize)
	if err != nil || total <= n {
		return mine, err
	}
	return order.Then(mine, all), nil
}

// Sample draws samples with replacement.
type Sample struct {
	N     int `param:"n,required" doc:"number of samples to draw"`
	Seed  int `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch int `param:"epoch" doc:"number of the epoch; each has its own draws" default:"0"`
}

// Check refuses a negative number.
func (s Sample) Check() error { return notNegative("n", s.N) }

// Order returns s.N draws of n samples.
func (s Sample) Order(n int) (order.Order, error) {
	if n == 0 && s.N > 0 {
		return nil, errors.New("the dataset is empty; draw from one with samples")
	}
	return order.WithReplacement(n, s.N, seedOf(s.Seed, s.Epoch))
}

// seedOf returns the seed for the draws of a pass.
func seedOf(seed, epoch int) uint64 { return order.EpochSeed(uint64(seed), uint64(epoch)) }

// CheckLength passes on a dataset that has the expected number of samples.
type CheckLength struct {
	Min *int `param:"min" doc:"minimum number of samples"`
	Max *int `param:"max" doc:"greatest number of samples"`
}

// Check refuses bounds that exclude every number.
func (c CheckLength) Check() error {
	switch {
	case c.Min == nil && c.Max == nil:
		return errors.New("min and max are missing; give one, or both for an exact number")
	case c.Max != nil && *c.Max < 0 || c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		return errors.New("no length satisfies min and max; give 0 <= min <= max")
	}
	return nil
}

// Order returns the identity of n samples, or an error.
func (c CheckLength) Order(n int) (order.Order, error) {
	if c.Min != nil && n < *c.Min {
		return nil, fmt.Errorf("the dataset has %d samples, but at least %d are required", n, *c.Min)
	}
	if c.Max != nil && n > *c.Max {
		return nil, fmt.Errorf("the dataset has %d samples, but at most %d are allowed", n, *c.Max)
	}
	return order.Identity(n), nil
}

package op

import (
	"errors"
	"fmt"
	"math"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/order"
)

func init() {
	component.OnStreams(component.RegisterOrder("clone", "Passes on the dataset as it is.", Clone.Order), Clone.onStream)
	component.OnStreams(component.RegisterOrder("slice", "Passes on the samples from start up to stop, every step-th, as Python's slices do.", Slice.Order), Slice.onStream)
	component.RegisterOrder("reverse", "Passes on the samples from the last to the first.", Reverse.Order)
	component.RegisterOrder("repeat", "Passes on the whole dataset several times.", Repeat.Order)
	component.RegisterOrder("cycle", "Passes on so many samples, starting again when the dataset is at its end.", Cycle.Order)
	component.RegisterOrder("index", "Passes on the samples at the given positions, in that order, or all the others.", Index.Order)
	component.RegisterOrder("pad", "Makes a dataset longer by passing on one of its samples again and again at its end.", Pad.Order)
	component.OnStreams(component.RegisterOrder("shuffle", "Passes on the samples in a random order that depends only on the seed, the epoch and the number of samples.", Shuffle.Order), Shuffle.onStream)
	component.OnStreams(component.RegisterOrder("shard", "Passes on the samples that one of several processes is to read: every so many-th.", Shard.Order), Shard.onStream)
	component.RegisterOrder("sample", "Draws samples at random, with replacement: one may come several times or not at all. For some of them without replacement, shuffle and slice.", Sample.Order)
	component.RegisterOrder("check-length", "Passes on the dataset as it is, if it has as many samples as it should; anything else is an error.", CheckLength.Order)
}

// Clone passes on a dataset unchanged.
type Clone struct{}

// Order returns the identity of n samples.
func (Clone) Order(n int) (order.Order, error) { return order.Identity(n), nil }

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

// Reverse reverses a dataset.
type Reverse struct{}

// Order returns the reverse of n samples.
func (Reverse) Order(n int) (order.Order, error) { return order.Reverse(n), nil }

// Repeat passes on a dataset several times.
type Repeat struct {
	Times      float64 `param:"times,required" doc:"how many times; 0 gives an empty dataset, 2.5 two and a half passes: the samples of the first half come three times, the others twice"`
	Interleave bool    `param:"interleave" doc:"repeat each sample in its place instead of the whole sequence"`
}

// Check refuses a negative number.
func (r Repeat) Check() error {
	if !(r.Times >= 0) || math.IsInf(r.Times, 1) {
		return fmt.Errorf("times is %v and must be a number that is not negative", r.Times)
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
	N int `param:"n,required" doc:"how many samples to pass on"`
}

// Check refuses a negative number.
func (c Cycle) Check() error { return notNegative("n", c.N) }

// Order returns c.N of n samples.
func (c Cycle) Order(n int) (order.Order, error) { return order.Cycle(n, c.N) }

// Index selects samples by position.
type Index struct {
	Indices []int `param:"indices,required" doc:"positions, in any order and as often as wanted; negative counts from the end"`
	Negate  bool  `param:"negate" doc:"pass on all other samples, in the order of the dataset"`
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
	Length   int  `param:"length,required" doc:"how many samples to pass on"`
	With     *int `param:"with" doc:"position of the sample to pad with; negative counts from the end, and without it is -1, the last" default:"-1"`
	Truncate bool `param:"truncate" doc:"cut a dataset that is longer, which is an error otherwise"`
}

// Check refuses a negative length.
func (p Pad) Check() error { return notNegative("length", p.Length) }

// Order returns n samples padded.
func (p Pad) Order(n int) (order.Order, error) {
	if n > p.Length && p.Truncate {
		return order.Slice(n, nil, &p.Length, nil)
	}
	if n > p.Length {
		return nil, fmt.Errorf("the dataset has %d samples and is longer than %d; to cut it, set truncate: true", n, p.Length)
	}
	with := -1
	if p.With != nil {
		with = *p.With
	}
	return order.Pad(n, p.Length, with)
}

// Shuffle passes on samples in a random order.
type Shuffle struct {
	Seed  int `param:"seed" doc:"another seed gives another order" default:"0"`
	Epoch int `param:"epoch" doc:"the pass over the data: each has an order of its own" default:"0"`

	Buffer int `param:"buffer" doc:"of a stream alone: how many samples are held, from which the next one is drawn"`
}

// Check refuses a negative number.
func (s Shuffle) Check() error { return notNegative("buffer", s.Buffer) }

// Order returns n samples shuffled.
func (s Shuffle) Order(n int) (order.Order, error) {
	if s.Buffer > 0 {
		return nil, errors.New("buffer is for streams; a dataset is shuffled as a whole: remove it")
	}
	return order.Shuffle(n, uint64(s.Seed), uint64(s.Epoch))
}

// Shard passes on the share of one process. Together the processes read each sample
// once, unless Rest says otherwise.
type Shard struct {
	Rank      int    `param:"rank,required" doc:"number of the process, from 0"`
	WorldSize int    `param:"world-size,required" doc:"how many processes there are"`
	Rest      string `param:"rest" doc:"what becomes of the last samples where the number does not divide: keep gives them to the first processes, drop leaves them out, repeat gives the others the first samples again; with the last two all read equally many" enum:"keep|drop|repeat" default:"keep"`
}

// Check refuses a rank outside of the world size.
func (s Shard) Check() error {
	if s.WorldSize < 1 || s.Rank < 0 || s.Rank >= s.WorldSize {
		return fmt.Errorf("there is no rank %d of %d: ranks go from 0 to world-size - 1", s.Rank, s.WorldSize)
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
	N     int `param:"n,required" doc:"how many samples to draw"`
	Seed  int `param:"seed" doc:"another seed draws others" default:"0"`
	Epoch int `param:"epoch" doc:"the pass over the data: each draws its own" default:"0"`
}

// Check refuses a negative number.
func (s Sample) Check() error { return notNegative("n", s.N) }

// Order returns s.N draws of n samples.
func (s Sample) Order(n int) (order.Order, error) {
	if n == 0 && s.N > 0 {
		return nil, errors.New("the dataset is empty: there is no sample to draw")
	}
	return order.Draw(n, s.N, seedOf(s.Seed, s.Epoch))
}

// seedOf returns the seed for the draws of a pass.
func seedOf(seed, epoch int) uint64 { return order.EpochSeed(uint64(seed), uint64(epoch)) }

// CheckLength passes on a dataset that has the expected number of samples.
type CheckLength struct {
	Min *int `param:"min" doc:"as many samples, or more"`
	Max *int `param:"max" doc:"as many samples, or fewer"`
}

// Check refuses bounds that exclude every number.
func (c CheckLength) Check() error {
	switch {
	case c.Min == nil && c.Max == nil:
		return errors.New("min or max must be given; for a certain number, both")
	case c.Max != nil && *c.Max < 0 || c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		return errors.New("no number of samples is at least min and at most max")
	}
	return nil
}

// Order returns the identity of n samples, or an error.
func (c CheckLength) Order(n int) (order.Order, error) {
	if c.Min != nil && n < *c.Min {
		return nil, fmt.Errorf("the dataset has %d samples and should have at least %d", n, *c.Min)
	}
	if c.Max != nil && n > *c.Max {
		return nil, fmt.Errorf("the dataset has %d samples and should have at most %d", n, *c.Max)
	}
	return order.Identity(n), nil
}

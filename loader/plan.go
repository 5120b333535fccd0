package loader

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/order"
)

// A Kind is the kind of order of the samples in an epoch.
type Kind int

// The kinds of orders. All are functions of seed, epoch and position.
const (
	// Sequential is the order of the parts and their samples, the same in each
	// epoch.
	Sequential Kind = iota
	// Shuffled has each sample once, in a new random order in each epoch.
	Shuffled
	// WithReplacement draws with replacement: from the parts by weight, or from all
	// samples.
	WithReplacement
	// Mixed draws from the parts by weight, each of them in shuffled passes
	// ([order.Blend]).
	Mixed
)

var kinds = []string{"sequential", "shuffled", "with replacement", "mixed"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kinds[k]
}

// A Part is one of the datasets of a plan.
type Part struct {
	Name string // for errors and states
	Len  int    // number of samples
	// Identity identifies the samples, like the digest of
	// [dataset.Fingerprint]. A state with another identity is refused; an empty
	// one is not checked.
	Identity string
	// Only selects samples and their sequential order; nil means all of them.
	// Integers below 0 and from Len on are refused.
	Only order.Order
	// Weight is the part's share of the draws, relative to the others. It is for Mixed,
	// and for WithReplacement, where all weights may be 0.
	Weight float64
	// Lengths are the lengths of all samples, for batches that depend on them
	// ([Lengths]).
	Lengths []int
}

// PlanOptions say which samples each batch has.
type PlanOptions struct {
	Parts []Part
	Order Kind
	Seed  uint64
	// Draws is the number of samples in an epoch of orders WithReplacement (0: the
	// number of samples) and Mixed.
	Draws int
	// Stop says where an epoch of order Mixed ends.
	Stop  order.Stop
	Batch BatchOptions
	// LastStep says what happens in the last step of an epoch if it has fewer
	// batches than ranks.
	LastStep LastStep
}

// LastBatch says what happens to samples that are too few for a batch.
type LastBatch int

// The values of LastBatch.
const (
	KeepLastBatch LastBatch = iota // they form a smaller batch
	DropLastBatch                  // they are dropped
	PadLastBatch                   // the batch repeats its own samples, from the first on, as padding
)

// LastStep says what happens to the last batches of an epoch if they are too few
// for all ranks. A step is one batch on each rank.
type LastStep int

// The values of LastStep.
const (
	// PadLastStep repeats the last batch, all of it as padding, for the ranks
	// without a batch. So all ranks have the same number of batches, and no
	// sample is lost.
	PadLastStep LastStep = iota
	// DropLastStep drops these batches for all ranks.
	DropLastStep
	// UnevenLastStep leaves the ranks without a batch one batch short.
	UnevenLastStep
)

// A Plan says which samples each batch of each epoch has. It is a function of
// its options and safe for concurrent use.
type Plan struct {
	PlanOptions
	samples int         // number that can be drawn
	starts  []int       // the number of the first sample of each part
	pick    order.Order // from positions among the samples that can be drawn to their numbers
	lengths []int       // by number of the sample, if known
	pools   []order.Pool
	print   Fingerprint

	mu     sync.Mutex
	recent []*Epoch // the last few epochs with tables
}

// NewPlan checks the options, and returns an error if they are invalid.
func NewPlan(o PlanOptions) (*Plan, error) {
	p := &Plan{PlanOptions: o}
	p.Parts = slices.Clone(o.Parts)
	if err := p.take(); err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	if err := p.checkOrder(); err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	if err := p.checkBatches(); err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	p.print = p.fingerprint()
	return p, nil
}

func (p *Plan) take() error {
	if len(p.Parts) == 0 {
		return errors.New("no parts; give it a dataset")
	}
	var picks []order.Order
	next, known := 0, true
	for k, part := range p.Parts {
		switch {
		case part.Len < 0 || part.Len > maxPosition-next:
			return fmt.Errorf("part %d (%s) has %d samples", k, part.Name, part.Len)
		case part.Lengths != nil && len(part.Lengths) != part.Len:
			return fmt.Errorf("part %d (%s) has %d samples and %d lengths", k, part.Name, part.Len, len(part.Lengths))
		}
		pick, n := order.Identity(part.Len), part.Len
		if part.Only != nil {
			if err := checkOnly(part); err != nil {
				return fmt.Errorf("part %d (%s): %w", k, part.Name, err)
			}
			pick, n = part.Only, part.Only.Len()
		}
		picks = append(picks, moved{pick, next})
		p.pools = append(p.pools, order.Pool{N: n, Weight: part.Weight})
		p.starts = append(p.starts, next)
		known = known && (part.Lengths != nil || part.Len == 0)
		next, p.samples = next+part.Len, p.samples+n
	}
	p.pick = order.Concat(picks...)
	if p.samples == next && !slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Only != nil }) {
		p.pick = order.Identity(next)
	}
	if known {
		for _, part := range p.Parts {
			p.lengths = append(p.lengths, part.Lengths...)
		}
	}
	return nil
}

func checkOnly(part Part) error {
	for pos := range part.Only.Len() {
		if i := part.Only.At(pos); i < 0 || i >= part.Len {
			return fmt.Errorf("only: there is no sample %d of %d", i, part.Len)
		}
	}
	return nil
}

func (p *Plan) checkOrder() error {
	switch {
	case p.Order < Sequential || p.Order > Mixed:
		return fmt.Errorf("there is no order %v", p.Order)
	case p.Draws < 0 || p.Draws > maxPosition:
		return fmt.Errorf("cannot draw %d samples", p.Draws)
	case p.Draws != 0 && (p.Order == Sequential || p.Order == Shuffled):
		return fmt.Errorf("an epoch of order %v has each sample once; leave out the number of draws", p.Order)
	case p.Draws != 0 && p.Order == Mixed && p.Stop != order.AfterDraws:
		return errors.New("a mixture ends after a number of draws or with its parts; leave out one of them")
	case p.Draws == 0 && p.Order == Mixed && p.Stop == order.AfterDraws:
		return errors.New("a mixture has no end; give a number of draws, or stop at its first or last part")
	case p.Stop != order.AfterDraws && p.Order != Mixed:
		return fmt.Errorf("order %v does not end with its parts; leave out where it stops", p.Order)
	case p.samples == 0:
		return p.noSamples()
	case p.LastStep < PadLastStep || p.LastStep > UnevenLastStep:
		return fmt.Errorf("there is no last step %d", p.LastStep)
	}
	if err := p.checkWeights(); err != nil {
		return err
	}
	_, err := p.drawn(0)
	return err
}

func (p *Plan) noSamples() error {
	names := make([]string, len(p.Parts))
	for k, part := range p.Parts {
		names[k] = part.Name
	}
	return fmt.Errorf("node %s: no samples; give it a source that has some, or another subset", strings.Join(names, ", "))
}

func (p *Plan) checkWeights() error {
	if p.Order != Mixed && p.Order != WithReplacement {
		return nil
	}
	sum := 0.0
	for k, part := range p.Parts {
		switch {
		case !(part.Weight >= 0):
			return fmt.Errorf("node %s: weight %v; give it 0 or more", part.Name, part.Weight)
		case part.Weight > 0 && p.pools[k].N == 0:
			return fmt.Errorf("node %s: no samples to mix; leave it out, or give it the weight 0", part.Name)
		}
		sum += part.Weight
	}
	if p.Order == Mixed && sum == 0 {
		return errors.New("nodes: all weights are 0; give one of them more")
	}
	return nil
}

// drawn returns the order of an epoch's draws: from positions to numbers of
// samples.
func (p *Plan) drawn(epoch uint64) (o order.Order, err error) {
	switch p.Order {
	case Shuffled:
		o, err = order.Shuffle(p.samples, p.Seed, epoch)
	case WithReplacement:
		draws, pools := p.Draws, p.pools
		if draws == 0 {
			draws = p.samples
		}
		if !slices.ContainsFunc(pools, func(q order.Pool) bool { return q.Weight != 0 }) {
			pools = []order.Pool{{N: p.samples, Weight: 1}}
		}
		o, err = order.Mix(draws, order.EpochSeed(p.Seed, epoch), pools...)
	case Mixed:
		o, err = order.Blend(order.EpochSeed(p.Seed, epoch), p.Stop, p.Draws, p.pools...)
	default:
		o = order.Identity(p.samples)
	}
	if err != nil {
		return nil, err
	}
	return order.Then(o, p.pick), nil
}

// moved is an order with a number added to all indexes.
type moved struct {
	order.Order
	by int
}

func (m moved) At(pos int) int { return m.Order.At(pos) + m.by }

func (m moved) Next(index, after int) (int, bool) { return m.Order.Next(index-m.by, after) }

// A Key identifies a sample.
type Key struct {
	Part  int `json:"part"`  // index of the part
	Index int `json:"index"` // index of the sample in the part
}

// key returns the key of the sample with a number.
func (p *Plan) key(number int) Key {
	k, exact := slices.BinarySearch(p.starts, number)
	if !exact {
		k--
	}
	for exact && k+1 < len(p.starts) && p.starts[k+1] == number { // parts without samples
		k++
	}
	return Key{k, number - p.starts[k]}
}

// Number returns the number of a sample, counted over all parts.
func (p *Plan) Number(k Key) int { return p.starts[k.Part] + k.Index }

// describe names a sample for an error message.
func (p *Plan) describe(number int) string {
	k := p.key(number)
	if name := p.Parts[k.Part].Name; name != "" {
		return fmt.Sprintf("sample %d of %s", k.Index, name)
	}
	return fmt.Sprintf("sample %d", k.Index)
}

// Start returns the state at the start of the first epoch.
func (p *Plan) Start() State { return State{Plan: p.print, Seed: p.Seed} }

// StartOf returns the state at the start of an epoch.
func (p *Plan) StartOf(epoch uint64) State { return State{Plan: p.print, Seed: p.Seed, Epoch: epoch} }

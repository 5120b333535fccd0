// Package loader makes batches of the samples of datasets, in an exact order that can
// be resumed.
//
// A [Plan] says which samples each batch of each epoch has: a function of its options, a
// seed and the number of the epoch. Batches are numbered over all ranks: rank r of R has
// every R-th of them, from where it begins. So a [State] is one position for all ranks,
// less than 64 bytes of text, and any number of ranks can go on from it: they have the
// batches that an uninterrupted run would have had, each once.
//
// A [Loader] reads the samples of a plan, and a [Reader] hands its batches out in their
// order while the next ones are made, within a bound in bytes. A sample that several
// readers are at is read and decoded once. What a batch has does not depend on how much
// is done at once.
//
// A [Batch] is one piece of memory in which each item of the samples is a [Field]: arrays
// of numbers and images, padded or not, text, bytes. Items are written straight into it,
// and converted on the way. Where the memory comes from is up to [Rooms].
package loader

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// Data is a dataset of samples.
type Data = dataset.Dataset[dataset.Sample]

// Options say what a loader reads, and how.
type Options struct {
	// Data are the datasets of the plan's parts, one for each.
	Data []Data
	// Epoch returns the datasets of an epoch in place of Data, each as long as its
	// counterpart: where mappers draw anew in each epoch. It may be nil. It is called by
	// each reader when it comes to an epoch.
	Epoch func(ctx context.Context, epoch uint64) ([]Data, error)
	// Plan says which samples each batch has. The lengths of parts are those of Data and
	// may be left out, and so may the only part.
	Plan PlanOptions
	// Fields declare what batches have. None stands for all items of the first sample of
	// a batch, in the form Auto.
	Fields []FieldOptions
	// Pool bounds what is done at once, by all readers together; nil is one of its own.
	Pool *pool.Pool
	// Skip is how many samples of an epoch a reader may pass over as they cannot be read;
	// with none the first is an error. The batch of such a sample is smaller, or with
	// the rest Fill filled up; the others stay as they are. A batch of which no sample
	// can be read is an error in any case, and so is a file that changed meanwhile.
	Skip int
	// OnSkip is told of each sample that is passed over, in the order of the batches,
	// when its batch is handed out. It may be nil.
	OnSkip func(s Skip)
	// Caches are told in which order the samples will be read ([dataset.CachedDataset]),
	// by each reader of rank 0 as it comes to an epoch.
	Caches []*dataset.CachedDataset
	// Watch are others, of which [Loader.Hits] tells as well, and which are told nothing.
	Watch []*dataset.CachedDataset
	// MeasureAll has [Loader.Stages] know the stages of all batches, in place of some in
	// a second, at the cost of some microseconds for each sample.
	MeasureAll bool
}

// A Loader makes batches. It holds no goroutines, and may be used by many.
type Loader struct {
	options Options
	plan    *Plan
	pool    *pool.Pool
	shelf   shelf
	heap    heapRooms

	forecasts forecasts
	stages    stages
	batch     int                        // samples that are best made together
	declared  func() (key.Digest, error) // what makes elements of items: see [ItemKey]
}

// New returns a loader, or what is wrong with the options. It reads nothing.
func New(o Options) (*Loader, error) {
	if len(o.Plan.Parts) == 0 && len(o.Data) == 1 {
		o.Plan.Parts = []Part{{}}
	}
	if len(o.Data) != len(o.Plan.Parts) {
		return nil, fmt.Errorf("loader: %d datasets and %d parts of the plan; give it one for each", len(o.Data), len(o.Plan.Parts))
	}
	parts := append([]Part(nil), o.Plan.Parts...)
	l := &Loader{options: o, pool: o.Pool, shelf: shelf{of: map[place]*held{}}}
	l.stages.all = o.MeasureAll
	l.declared = sync.OnceValues(l.declares)
	for k, ds := range o.Data {
		if n := ds.Len(); parts[k].Len != 0 && parts[k].Len != n {
			return nil, fmt.Errorf("loader: part %d (%s) is to have %d samples, and its dataset has %d", k, parts[k].Name, parts[k].Len, n)
		}
		parts[k].Len = ds.Len()
		l.batch = max(l.batch, dataset.BatchOf(ds))
	}
	o.Plan.Parts = parts
	if l.pool == nil {
		l.pool = pool.New(0)
	}
	if o.Skip < 0 {
		return nil, errors.New("loader: a number of samples to skip is below 0")
	}
	names := map[string]bool{}
	for i := range o.Fields {
		f := &o.Fields[i]
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("loader: %w", err)
		}
		if names[f.name()] {
			return nil, fmt.Errorf("loader: two fields are called %s; give one of them another name", f.name())
		}
		names[f.name()] = true
	}
	var err error
	l.plan, err = NewPlan(o.Plan)
	return l, err
}

// declares stands for what makes elements of items: decoders, the program, and how all
// fields are declared.
func (l *Loader) declares() (key.Digest, error) {
	build, err := key.Build()
	text := fmt.Sprintf("%v %s\n%+v", build, dataset.Codecs(), l.options.Fields)
	return key.DigestOf([]byte(text)), err
}

// keyed makes the key of a sample's item as the batches of this loader have it.
func (l *Loader) keyed(item []byte) ([]byte, error) {
	own, err := l.declared()
	sum := key.DigestOf(append(own[:], item...))
	return sum[key.Size-keyBytes:], err
}

// Plan returns the loader's plan.
func (l *Loader) Plan() *Plan { return l.plan }

// An edition is the datasets of an epoch. If they are those of all epochs its number is
// 0.
type edition struct {
	number uint64
	data   []Data
}

func (l *Loader) edition(ctx context.Context, epoch uint64) (edition, error) {
	if l.options.Epoch == nil {
		return edition{data: l.options.Data}, nil
	}
	data, err := l.options.Epoch(ctx, epoch)
	if err == nil && len(data) != len(l.options.Data) {
		err = fmt.Errorf("%d datasets, not %d", len(data), len(l.options.Data))
	}
	for k := 0; err == nil && k < len(data); k++ {
		if n, want := data[k].Len(), l.plan.Parts[k].Len; n != want {
			err = fmt.Errorf("dataset %d has %d samples, and %d in other epochs", k, n, want)
		}
	}
	if err != nil {
		return edition{}, fmt.Errorf("loader: epoch %d: %w", epoch, err)
	}
	return edition{epoch, data}, nil
}

// sample returns the sample of a number.
func (l *Loader) sample(ctx context.Context, e edition, number int) (dataset.Sample, error) {
	return l.shelf.take(ctx, place{e.number, number}, func() (dataset.Sample, error) {
		k := l.plan.key(number)
		return e.data[k.Part].At(ctx, k.Index)
	})
}

// foretell tells the caches what will be read from a state on, to the end of the epoch
// after it.
func (l *Loader) foretell(s State, e edition) {
	if len(l.options.Caches)+len(l.options.Watch) == 0 {
		return
	}
	reads, begun, ok := l.reads(s)
	if !ok || len(l.options.Caches) == 0 {
		l.forecasts.begin(s.Epoch, nil, 0, 0, l.options.Caches, l.options.Watch)
		return
	}
	n := reads.Len() - begun
	if next, ok := l.plan.Reads(l.plan.StartOf(s.Epoch+1), 1); ok {
		n -= next.Len()
	}
	all := dataset.Reorder(dataset.Cat(e.data...), reads)
	known := map[int]order.Order{}
	for k, c := range l.options.Caches {
		if o, ok := dataset.ReadOrder(all, c); ok {
			known[k] = o
		}
	}
	l.forecasts.begin(s.Epoch, known, begun, n, l.options.Caches, l.options.Watch)
	for k, o := range known {
		l.options.Caches[k].Expect(o, begun)
	}
}

// mostBegun is how many reads may still be coming when an epoch begins.
const mostBegun = 4096

// reads is what is read from a state on, to the end of the epoch after it; the first of
// it, so many, have been begun: those before the state, of which some are still coming.
func (l *Loader) reads(s State) (o order.Order, begun int, ok bool) {
	if o, ok = l.plan.Reads(s, 2); !ok {
		return nil, 0, false
	}
	before := l.plan.StartOf(s.Epoch)
	if s.Position == 0 && s.Epoch > 0 {
		before = l.plan.StartOf(s.Epoch - 1)
	}
	past, ok := l.plan.Reads(before, 1)
	if !ok {
		return nil, 0, false
	}
	if s.Position > 0 {
		rest, _ := l.plan.Reads(s, 1)
		past = order.Then(order.Affine{Step: 1, N: past.Len() - rest.Len()}, past)
	}
	begun = min(mostBegun, past.Len())
	past = order.Then(order.Affine{Start: past.Len() - begun, Step: 1, N: begun}, past)
	both := order.Concat(past, o)
	if order.OncePerPass(o) {
		both = passes{both}
	}
	return both, begun, true
}

// Package loader provides batches of the samples of datasets, in an exact order
// that can be resumed.
//
// A [Plan] says which samples each batch of each epoch has, as a function of
// its options, a seed and the number of the epoch. Batches are numbered over
// all ranks: rank r of R has every R-th of them, from its start. So a [State]
// is one position for all ranks, shorter than 64 bytes as text. Any number of
// ranks can continue from it, and together they get each batch of an
// uninterrupted run once.
//
// A [Loader] reads the samples of a plan. A [Reader] returns its batches in
// order and prefetches the next ones, within a bound in bytes. A sample in use
// by several readers is read and decoded once. The content of a batch does not
// depend on the concurrency.
//
// A [Batch] is one piece of memory in which each item of the samples is a
// [Field]: arrays of numbers and images, padded or not, text, bytes. Items are
// converted while they are written into it, without another copy. An
// [Allocator] provides the memory.
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
	// Epoch, if not nil, returns the datasets of an epoch in place of Data,
	// each with the same length. It is for mappers with new random draws in
	// each epoch. Each reader calls it when it reaches an epoch.
	Epoch func(ctx context.Context, epoch uint64) ([]Data, error)
	// Plan says which samples each batch has. The lengths of parts default to
	// those of Data, and a single part may be left out.
	Plan PlanOptions
	// Fields declare the fields of batches. None means all items of the first
	// sample of a batch, in the collation Auto.
	Fields []FieldOptions
	// Pool bounds the concurrency of all readers together; nil means a new
	// pool.
	Pool *pool.Pool
	// Skip is the number of unreadable samples that a reader may skip in an
	// epoch; with 0, the first is an error. The batch of a skipped sample is
	// smaller, or is padded with PadLastBatch. Other batches are
	// unaffected. A batch without a readable sample is an error in any case,
	// and so is a file that changed during the read.
	Skip int
	// OnSkip, if not nil, receives each skipped sample when its batch is
	// returned, in the order of the batches.
	OnSkip func(s Skip)
	// Caches receive the order in which the samples will be read
	// ([dataset.CachedDataset]), from each reader of rank 0 when it reaches an
	// epoch.
	Caches []*dataset.CachedDataset
	// Watch are further caches for [Loader.Hits], which receive no order.
	Watch []*dataset.CachedDataset
	// MeasureAll makes [Loader.Stages] measure all batches rather than a few
	// per second, which costs some microseconds per sample.
	MeasureAll bool
}

// A Loader provides batches. It has no goroutines of its own, and is safe for
// concurrent use.
type Loader struct {
	options Options
	plan    *Plan
	pool    *pool.Pool
	shelf   shelf
	heap    heapAllocator

	forecasts forecasts
	stages    stages
	batch     int                        // preferred number of samples to compute together
	declared  func() (key.Digest, error) // identity of the conversion from items to elements: see [ItemKey]
}

// New returns a loader, or an error if the options are invalid. It reads
// nothing.
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

// declares identifies the conversion from items to elements: decoders, the
// program, and the declarations of all fields.
func (l *Loader) declares() (key.Digest, error) {
	build, err := key.Build()
	text := fmt.Sprintf("%v %s\n%+v", build, dataset.Codecs(), l.options.Fields)
	return key.DigestOf([]byte(text)), err
}

// keyed returns the key of a sample's item for the batches of this loader.
func (l *Loader) keyed(item []byte) ([]byte, error) {
	own, err := l.declared()
	sum := key.DigestOf(append(own[:], item...))
	return sum[key.Size-keyBytes:], err
}

// Plan returns the loader's plan.
func (l *Loader) Plan() *Plan { return l.plan }

// An edition is the datasets of an epoch. Its number is 0 if they are the same
// for all epochs.
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

// sample returns the sample with a number.
func (l *Loader) sample(ctx context.Context, e edition, number int) (dataset.Sample, error) {
	return l.shelf.take(ctx, place{e.number, number}, func() (dataset.Sample, error) {
		k := l.plan.key(number)
		return e.data[k.Part].At(ctx, k.Index)
	})
}

// foretell passes the reads from a state on, to the end of the following epoch,
// to the caches.
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
		l.options.Caches[k].SetFutureReads(o, begun)
	}
}

// maxBegun bounds the outstanding reads at the start of an epoch.
const maxBegun = 4096

// reads returns the order of reads to the end of the epoch after a state. The
// first begun reads of it precede the state, and some of them may still be in
// progress.
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
	begun = min(maxBegun, past.Len())
	past = order.Then(order.Affine{Start: past.Len() - begun, Step: 1, N: begun}, past)
	both := order.Concat(past, o)
	if order.OncePerPass(o) {
		both = passes{both}
	}
	return both, begun, true
}

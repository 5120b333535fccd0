package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// A Scan is one full pass over a dataset that computes a small value for each sample:
// whether it passes a filter, or its group. The values of the whole pass are cached, so
// a second run over the same samples reads none of them.
type Scan[T any] struct {
	Node   string         // for errors
	Op     *key.Op        // identity of the computation
	Reads  []string       // items that Each receives and that must exist; nil means all
	May    []string       // those of Reads that may be missing
	Pool   *pool.Pool     // bounds the samples read concurrently
	Larder *larder.Larder // nil: nothing is cached
	Stats  *NodeStats     // may be nil
	Each   func(ctx context.Context, s Sample) (T, error)
}

// maxScanned is the largest number of samples of a scan: each takes about 40 bytes of
// memory.
const maxScanned = 1 << 28

// Run returns the value of each sample of ds, in order.
func (s Scan[T]) Run(ctx context.Context, ds Dataset[Sample]) ([]T, error) {
	if n := ds.Len(); n > maxScanned {
		return nil, fmt.Errorf("the operator reads all %d samples together, and at most %d are supported; select fewer, or apply it before a repeat", n, maxScanned)
	}
	if s.Stats == nil {
		s.Stats = new(NodeStats)
	}
	if s.Larder == nil && larder.IsCachedOnly(ctx) {
		return s.dryRun(ctx, ds, PendingScan{})
	}
	if s.Larder == nil {
		return s.pass(ctx, ds, nil)
	}
	input, names, err := s.input(ctx, ds, nil)
	if errors.Is(err, larder.ErrNotCached) {
		return s.dryRun(ctx, ds, PendingScan{})
	}
	if err != nil {
		return nil, err
	}
	var found []T // of samples that were computed for their identity
	r, err := larder.Call[[]T]{
		Action: s.Op.Action(input),
		Compute: func(ctx context.Context) ([]T, error) {
			if found != nil {
				s.Stats.Computed.Add(int64(len(found)))
				return found, nil
			}
			return s.pass(ctx, ds, names)
		},
		Resolve: func(ctx context.Context) ([]key.Input, error) {
			values := make([]T, ds.Len())
			input, _, err := s.input(ctx, ds, values)
			found = values
			return []key.Input{input}, err
		},
	}.Do(ctx, s.Larder)
	if errors.Is(err, larder.ErrNotCached) {
		return s.dryRun(ctx, ds, PendingScan{Action: s.Op.Action(input).Key()})
	}
	if err != nil {
		return nil, err
	}
	s.Stats.note(r.Reads, r.Uncached)
	switch r.From {
	case larder.FromMemory:
		s.Stats.FromMemory.Add(int64(ds.Len()))
	case larder.FromStore:
		s.Stats.FromStore.Add(int64(ds.Len()))
		s.Stats.BytesRead.Add(r.Bytes)
	case larder.Computed:
		s.Stats.BytesWritten.Add(r.Bytes)
	}
	return r.Value, nil
}

// pass calls Each for every sample. Under [larder.CachedOnly] it continues after samples that
// are not cached.
func (s Scan[T]) pass(ctx context.Context, ds Dataset[Sample], names []byte) ([]T, error) {
	values := make([]T, ds.Len())
	var dry atomic.Bool
	err := s.each(ctx, ds, true, func(ctx context.Context, i int, in Sample, err error) error {
		if err == nil {
			values[i], err = s.look(ctx, in, i, names)
		}
		if errors.Is(err, larder.ErrNotCached) {
			dry.Store(true)
			return nil
		}
		return err
	})
	if err == nil && dry.Load() {
		err = larder.ErrNotCached
	}
	return values, err
}

// look calls Each for one sample, which must be unchanged since the pass was identified.
func (s Scan[T]) look(ctx context.Context, in Sample, i int, names []byte) (v T, err error) {
	if err := s.unchanged(ctx, in, i, names); err != nil {
		return v, err
	}
	if v, err = s.value(ctx, in, i); err == nil {
		s.Stats.Computed.Add(1)
		s.Stats.Done.Add(1)
	}
	return v, err
}

// value calls Each for a sample.
func (s Scan[T]) value(ctx context.Context, in Sample, i int) (T, error) {
	v, err := s.Each(ctx, in)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, larder.ErrNotCached) {
			s.Stats.Failed.Add(1)
		}
		err = &SampleError{Node: s.Node, Index: i, Err: err}
	}
	return v, err
}

// each calls do with the items of each sample that the pass reads, or with an error. If
// made is set, it first computes samples in batches where possible.
func (s Scan[T]) each(ctx context.Context, ds Dataset[Sample], made bool, do func(ctx context.Context, i int, in Sample, err error) error) error {
	n := BatchOf(ds)
	if n == 0 || !made || larder.IsCachedOnly(ctx) {
		return s.Pool.Each(ctx, ds.Len(), func(ctx context.Context, i int) error {
			in, err := s.at(ctx, ds, i)
			return do(ctx, i, in, err)
		})
	}
	read := Func(ds.Len(), func(ctx context.Context, i int) (Sample, error) { return s.at(ctx, ds, i) })
	return Pass(ctx, WithMinBatch(read, n), s.Pool, func(ctx context.Context, i int, in Sample) error { return do(ctx, i, in, nil) })
}

func (s Scan[T]) at(ctx context.Context, ds Dataset[Sample], i int) (Sample, error) {
	in, err := ds.At(ctx, i)
	if err != nil || s.Reads == nil {
		return in, err
	}
	reads := s.Reads
	if s.May != nil {
		reads = slices.DeleteFunc(slices.Clone(reads), func(name string) bool {
			_, there := in.Field(name)
			return !there && slices.Contains(s.May, name)
		})
	}
	if in, err = in.pick(reads); err != nil {
		return Sample{}, &SampleError{Node: s.Node, Index: i, Err: err}
	}
	return in, nil
}

// input identifies all items that the pass reads: without computing or, if values is not
// nil, by content. The second case computes samples, which may take long, so it also
// computes their values.
func (s Scan[T]) input(ctx context.Context, ds Dataset[Sample], values []T) (key.Input, []byte, error) {
	names := make([]byte, ds.Len()*key.Size)
	deep := make([]bool, ds.Len())
	err := s.each(ctx, ds, values != nil, func(ctx context.Context, i int, in Sample, err error) error {
		if err != nil {
			return err
		}
		inputs, err := inputsOf(ctx, s.Larder, in, values != nil)
		if err != nil {
			return &SampleError{Node: s.Node, Index: i, Err: err}
		}
		a := s.Op.Action(inputs...)
		k := a.Key()
		deep[i] = !a.Resolved()
		copy(names[i*key.Size:], k[:])
		if values != nil {
			values[i], err = s.value(ctx, in, i)
			s.Stats.Done.Add(1)
		}
		return err
	})
	if err != nil {
		return key.Input{}, nil, err
	}
	all := key.DigestOf(names)
	for _, d := range deep {
		if d {
			return key.Input{Name: "samples", Ref: key.Result(key.Key(all), "all")}, names, nil
		}
	}
	return key.Input{Name: "samples", Ref: key.Content(all)}, names, nil
}

// unchanged returns an error if a sample changed since the pass was identified: samples
// are computed again for the pass, and a file may change in between.
func (s Scan[T]) unchanged(ctx context.Context, in Sample, i int, names []byte) error {
	if names == nil {
		return nil
	}
	inputs, err := inputsOf(ctx, s.Larder, in, true)
	if err == nil && s.Op.Action(inputs...).Key() != key.Key(names[i*key.Size:][:key.Size]) {
		err = ErrChanged
	}
	if err != nil {
		return &SampleError{Node: s.Node, Index: i, Err: err}
	}
	return nil
}

// inputsOf returns the items of a sample as inputs of an action, in an order independent
// of the sample's. If resolved is set, items are identified by content and computed if
// necessary.
func inputsOf(ctx context.Context, l *larder.Larder, s Sample, resolved bool) ([]key.Input, error) {
	inputs := make([]key.Input, 0, s.Len())
	for f := range s.Fields() {
		in, err := inputOf(ctx, l, f, resolved)
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
		inputs = append(inputs, in)
	}
	slices.SortFunc(inputs, func(a, b key.Input) int { return strings.Compare(a.Name, b.Name) })
	return inputs, nil
}

func inputOf(ctx context.Context, l *larder.Larder, f Field, resolved bool) (in key.Input, err error) {
	in.Name = f.Key
	if resolved {
		var d key.Digest
		d, err = f.Item.Digest(ctx)
		in.Ref = key.Content(d)
	} else {
		in.Ref, err = f.Item.Ref(ctx)
	}
	switch {
	case err != nil:
	case in.Ref.IsContent():
		var ext string
		if ext, err = f.Item.Ext(ctx); err == nil {
			in.Kind, err = kind(ctx, l, ext)
		}
	default:
		in.Kind, err = anyCodec(ctx, l)
	}
	return in, err
}

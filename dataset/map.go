package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"golang.org/x/sync/semaphore"
)

// MapOptions configures [Map].
type MapOptions struct {
	// Node is the name of the node in a flow, for errors and explanations.
	Node string
	// Larder caches results; nil computes them on each access.
	Larder *larder.Larder
	// Keep caches every computed sample across runs.
	Keep bool
	// Slots bounds the samples computed concurrently: each takes one slot. Nil means that
	// only the callers limit them.
	Slots *semaphore.Weighted
	// Stats counts executions and hits; it may be nil.
	Stats *NodeStats
	// Cached, if not nil, is called for each cached result that is returned: with its
	// position, the key of its record, and the key of the lookup.
	Cached func(index int, record, action key.Key)
}

// Map applies a mapper to each sample of a dataset.
//
// A [Transform] that declares its outputs runs only when one of them is requested; other
// items are passed on unread. An output that replaces a shared item stays shared if it
// is the same for all samples. That holds if it is computed only from shared items (see
// also [TransformFunc]) and no random number depends on the position.
func Map(ds Dataset[Sample], m Mapper, o MapOptions) Dataset[Sample] {
	if o.Stats == nil {
		o.Stats = new(NodeStats)
	}
	switch m := m.(type) {
	case *chain:
		return newComposed(ds, m, o)
	case Transform:
		return newMapped(ds, m, o)
	default:
		return &arranged{ds: ds, n: ds.Len(), mapper: m, node: o.Node}
	}
}

// arranged applies a mapper that reads no items.
type arranged struct {
	ds     Dataset[Sample]
	n      int // number of samples
	mapper Mapper
	node   string
}

func (a *arranged) Len() int { return a.n }

func (a *arranged) At(ctx context.Context, i int) (Sample, error) {
	s, err := a.ds.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	out, err := a.mapper.Map(ctx, s)
	if err != nil {
		return Sample{}, &SampleError{Node: a.node, Index: i, Err: err}
	}
	return out, nil
}

// mapped applies a transform.
type mapped struct {
	MapOptions
	ds        Dataset[Sample]
	n         int // number of samples: Len would visit all datasets below
	transform Transform
	below     int // batch size of ds

	handed *handed // samples already returned
}

func newMapped(ds Dataset[Sample], m Transform, o MapOptions) *mapped {
	return &mapped{MapOptions: o, ds: ds, n: ds.Len(), transform: m, handed: o.Stats.at(o.Node), below: BatchOf(ds)}
}

func (d *mapped) Len() int { return d.n }

func (d *mapped) At(ctx context.Context, i int) (Sample, error) {
	s, err := d.ds.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	reads, makes := names(d.transform, s)
	if makes != nil && len(makes) == 0 {
		return s, nil
	}
	in := s
	if reads != nil {
		if in, err = s.pick(reads); err != nil {
			return Sample{}, &SampleError{Node: d.Node, Index: i, Err: err}
		}
	}
	for f := range in.Fields() {
		f.Item.givenTo(slices.Contains(makes, f.Key))
	}
	e := newExecution(d, d.transform, i, in, makes)
	if makes == nil {
		out, err := e.sample(ctx)
		if err != nil {
			return Sample{}, err
		}
		return s.Without(in.Keys()...).With(e.outputs(out)...), nil
	}
	made := make([]Field, len(makes))
	for k, name := range makes {
		was, _ := s.Field(name)
		made[k] = Field{Key: name, Item: newOutput(e, name), Shared: was.Shared && e.same(name)}
	}
	return s.With(made...), nil
}

// SampleError adds node and position to an error.
type SampleError struct {
	Node  string // "" outside a flow
	Index int    // position in the node's dataset
	Err   error
}

func (e *SampleError) Error() string {
	if e.Node == "" {
		return fmt.Sprintf("sample %d: %v", e.Index, e.Err)
	}
	if in, ok := errors.AsType[*SampleError](e.Err); ok && in.Node != "" && in.Index == e.Index { // e.Err names the sample
		return fmt.Sprintf("node %s: %v", e.Node, e.Err)
	}
	return fmt.Sprintf("node %s: sample %d: %v", e.Node, e.Index, e.Err)
}

func (e *SampleError) Unwrap() error { return e.Err }

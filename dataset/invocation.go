package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// An invocation is a transform applied to one sample. It does not change. It describes
// itself as an action and runs the transform; an [Making] does both at most once.
type invocation struct {
	node  *mapped
	index int
	in    Sample
	maker Maker
	makes []string // nil: known only after it has run
}

// actionOf describes the execution on inputs.
func (m *invocation) actionOf(ctx context.Context, inputs []key.Input) (*key.Action, error) {
	op, err := m.maker.Op(ctx, m.node.Larder)
	if err != nil {
		return nil, m.fail(err)
	}
	r := m.maker.Random()
	if r == nil || !r.perPosition() {
		return op.Action(inputs...), nil
	}
	a, err := op.Call(draws{m.index})
	if err != nil {
		return nil, m.fail(err)
	}
	return a.WithInputs(inputs), nil
}

// same reports whether the item under a key is the same for all samples with the same
// shared items.
func (m *invocation) same(name string) bool {
	if apart(m.maker) {
		f, _ := m.in.Field(name)
		return f.Shared
	}
	r := m.maker.Random()
	return (r == nil || !r.perPosition()) && !slices.ContainsFunc(m.in.fields, func(f Field) bool { return !f.Shared })
}

// resolve identifies every input by its content and computes those that are not known.
func (m *invocation) resolve(ctx context.Context) ([]key.Input, error) {
	inputs, err := inputsOf(ctx, m.node.Larder, m.in, true)
	if err != nil {
		return nil, m.fail(err)
	}
	return inputs, nil
}

// run executes the transform.
func (m *invocation) run(ctx context.Context) (Sample, error) {
	d := m.node
	if larder.IsDry(ctx) {
		return Sample{}, larder.ErrDry
	}
	if d.Slots != nil {
		if err := d.Slots.Acquire(ctx, 1); err != nil {
			return Sample{}, context.Cause(ctx)
		}
		defer d.Slots.Release(1)
	}
	start := time.Now()
	out, err := singleflight.Protect(func() (Sample, error) { return m.execute(ctx) })
	d.Tally.nanos.Add(int64(time.Since(start)))
	if err == nil {
		err = m.check(ctx, out)
	}
	if err != nil {
		if ctx.Err() == nil { // a canceled execution did not fail
			d.Tally.Failed.Add(1)
		}
		return Sample{}, m.fail(err)
	}
	d.Tally.Computed.Add(1)
	d.Tally.hand(d.handed, m.index, computed)
	return out, nil
}

// execute calls the transform with its source of random numbers.
func (m *invocation) execute(ctx context.Context) (Sample, error) {
	var source *rand.Rand
	if r := m.maker.Random(); r != nil {
		var err error
		if source, err = r.source(ctx, m.maker.Name(), m.index, m.in); err != nil {
			return Sample{}, err
		}
	}
	ctx, leave := timing.Enter(ctx, timing.Map, m.node.Node)
	defer leave()
	ctx, done := using(withPlaces(ctx, m.place()), m.in)
	defer done()
	return m.maker.Map(withRand(ctx, source), m.in)
}

func (m *invocation) place() Place { return Place{m.node.Node, m.index} }

// check returns an error unless out has exactly the items that the transform declares.
func (m *invocation) check(ctx context.Context, out Sample) error {
	if err := m.checkFormats(ctx, out); err != nil {
		return err
	}
	if m.makes == nil {
		return nil
	}
	for _, k := range m.makes {
		if _, ok := out.Field(k); !ok {
			return fmt.Errorf("%s did not make item %s", m.maker.Name(), k)
		}
	}
	for f := range out.Fields() {
		passed, _ := m.in.Field(f.Key)
		if passed.Item != f.Item && !slices.Contains(m.makes, f.Key) {
			return fmt.Errorf("%s made item %s, which it does not declare", m.maker.Name(), display.Name(f.Key))
		}
	}
	return nil
}

// checkFormats returns an error for an item under an extension that the transform does
// not declare. Items created from encoded bytes need no encoder.
func (m *invocation) checkFormats(ctx context.Context, out Sample) error {
	by, ok := m.maker.(*maker)
	if !ok || by.f.Formats == nil {
		return nil
	}
	for f := range out.Fields() {
		given, ok := f.Item.origin.(*memory)
		if !ok || slices.Contains(by.f.Formats, given.ext) {
			continue
		}
		if was, err := m.in.Item(f.Key); err == nil {
			if ext, err := was.Ext(ctx); err == nil && ext == given.ext {
				continue // the item was changed in place
			}
		}
		return fmt.Errorf("%s made item %s as %s, and its Formats are %v", m.maker.Name(), f.Key, given.ext, by.f.Formats)
	}
	return nil
}

// fail adds node and position to an error that lacks them.
func (m *invocation) fail(err error) error {
	if at := (*SampleError)(nil); errors.As(err, &at) && at.Node == m.node.Node && at.Index == m.index {
		return err
	}
	return &SampleError{Node: m.node.Node, Index: m.index, Err: err}
}

// read returns the sample whose items the execution reads: for a chain, the items that
// its steps compute.
func (m *invocation) read() Sample {
	if r, ok := m.maker.(*recipe); ok {
		return r.out
	}
	return m.in
}

// pack is the computation whose result is cached.
func (m *invocation) pack(ctx context.Context) (*made, error) {
	out, err := m.run(ctx)
	if err != nil {
		return nil, err
	}
	return m.packed(ctx, out)
}

// packed encodes the result for the cache.
func (m *invocation) packed(ctx context.Context, out Sample) (*made, error) {
	p, err := newMade(ctx, m.in, out)
	if err != nil {
		return nil, m.fail(err)
	}
	return p, nil
}

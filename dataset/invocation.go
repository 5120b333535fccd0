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

// An invocation is a transform with the sample to apply it to, and is immutable. It
// describes itself as an action and runs the transform; an [Execution] calls both at most
// once successfully.
type invocation struct {
	node      *mapped
	index     int
	in        Sample
	transform Transform
	makes     []string // nil: known only after it has run
}

// actionOf describes the execution on inputs.
func (e *invocation) actionOf(ctx context.Context, inputs []key.Input) (*key.Action, error) {
	op, err := e.transform.Op(ctx, e.node.Larder)
	if err != nil {
		return nil, e.fail(err)
	}
	r := e.transform.Random()
	if r == nil || !r.perPosition() {
		return op.Action(inputs...), nil
	}
	a, err := op.Call(draws{e.index})
	if err != nil {
		return nil, e.fail(err)
	}
	return a.WithInputs(inputs), nil
}

// same reports whether the item under a key is the same for all samples with the same
// shared items.
func (e *invocation) same(name string) bool {
	if perItem(e.transform) {
		f, _ := e.in.Field(name)
		return f.Shared
	}
	r := e.transform.Random()
	return (r == nil || !r.perPosition()) && !slices.ContainsFunc(e.in.fields, func(f Field) bool { return !f.Shared })
}

// resolve identifies every input by its content and computes those that are not known.
func (e *invocation) resolve(ctx context.Context) ([]key.Input, error) {
	inputs, err := inputsOf(ctx, e.node.Larder, e.in, true)
	if err != nil {
		return nil, e.fail(err)
	}
	return inputs, nil
}

// run executes the transform.
func (e *invocation) run(ctx context.Context) (Sample, error) {
	d := e.node
	if larder.IsCachedOnly(ctx) {
		return Sample{}, larder.ErrNotCached
	}
	if d.Slots != nil {
		if err := d.Slots.Acquire(ctx, 1); err != nil {
			return Sample{}, context.Cause(ctx)
		}
		defer d.Slots.Release(1)
	}
	start := time.Now()
	out, err := singleflight.Protect(func() (Sample, error) { return e.execute(ctx) })
	d.Stats.nanos.Add(int64(time.Since(start)))
	if err == nil {
		err = e.check(ctx, out)
	}
	if err != nil {
		if ctx.Err() == nil { // a canceled execution did not fail
			d.Stats.Failed.Add(1)
		}
		return Sample{}, e.fail(err)
	}
	d.Stats.Computed.Add(1)
	d.Stats.hand(d.handed, e.index, computed)
	return out, nil
}

// execute calls the transform with its source of random numbers.
func (e *invocation) execute(ctx context.Context) (Sample, error) {
	var source *rand.Rand
	if r := e.transform.Random(); r != nil {
		var err error
		if source, err = r.source(ctx, e.transform.Name(), e.index, e.in); err != nil {
			return Sample{}, err
		}
	}
	ctx, leave := timing.Enter(ctx, timing.Map, e.node.Node)
	defer leave()
	ctx, done := using(withPlaces(ctx, e.place()), e.in)
	defer done()
	return e.transform.Map(withRand(ctx, source), e.in)
}

func (e *invocation) place() Place { return Place{e.node.Node, e.index} }

// check returns an error unless out has exactly the items that the transform declares.
func (e *invocation) check(ctx context.Context, out Sample) error {
	if err := e.checkFormats(ctx, out); err != nil {
		return err
	}
	if e.makes == nil {
		return nil
	}
	for _, k := range e.makes {
		if _, ok := out.Field(k); !ok {
			return fmt.Errorf("%s did not return item %s", e.transform.Name(), k)
		}
	}
	for f := range out.Fields() {
		passed, _ := e.in.Field(f.Key)
		if passed.Item != f.Item && !slices.Contains(e.makes, f.Key) {
			return fmt.Errorf("%s returned item %s, which it does not declare", e.transform.Name(), display.Name(f.Key))
		}
	}
	return nil
}

// checkFormats returns an error for an item under an extension that the transform does
// not declare. Items created from encoded bytes need no encoder.
func (e *invocation) checkFormats(ctx context.Context, out Sample) error {
	by, ok := e.transform.(*funcTransform)
	if !ok || by.f.Formats == nil {
		return nil
	}
	for f := range out.Fields() {
		given, ok := f.Item.origin.(*memory)
		if !ok || slices.Contains(by.f.Formats, given.ext) {
			continue
		}
		if was, err := e.in.Item(f.Key); err == nil {
			if ext, err := was.Ext(ctx); err == nil && ext == given.ext {
				continue // the item was changed in place
			}
		}
		return fmt.Errorf("%s returned item %s as %s, but its Formats are %v", e.transform.Name(), f.Key, given.ext, by.f.Formats)
	}
	return nil
}

// fail adds node and position to an error that lacks them.
func (e *invocation) fail(err error) error {
	if at := (*SampleError)(nil); errors.As(err, &at) && at.Node == e.node.Node && at.Index == e.index {
		return err
	}
	return &SampleError{Node: e.node.Node, Index: e.index, Err: err}
}

// read returns the sample whose items the execution reads: for a chain, the items that
// its steps compute.
func (e *invocation) read() Sample {
	if r, ok := e.transform.(*recipe); ok {
		return r.out
	}
	return e.in
}

package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// A Making is one execution of a transform on one sample. It may be unnecessary, and
// runs at most once. Its outputs live as long as the sample with its items.
type Making struct {
	node  *mapped
	index int
	in    Sample
	maker Maker
	makes []string // nil: known only after it has run

	turn   turn // guards the fields below
	keep   bool
	lean   bool // the inputs are released when done: a cache holds the outputs
	kept   bool
	cost   time.Duration // of the computation, if cached
	action *key.Action
	done   bool
	out    Sample
	failed error // error of its batch, until it is returned once

	most atomic.Int32 // bound of its batch after a larger one failed as a whole; 0: none
}

func newMaking(d *mapped, index int, in Sample) *Making {
	return &Making{node: d, index: index, in: in, keep: d.Keep && d.Larder != nil}
}

// lock waits for the turn, or for the end of ctx.
func (m *Making) lock(ctx context.Context) error { return m.turn.take(ctx) }

func (m *Making) unlock() { m.turn.give() }

// Node returns the name of the node that runs the execution.
func (m *Making) Node() string { return m.node.Node }

// Index returns the sample's position in the node's dataset.
func (m *Making) Index() int { return m.index }

// Inputs returns the items that the execution reads.
func (m *Making) Inputs() Sample { return m.in }

// Resolved describes the execution with every input identified by its content. It
// computes inputs that are not known.
func (m *Making) Resolved(ctx context.Context) (*key.Action, error) {
	inputs, err := m.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return m.actionOf(ctx, inputs)
}

// Kept reports whether the result is or will be cached across runs.
func (m *Making) Kept(ctx context.Context) (bool, error) {
	if err := m.lock(ctx); err != nil {
		return false, err
	}
	defer m.unlock()
	return m.keep, nil
}

// Action describes the execution. Inputs that are not computed yet are identified by
// their computations.
func (m *Making) Action(ctx context.Context) (*key.Action, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.unlock()
	return m.describe(ctx)
}

// describe computes the action once. The turn is held.
func (m *Making) describe(ctx context.Context) (*key.Action, error) {
	if m.action != nil {
		return m.action, nil
	}
	ctx, leave := timing.Enter(ctx, timing.Key, m.node.Node)
	defer leave()
	inputs, err := inputsOf(ctx, m.node.Larder, m.in, false)
	if err != nil {
		return nil, m.fail(err)
	}
	m.action, err = m.actionOf(ctx, inputs)
	return m.action, err
}

// actionOf describes the execution on inputs.
func (m *Making) actionOf(ctx context.Context, inputs []key.Input) (*key.Action, error) {
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
func (m *Making) same(name string) bool {
	if apart(m.maker) {
		f, _ := m.in.Field(name)
		return f.Shared
	}
	r := m.maker.Random()
	return (r == nil || !r.perPosition()) && !slices.ContainsFunc(m.in.fields, func(f Field) bool { return !f.Shared })
}

// resolve identifies every input by its content and computes those that are not known.
func (m *Making) resolve(ctx context.Context) ([]key.Input, error) {
	inputs, err := inputsOf(ctx, m.node.Larder, m.in, true)
	if err != nil {
		return nil, m.fail(err)
	}
	return inputs, nil
}

// Make computes the result if necessary, and caches it if the node caches its results.
func (m *Making) Make(ctx context.Context) error {
	_, err := m.sample(ctx)
	return err
}

// Cost returns how long the computation of a cached result took, whenever that was.
func (m *Making) Cost(ctx context.Context) (time.Duration, error) {
	if err := m.lock(ctx); err != nil {
		return 0, err
	}
	defer m.unlock()
	return m.cost, nil
}

// MarkKept makes the execution cache its result.
func (m *Making) MarkKept(ctx context.Context) {
	if m.node.Larder == nil || m.lock(ctx) != nil {
		return
	}
	m.keep = true
	m.unlock()
}

// sample returns the result of the transform.
func (m *Making) sample(ctx context.Context) (Sample, error) {
	if err := m.lock(ctx); err != nil {
		return Sample{}, err
	}
	defer m.unlock()
	m.foresee(ctx)
	if err := m.failed; err != nil {
		m.failed = nil
		return Sample{}, err
	}
	if m.done && (m.kept || !m.keep) {
		return m.out, nil
	}
	var err error
	if m.keep {
		err = m.recall(ctx)
	} else {
		m.out, err = m.run(ctx)
	}
	m.done = err == nil
	m.letGo()
	return m.out, err
}

// leave makes the execution release its inputs when it is done, unless others hold them.
// The same applies to the executions that computed the inputs.
func (m *Making) leave() {
	if !m.turn.tryTake() {
		return // the goroutine that holds the turn also holds the inputs
	}
	m.lean = true
	m.unlock()
	for _, before := range m.in.Makings() {
		before.leave()
	}
}

// letGo releases inputs that are not part of the result, if the execution is done and a
// cache holds the result. Later requests read them again. The turn is held.
func (m *Making) letGo() {
	if !m.done || !m.lean {
		return
	}
	for in := range m.in.Fields() {
		if slices.ContainsFunc(m.out.fields, func(f Field) bool { return f.Item == in.Item }) {
			continue
		}
		in.Item.drop()
		if before, ok := MakingOf(in.Item); ok && !slices.Contains(m.out.Makings(), before) && before.turn.tryTake() {
			if !before.keep {
				before.done, before.out = false, Sample{}
			}
			before.unlock()
		}
	}
}

// recall returns the result from the larder, which runs the transform on a miss. The
// turn is held.
func (m *Making) recall(ctx context.Context) error {
	a, err := m.describe(ctx)
	if err != nil {
		return err
	}
	ctx, leave := timing.Enter(ctx, timing.Keep, m.node.Node)
	defer leave()
	r, err := m.call(a).Do(ctx, m.node.Larder)
	if err != nil {
		return err
	}
	return m.take(a, r)
}

// call describes how the result is looked up or computed. The turn is held now, but
// perhaps not during the computation, because the caller may leave before it ends.
func (m *Making) call(a *key.Action) larder.Call[*made] {
	compute := m.pack
	if m.done { // it was computed before it was marked to be cached
		out := m.out
		compute = func(ctx context.Context) (*made, error) { return m.packed(ctx, out) }
	}
	return larder.Call[*made]{Action: a, Compute: compute, Resolve: m.resolve, Value: madeValue, Share: true}
}

// take stores the result. The turn is held.
func (m *Making) take(a *key.Action, r larder.Result[*made]) error {
	m.count(r)
	m.node.Tally.note(r.Reads, r.Unkept)
	out, err := r.Value.open(m.in)
	if err != nil {
		return m.fail(err)
	}
	m.out, m.kept, m.cost = out, true, r.Cost
	if m.node.Kept != nil {
		m.node.Kept(m.index, r.Key, a.Key())
	}
	return nil
}

func (m *Making) count(r larder.Result[*made]) {
	t := m.node.Tally
	switch {
	case r.From == larder.Computed:
		t.BytesWritten.Add(r.Bytes)
	case t.Settled.Load():
	case t.isAhead():
		t.hand(m.node.handed, m.index, computed)
	case r.From == larder.FromMemory:
		t.hand(m.node.handed, m.index, fromMemory)
		t.saved.Add(int64(r.Cost))
	case r.From == larder.FromStore:
		t.hand(m.node.handed, m.index, fromStore)
		t.BytesRead.Add(r.Bytes)
		t.saved.Add(int64(r.Cost))
	}
}

// pack is the computation whose result is cached.
func (m *Making) pack(ctx context.Context) (*made, error) {
	out, err := m.run(ctx)
	if err != nil {
		return nil, err
	}
	return m.packed(ctx, out)
}

// packed encodes the result for the cache.
func (m *Making) packed(ctx context.Context, out Sample) (*made, error) {
	p, err := newMade(ctx, m.in, out)
	if err != nil {
		return nil, m.fail(err)
	}
	return p, nil
}

// run executes the transform.
func (m *Making) run(ctx context.Context) (Sample, error) {
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
func (m *Making) execute(ctx context.Context) (Sample, error) {
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

func (m *Making) place() Place { return Place{m.node.Node, m.index} }

// check returns an error unless out has exactly the items that the transform declares.
func (m *Making) check(ctx context.Context, out Sample) error {
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
func (m *Making) checkFormats(ctx context.Context, out Sample) error {
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
func (m *Making) fail(err error) error {
	if at := (*SampleError)(nil); errors.As(err, &at) && at.Node == m.node.Node && at.Index == m.index {
		return err
	}
	return &SampleError{Node: m.node.Node, Index: m.index, Err: err}
}

// product is the origin of an item that a transform computes.
type product struct {
	making *Making
	name   string
}

// newProduct allocates an item together with its origin.
func newProduct(m *Making, name string) *Item {
	it := &struct {
		Item
		of product
	}{of: product{m, name}}
	it.origin = &it.of
	return &it.Item
}

func (p *product) String() string {
	return fmt.Sprintf("item %s made by node %s", p.name, p.making.Node())
}

// Ref identifies the item by its computation.
func (p *product) Ref(ctx context.Context) (key.Ref, error) {
	a, err := p.making.Action(ctx)
	if err != nil {
		return key.Ref{}, err
	}
	return key.Result(a.Key(), p.name), nil
}

func (p *product) item(ctx context.Context) (*Item, error) {
	defer pool.Wait(ctx)()
	out, err := p.making.sample(ctx)
	if err != nil {
		return nil, err
	}
	return out.Item(p.name)
}

func (p *product) value(ctx context.Context) (any, bool, error) {
	it, err := p.item(ctx)
	if err != nil {
		return nil, false, err
	}
	v, err := it.Value(ctx)
	return v, true, err
}

func (p *product) Ext(ctx context.Context) (string, error) {
	it, err := p.item(ctx)
	if err != nil {
		return "", err
	}
	return it.Ext(ctx)
}

func (p *product) Bytes(ctx context.Context) ([]byte, error) {
	it, err := p.item(ctx)
	if err != nil {
		return nil, err
	}
	return it.Bytes(ctx)
}

func (p *product) Digest(ctx context.Context) (key.Digest, error) {
	it, err := p.item(ctx)
	if err != nil {
		return key.Digest{}, err
	}
	return it.Digest(ctx)
}

// products returns the fields of out. Computed items have a product as origin; items
// that were passed on are unchanged.
func (m *Making) products(out Sample) []Field {
	fields := slices.Clone(out.fields)
	for i, f := range fields {
		if !slices.ContainsFunc(m.in.fields, func(in Field) bool { return in.Item == f.Item }) {
			fields[i].Item = newProduct(m, f.Key)
		}
	}
	return fields
}

// MakingOf returns the execution that computes the item, if there is one.
func MakingOf(it *Item) (*Making, bool) {
	p, ok := it.origin.(*product)
	if !ok {
		return nil, false
	}
	return p.making, true
}

// Makings returns the executions that compute the items of a sample, each once, in the
// order of the items.
func (s Sample) Makings() []*Making {
	var all []*Making
	for _, f := range s.fields {
		if m, ok := MakingOf(f.Item); ok && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

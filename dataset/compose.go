package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// Compose returns a mapper that applies steps in order. If any of them is a [Transform], so
// is the result. One execution computes the items that are left at the end, and caches
// nothing else. An item of an early step is computed only if a remaining item needs it.
//
// An execution is identified by what the steps do for its sample. Steps that do nothing
// for the sample do not change the identity.
func Compose(steps ...Mapper) (Mapper, error) {
	c := &chain{}
	makes := false
	for _, s := range steps {
		if inner, ok := s.(*chain); ok {
			c.steps = append(c.steps, inner.steps...)
		} else {
			c.steps = append(c.steps, s)
		}
		_, transform := s.(Transform)
		makes = makes || transform
	}
	if !makes {
		return MapperFunc(func(ctx context.Context, s Sample) (_ Sample, err error) {
			for _, step := range c.steps {
				if s, err = step.Map(ctx, s); err != nil {
					return Sample{}, err
				}
			}
			return s, nil
		}), nil
	}
	return c, nil
}

// chainCode is the code identity of chain itself, without its steps.
var chainCode = key.Version("1")

// chain is a sequence of mappers, at least one of which is a transform.
type chain struct {
	steps []Mapper
}

// Op identifies the transforms among the steps. The identity of an execution is computed
// for each sample.
func (c *chain) Op(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	var params []key.Param
	for i, s := range c.steps {
		if m, ok := s.(Transform); ok {
			op, err := m.Op(ctx, l)
			if err != nil {
				return nil, err
			}
			params = append(params, key.Param{Name: fmt.Sprint("step ", i), Value: op.Key().String()})
		}
	}
	return key.NewOp(c.Name(), chainCode, params...)
}

// Name implements Transform.
func (c *chain) Name() string { return "compose" }

// Reads returns nil because the items depend on the sample.
func (c *chain) Reads() []string { return nil }

// Makes lists all items that the steps compute, including those that a later step drops.
func (c *chain) Makes() []string {
	all := []string{}
	for _, s := range c.steps {
		if m, ok := s.(Transform); ok {
			if m.Makes() == nil {
				return nil
			}
			all = append(all, m.Makes()...)
		}
	}
	return all
}

// Random returns what the random numbers of the first random step depend on.
func (c *chain) Random() *Random {
	for _, s := range c.steps {
		if m, ok := s.(Transform); ok && m.Random() != nil {
			return m.Random()
		}
	}
	return nil
}

// Map applies the steps to one sample, which random steps treat as the first of a
// dataset.
func (c *chain) Map(ctx context.Context, in Sample) (Sample, error) {
	return Map(List(in), c, MapOptions{}).At(ctx, 0)
}

// composed applies a chain. Each step is applied to the dataset of the step before and
// caches nothing. The executions that compute the remaining items of a sample are merged
// into one.
type composed struct {
	mapped
	steps Dataset[Sample]
	own   map[*mapped]bool // the steps that are transforms
	ops   sync.Map         // recipe -> *key.Op
}

func newComposed(ds Dataset[Sample], c *chain, o MapOptions) *composed {
	d := &composed{mapped: *newMapped(ds, c, o), steps: ds, own: map[*mapped]bool{}}
	for _, s := range c.steps {
		inner := MapOptions{Node: o.Node}
		if m, ok := s.(Transform); ok && m.Makes() == nil {
			inner.Larder, inner.Keep = o.Larder, o.Keep // the transform must run to know its outputs
		}
		d.steps = Map(d.steps, s, inner)
		if m, ok := d.steps.(*mapped); ok {
			d.own[m] = true
		}
	}
	return d
}

func (d *composed) At(ctx context.Context, i int) (Sample, error) {
	out, err := d.steps.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	r := &recipe{node: d, out: out}
	var left []string
	for _, f := range out.fields {
		if p, ok := r.made(f.Item); ok {
			left = append(left, f.Key)
			name, err := r.output(ctx, p)
			if err != nil {
				return Sample{}, &SampleError{Node: d.Node, Index: i, Err: err}
			}
			r.lines = append(r.lines, fmt.Sprintf("%q = %s", f.Key, name))
		}
	}
	if left == nil {
		return out, nil
	}
	r.out = out.Only(left...)
	if r.op, err = r.identity(ctx); err != nil {
		return Sample{}, &SampleError{Node: d.Node, Index: i, Err: err}
	}
	e := newExecution(&d.mapped, r, i, r.in, left)
	final := slices.Clone(out.fields)
	for k, f := range final {
		if slices.Contains(left, f.Key) {
			final[k].Item = newOutput(e, f.Key)
		}
	}
	return Sample{final}, nil
}

// recipe is the transform that computes the items that a chain leaves in one sample. Its
// text has one line for each execution of a step and for each item. "1.a" is item a that
// execution 1 computes, and "a" an item that is read.
type recipe struct {
	node       *composed
	out        Sample // remaining items that the steps computed
	in         Sample // items read
	executions []*Execution
	lines      []string
	positional bool // random numbers depend on the position
	op         *key.Op
}

// made returns the origin of an item, if a step computes it.
func (r *recipe) made(it *Item) (*output, bool) {
	p, ok := it.origin.(*output)
	return p, ok && r.node.own[p.execution.node]
}

// output records how an item is computed, and returns its name.
func (r *recipe) output(ctx context.Context, p *output) (string, error) {
	i, err := r.execution(ctx, p.execution)
	return fmt.Sprintf("%d.%q", i, p.name), err
}

func (r *recipe) execution(ctx context.Context, e *Execution) (int, error) {
	if i := slices.Index(r.executions, e); i >= 0 {
		return i, nil
	}
	op, err := e.transform.Op(ctx, r.node.Larder)
	if err != nil {
		return 0, err
	}
	line := op.Key().String()
	if random := e.transform.Random(); random != nil && random.perPosition() {
		r.positional = true
		line += " by position"
	}
	for _, f := range slices.SortedFunc(e.in.Fields(), func(a, b Field) int { return strings.Compare(a.Key, b.Key) }) {
		line += fmt.Sprintf(" %q=", f.Key)
		if p, ok := r.made(f.Item); ok {
			name, err := r.output(ctx, p)
			if err != nil {
				return 0, err
			}
			line += name
		} else {
			line += r.input(f)
		}
	}
	r.executions = append(r.executions, e)
	r.lines = append(r.lines, line)
	return len(r.executions) - 1, nil
}

// input records an item that is read, and returns its name: the key under which a step
// first reads it. Primes are appended if two items are read under one key.
func (r *recipe) input(f Field) string {
	for _, have := range r.in.fields {
		if have.Item == f.Item {
			return fmt.Sprintf("%q", have.Key)
		}
	}
	f.Shared = false
	for r.in.index(f.Key) >= 0 {
		f.Key += "'"
	}
	r.in.fields = append(r.in.fields, f)
	return fmt.Sprintf("%q", f.Key)
}

// identity returns the operation of the recipe.
func (r *recipe) identity(ctx context.Context) (*key.Op, error) {
	text := strings.Join(r.lines, "\n")
	if op, ok := r.node.ops.Load(text); ok {
		return op.(*key.Op), nil
	}
	codecs, err := anyCodec(ctx, r.node.Larder) // steps read each other's items by codecs, which nothing else identifies
	if err != nil {
		return nil, err
	}
	params := []key.Param{{Name: "recipe", Value: text}, {Name: "codecs", Value: codecs}}
	for i, e := range r.executions { // the recipe covers this; it serves the readers of explanations
		step, err := e.transform.Op(ctx, r.node.Larder)
		if err != nil {
			return nil, err
		}
		for _, p := range step.Action().Parts() {
			name := strings.TrimSpace(fmt.Sprintf("step %d %s %s", i, p.Kind, p.Name))
			if !slices.ContainsFunc(params, func(have key.Param) bool { return have.Name == name }) {
				params = append(params, key.Param{Name: name, Value: p.Value})
			}
		}
	}
	op, err := key.NewOp("compose", chainCode, params...)
	if err == nil {
		r.node.ops.Store(text, op)
	}
	return op, err
}

func (r *recipe) Name() string    { return "compose" }
func (r *recipe) Reads() []string { return r.in.Keys() }
func (r *recipe) Makes() []string { return r.out.Keys() }

// Op implements Transform.
func (r *recipe) Op(context.Context, *larder.Larder) (*key.Op, error) { return r.op, nil }

// Random reports whether the position is part of the identity; the steps themselves draw
// the random numbers.
func (r *recipe) Random() *Random {
	if r.positional {
		return &Random{}
	}
	return nil
}

// Map executes the steps that the remaining items need.
func (r *recipe) Map(ctx context.Context, _ Sample) (Sample, error) {
	out := Sample{slices.Clone(r.out.fields)}
	for i, f := range out.fields {
		for p, ok := r.made(f.Item); ok; p, ok = r.made(f.Item) {
			var err error
			if f.Item, err = p.item(ctx); err != nil {
				return Sample{}, err
			}
		}
		out.fields[i].Item = f.Item
	}
	return out, nil
}

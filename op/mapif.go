package op

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/order"
)

func init() {
	component.RegisterOp("map-if", "Applies a mapper to the samples that meet all conditions; others stay unchanged.",
		func(_ context.Context, env *component.Env, p MapIf, in component.Samples) (component.Samples, error) {
			return p.Apply(env, in)
		}).Maps = true
}

// MapIf applies a mapper to some samples. It evaluates the conditions when a sample is
// requested.
type MapIf struct {
	Step        component.Step `param:"step,required" doc:"the mapper: {map: NAME, with: {...}}"`
	Where       string         `param:"where" doc:"an expression over the items, true for samples to change"`
	Range       string         `param:"range" doc:"the positions to change, as a Python slice: start:stop or start:stop:step"`
	Probability *float64       `param:"probability" doc:"fraction of the samples to change, drawn by seed, epoch and position"`
	Seed        int            `param:"seed" doc:"seed of the draws; nodes with equal seeds draw the same positions" default:"0"`
	Epoch       int            `param:"epoch" doc:"number of the epoch; each has its own draws" default:"0"`
}

// Check refuses conditions that are missing or invalid.
func (m MapIf) Check() error {
	if m.Step.Component == nil {
		return errors.New("step is missing; name a mapper")
	}
	if m.Where == "" && m.Range == "" && m.Probability == nil {
		return errors.New("where, range and probability are missing; give one, or use the mapper itself")
	}
	if p := m.Probability; p != nil && !(*p >= 0 && *p <= 1) {
		return fmt.Errorf("probability is %v; give a number from 0 to 1", *p)
	}
	if m.Where != "" {
		if err := expr.Check(m.Where); err != nil {
			return err
		}
	}
	_, err := m.positions(0)
	return err
}

// positions returns the positions to change among n.
func (m MapIf) positions(n int) (order.Order, error) {
	if m.Range == "" {
		return order.Identity(n), nil
	}
	texts := strings.Split(m.Range, ":")
	if len(texts) < 2 || len(texts) > 3 {
		return nil, fmt.Errorf("range %q is malformed; write start:stop or start:stop:step", m.Range)
	}
	var bounds [3]*int
	for k, text := range texts {
		if text == "" {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("range %q: %q is not an integer", m.Range, text)
		}
		bounds[k] = &v
	}
	o, err := order.Slice(n, bounds[0], bounds[1], bounds[2])
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", m.Range, err)
	}
	return o, nil
}

// Apply implements the operator.
func (m MapIf) Apply(env *component.Env, in component.Samples) (component.Samples, error) {
	step, err := m.Step.Mapper(env)
	if err != nil {
		return nil, err
	}
	c := conditions{node: env.Node, probability: m.Probability, seed: seedOf(m.Seed, m.Epoch)}
	if c.positions, err = m.positions(in.Len()); err != nil {
		return nil, err
	}
	if m.Where != "" {
		if c.where, err = expr.Compile(m.Where); err != nil {
			return nil, err
		}
	}
	options := env.MapOptions(step)
	mapped := dataset.Each(in, func(ctx context.Context, i int, s dataset.Sample) (dataset.Sample, error) {
		hold, err := c.hold(ctx, i, s)
		if err != nil || !hold {
			return s, err
		}
		return dataset.Map(given{s, in}, step, options).At(ctx, i)
	})
	return dataset.WithMinBatch(mapped, dataset.BatchOf(dataset.Map(in, step, options))), nil
}

// conditions are what a sample must fulfil to be changed.
type conditions struct {
	node        string
	positions   order.Order
	probability *float64
	seed        uint64
	where       *expr.Expression
}

// hold reports whether sample s at position i fulfils all conditions. It reads the
// items last.
func (c *conditions) hold(ctx context.Context, i int, s dataset.Sample) (bool, error) {
	if _, ok := c.positions.Next(i, -1); !ok {
		return false, nil
	}
	if c.probability != nil && order.Uniform(c.seed, i) >= *c.probability {
		return false, nil
	}
	if c.where == nil {
		return true, nil
	}
	v, err := c.where.Eval(ctx, s)
	if err != nil {
		return false, &dataset.SampleError{Node: c.node, Index: i, Err: err}
	}
	ok, err := truth(v)
	if err != nil {
		return false, &dataset.SampleError{Node: c.node, Index: i, Err: fmt.Errorf("expression %s: %w", expr.Brief(c.where.Text()), err)}
	}
	return ok, nil
}

// given has the length of another dataset but holds a single sample. So that sample is
// read once, to evaluate the conditions and to map it.
type given struct {
	sample dataset.Sample
	of     component.Samples
}

func (g given) Len() int { return g.of.Len() }

func (g given) Batch() int { return dataset.BatchOf(g.of) }

func (g given) At(context.Context, int) (dataset.Sample, error) { return g.sample, nil }

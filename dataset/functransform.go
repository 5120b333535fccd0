package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
)

// funcTransform is the transform that a [TransformFunc] describes.
type funcTransform struct {
	f        TransformFunc
	params   []key.Param
	code     []any // the functions that do the work
	funcArgs []any // the functions that they receive as values

	mu       sync.Mutex
	op       *key.Op
	identity known.Identity
}

func (m *funcTransform) Name() string { return m.f.Name }

// Op computes the identity of the transform once.
func (m *funcTransform) Op(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.op == nil {
		op, err := m.identify(ctx, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.f.Name, err)
		}
		m.op = op
	}
	if m.identity.Closure == nil {
		return m.op, nil
	}
	return m.op, analysis.CheckUnchanged()
}

func (m *funcTransform) identify(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	id := known.Identity{Code: m.f.Code}
	if id.Code.IsZero() {
		var err error
		if id, err = known.CodeOf(ctx, l, known.Component{Functions: m.code, Given: m.funcArgs, Declared: analysis.Declared{
			Pure: m.f.Pure, Maker: true, Through: []string{"github.com/larder-data/larder/dataset"},
		}}); err != nil {
			return nil, err
		}
		for _, p := range m.params {
			if err := id.Check(p.Value); err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
		}
	}
	params := slices.Clip(m.params)
	if m.f.Code.IsZero() {
		for _, p := range m.params {
			methods, err := known.MethodsOf(ctx, l, p.Value)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
			if methods != "" {
				params = append(params, key.Param{Name: "methods of " + p.Name, Value: methods})
			}
		}
	}
	if m.f.Formats == nil || len(m.f.Formats) > 0 {
		encoders, err := encoders(ctx, l, m.f.Formats)
		if err != nil {
			return nil, err
		}
		params = append(params, encoders)
	}
	if id.Function != "" {
		params = append(params, key.Param{Name: "function", Value: id.Function})
	}
	m.identity = id
	op, err := key.NewOp(m.f.Name, id.Code, params...)
	if err != nil {
		return nil, err
	}
	return op.Detailed(m.f.Detail), nil
}

// known returns the identity of the transform, as far as it was requested.
func (m *funcTransform) known() known.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.identity
}

func (m *funcTransform) Reads() []string { return m.f.In }

func (m *funcTransform) Makes() []string { return m.f.Out }

func (m *funcTransform) Random() *Random { return m.f.Random }

func (m *funcTransform) Map(ctx context.Context, in Sample) (Sample, error) {
	if m.f.BatchFunc != nil {
		return m.mapAlone(ctx, in)
	}
	id := m.known()
	if err := id.CheckUnchanged(ctx); err != nil {
		return Sample{}, err
	}
	given := in.inOrder()
	out, err := m.f.Func(ctx, given)
	out = out.passing(given, in)
	return out, cmp.Or(err, id.CheckUnchanged(ctx)) // checks that nothing has changed
}

// mapAlone runs a batch of one sample.
func (m *funcTransform) mapAlone(ctx context.Context, in Sample) (Sample, error) {
	outs, err := m.mapTogether(ctx, []Sample{in})
	failed, whole := partOf(err, 1)
	if err := cmp.Or(whole, failed[0]); err != nil {
		return Sample{}, err
	}
	return outs[0], nil
}

// mapTogether runs a batch: it returns all results, or some with a [PartialError].
func (m *funcTransform) mapTogether(ctx context.Context, ins []Sample) ([]Sample, error) {
	id := m.known()
	if err := id.CheckUnchanged(ctx); err != nil {
		return nil, err
	}
	given := make([]Sample, len(ins))
	for i, in := range ins {
		given[i] = in.inOrder()
	}
	outs, err := m.f.BatchFunc(ctx, slices.Clone(given))
	if _, whole := partOf(err, len(ins)); whole != nil {
		return nil, whole
	}
	if len(outs) != len(ins) {
		return nil, fmt.Errorf("%s received %d samples but returned %d", m.f.Name, len(ins), len(outs))
	}
	all := make([]Sample, len(ins))
	for i, out := range outs {
		all[i] = out.passing(given[i], ins[i])
	}
	return all, cmp.Or(id.CheckUnchanged(ctx), err)
}

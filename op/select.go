package op

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
)

func init() {
	filter := component.RegisterOp("filter", "Selects the samples for which an expression over their items is true.",
		func(ctx context.Context, env *component.Env, p Filter, in component.Samples) (component.Samples, error) {
			return p.Apply(ctx, env, in)
		})
	filter.Scans = true
	component.OnStreams(filter, Filter.onStream)
	component.RegisterOp("sort", "Sorts samples by an expression over their items; the sort is stable.",
		func(ctx context.Context, env *component.Env, p Sort, in component.Samples) (component.Samples, error) {
			return p.Apply(ctx, env, in)
		}).Scans = true
	component.RegisterOp("weighted-sample", "Draws samples at random with replacement, weighted by an expression over their items.",
		func(ctx context.Context, env *component.Env, p WeightedSample, in component.Samples) (component.Samples, error) {
			return p.Apply(ctx, env, in)
		}).Scans = true
	component.RegisterParts("group-by", "Splits a dataset into one output for each value of an expression, in the order of first occurrence.",
		func(ctx context.Context, env *component.Env, p GroupBy, in component.Samples) (component.Data, error) {
			return p.Apply(ctx, env, in)
		}).Scans = true
}

// scan evaluates an expression for every sample and converts the results to T.
func scan[T any](ctx context.Context, env *component.Env, name, text string, in component.Samples, convert func(v any) (T, error)) ([]T, error) {
	e, err := expr.Compile(text)
	if err != nil {
		return nil, err
	}
	op, err := identity(ctx, env.Larder, name, e, convert)
	if err != nil {
		return nil, err
	}
	env.Stats.Total.Store(int64(in.Len()))
	defer func() { env.Stats.Done.Store(env.Stats.Total.Load()) }() // also for cached results
	return dataset.Scan[T]{
		Node: env.Node, Op: op, Reads: e.Reads(), May: e.May(), Pool: env.Pool, Larder: env.Larder, Stats: env.Stats,
		Each: func(ctx context.Context, s dataset.Sample) (T, error) {
			v, err := e.Eval(ctx, s)
			if err != nil {
				var zero T
				return zero, err
			}
			t, err := convert(v)
			if err != nil {
				return t, fmt.Errorf("expression %s: %w", expr.Brief(e.Text()), err)
			}
			return t, nil
		},
	}.Run(ctx, in)
}

// identity returns the identity of an operator that evaluates an expression and passes
// the result to a function.
func identity(ctx context.Context, l *larder.Larder, name string, e *expr.Expression, convert any) (*key.Op, error) {
	id, err := known.CodeOf(ctx, l, known.Component{Functions: []any{expr.Compile, (*expr.Expression).Eval, convert}, Declared: analysis.Declared{Values: true, Through: []string{"github.com/larder-data/larder/dataset"}}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	op, err := key.NewOp(name, id.Code, key.Param{Name: "expression", Value: e.Text()})
	if err != nil {
		return nil, err
	}
	return op.Detailed(e.Text()), nil
}

// Filter passes on the samples for which an expression is true.
type Filter struct {
	Where  string `param:"where,required" doc:"an expression over the items, such as metadata.color == \"red\""`
	Negate bool   `param:"negate" doc:"select the other samples"`

	KeepLength bool `param:"keep-length" doc:"return all samples, those not selected with shared items only"`
}

// Check refuses an invalid expression.
func (f Filter) Check() error { return expr.Check(f.Where) }

// Apply implements the operator.
func (f Filter) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Samples, error) {
	passed, err := scan(ctx, env, "filter", f.Where, in, truth)
	if err != nil {
		return nil, err
	}
	if f.KeepLength {
		return dataset.Each(in, func(_ context.Context, i int, s dataset.Sample) (dataset.Sample, error) {
			if passed[i] != f.Negate {
				return s, nil
			}
			return sharedOnly(s), nil
		}), nil
	}
	var indices []int
	for i, ok := range passed {
		if ok != f.Negate {
			indices = append(indices, i)
		}
	}
	return pick(in, indices)
}

// holds evaluates a boolean expression for a sample.
func holds(ctx context.Context, e *expr.Expression, s dataset.Sample) (bool, error) {
	v, err := e.Eval(ctx, s)
	if err != nil {
		return false, err
	}
	b, err := truth(v)
	if err != nil {
		err = fmt.Errorf("expression %s: %w", expr.Brief(e.Text()), err)
	}
	return b, err
}

// truth returns a value that must be a boolean.
func truth(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("is %s; return true or false", expr.Shown(v))
	}
	return b, nil
}

// sharedOnly returns a sample without its unshared items.
func sharedOnly(s dataset.Sample) dataset.Sample {
	var own []string
	for f := range s.Fields() {
		if !f.Shared {
			own = append(own, f.Key)
		}
	}
	return s.Without(own...)
}

// Sort orders samples. It compares numbers like < in expressions, and puts them before
// strings.
type Sort struct {
	By      string `param:"by,required" doc:"an expression over the items that returns a number, a string, or a list of these"`
	Reverse bool   `param:"reverse" doc:"descending order; still stable"`
}

// Check refuses an invalid expression.
func (s Sort) Check() error { return expr.Check(s.By) }

// Apply implements the operator.
func (s Sort) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Samples, error) {
	ranks, err := scan(ctx, env, "sort", s.By, in, ranksOf)
	if err != nil {
		return nil, err
	}
	indices := make([]int, len(ranks))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		c := slices.CompareFunc(ranks[a], ranks[b], compareRanks)
		if s.Reverse {
			return -c
		}
		return c
	})
	return pick(in, indices)
}

// A rank is one sort value: an integer, a number or a string.
type rank struct {
	Number float64
	Whole  int64  // exact, if IsWhole
	Wide   string // exact digits of an integer beyond an int64
	Text   string

	IsWhole, IsText bool
}

func whole(i int64) rank { return rank{Number: float64(i), Whole: i, IsWhole: true} }

func compareRanks(a, b rank) int {
	if a.IsText != b.IsText {
		if a.IsText {
			return 1
		}
		return -1
	}
	if a.IsWhole && b.IsWhole {
		return cmp.Compare(a.Whole, b.Whole)
	}
	if a.IsText {
		return cmp.Compare(a.Text, b.Text)
	}
	return expr.CompareNumbers(a.exact(), b.exact())
}

// exact returns the number of a rank, as expressions have it.
func (r rank) exact() any {
	switch {
	case r.IsWhole:
		return int(r.Whole)
	case r.Wide != "":
		i, _ := new(big.Int).SetString(r.Wide, 10)
		return i
	}
	return r.Number
}

func ranksOf(v any) ([]rank, error) {
	list, ok := v.([]any)
	if !ok {
		r, err := rankOf(v)
		return []rank{r}, err
	}
	ranks := make([]rank, len(list))
	for i, e := range list {
		var err error
		if ranks[i], err = rankOf(e); err != nil {
			return nil, err
		}
	}
	return ranks, nil
}

func rankOf(v any) (rank, error) {
	switch v := v.(type) {
	case string:
		return rank{Text: v, IsText: true}, nil
	case bool:
		if v {
			return whole(1), nil
		}
		return whole(0), nil
	case int:
		return whole(int64(v)), nil
	case int64:
		return whole(v), nil
	case *big.Int:
		f, _ := v.Float64()
		return rank{Number: f, Wide: v.String()}, nil
	case float64:
		if math.IsNaN(v) {
			return rank{}, fmt.Errorf("is NaN, which cannot be sorted")
		}
		return rank{Number: v}, nil
	default:
		return rank{}, fmt.Errorf("is %s; return a number or a string", expr.Shown(v))
	}
}

// WeightedSample draws samples with replacement and unequal probabilities.
type WeightedSample struct {
	N      int    `param:"n,required" doc:"number of samples to draw"`
	Weight string `param:"weight,required" doc:"an expression over the items that returns a relative weight of 0 or more"`
	Seed   int    `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch  int    `param:"epoch" doc:"number of the epoch; each has its own draws" default:"0"`
}

// Check refuses a negative number, and an invalid expression.
func (w WeightedSample) Check() error {
	if err := notNegative("n", w.N); err != nil {
		return err
	}
	return expr.Check(w.Weight)
}

// Apply implements the operator.
func (w WeightedSample) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Samples, error) {
	weights, err := scan(ctx, env, "weighted-sample", w.Weight, in, weight)
	if err != nil {
		return nil, err
	}
	pools := make([]order.Pool, len(weights))
	for i, weight := range weights {
		pools[i] = order.Pool{N: 1, Weight: weight}
	}
	o, err := order.Mix(w.N, seedOf(w.Seed, w.Epoch), pools...)
	if err != nil {
		return nil, err
	}
	return dataset.Reorder(in, o), nil
}

// weight returns a value that must be a nonnegative number.
func weight(v any) (float64, error) {
	r, err := rankOf(v)
	if err != nil || r.IsText || r.Number < 0 || math.IsInf(r.Number, 1) {
		return 0, fmt.Errorf("is %s; return a number of 0 or more", expr.Shown(v))
	}
	return r.Number, nil
}

// GroupBy splits a dataset into one per value.
type GroupBy struct {
	By string `param:"by,required" doc:"an expression over the items that returns a string, an integer or a boolean"`
}

// Check refuses an invalid expression.
func (g GroupBy) Check() error { return expr.Check(g.By) }

// Apply implements the operator.
func (g GroupBy) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Data, error) {
	of, err := scan(ctx, env, "group-by", g.By, in, groupOf)
	if err != nil {
		return component.Data{}, err
	}
	data := component.Data{Names: []string{}}
	groups := map[string][]int{}
	for i, g := range of {
		same, seen := groups[g.Name]
		if !seen {
			data.Names = append(data.Names, g.Name)
		} else if of[same[0]].Text != g.Text {
			return component.Data{}, fmt.Errorf("samples %d and %d: a string and another value both name group %q; group by string(...)", same[0], i, g.Name)
		}
		groups[g.Name] = append(same, i)
	}
	for _, name := range data.Names {
		part, err := pick(in, groups[name])
		if err != nil {
			return component.Data{}, err
		}
		data.Parts = append(data.Parts, part)
	}
	return data, nil
}

// A group is a value of group-by. A string and a number with the same name are
// different.
type group struct {
	Name string
	Text bool
}

func groupOf(v any) (group, error) {
	name, err := groupName(v)
	_, text := v.(string)
	return group{name, text}, err
}

// groupName returns the same name for equal values, and different names for different
// values of one type.
func groupName(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int, int64, *big.Int:
		return fmt.Sprint(v), nil
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			if v == 0 {
				v = 0 // -0 equals 0
			}
			return strconv.FormatFloat(v, 'f', 0, 64), nil
		}
	}
	return "", fmt.Errorf("is %s; return a string, an integer or a boolean", expr.Shown(v))
}

// pick returns the dataset of the samples of in at the given positions.
func pick(in component.Samples, indices []int) (component.Samples, error) {
	o, err := order.Index(in.Len(), indices)
	if err != nil {
		return nil, err
	}
	return dataset.Reorder(in, o), nil
}

package op

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
)

func init() {
	unbatch := component.RegisterOp("unbatch", "Turns each element of lists or arrays into a sample; other items stay unchanged.",
		func(ctx context.Context, env *component.Env, p Unbatch, in component.Samples) (component.Samples, error) {
			return p.Apply(ctx, env, in)
		})
	unbatch.Scans = true
	component.OnStreams(unbatch, Unbatch.onStream)
}

// Unbatch makes one sample per element of its items.
type Unbatch struct {
	Items []string `param:"items,required" doc:"items that are lists or arrays, of equal length in each sample; each element or row becomes a sample"`
	Index string   `param:"index" doc:"item to add, with the index of the element"`
}

// Check refuses an empty list of items, and items named twice.
func (u Unbatch) Check() error {
	if len(u.Items) == 0 {
		return fmt.Errorf("items is empty; name lists or arrays")
	}
	all := u.Items
	if u.Index != "" {
		all = append(slices.Clone(all), u.Index)
	}
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			return fmt.Errorf("%q is listed twice; remove one", name)
		}
	}
	return nil
}

// Apply implements the operator.
func (u Unbatch) Apply(ctx context.Context, env *component.Env, in component.Samples) (component.Samples, error) {
	counts, err := u.counts(ctx, env, in)
	if err != nil {
		return nil, err
	}
	var from, element []int
	for i, n := range counts {
		for e := range n {
			from, element = append(from, i), append(element, e)
		}
	}
	o, err := order.Index(in.Len(), from)
	if err != nil {
		return nil, err
	}
	var last recent
	return dataset.Each(dataset.Reorder(in, o), func(ctx context.Context, i int, s dataset.Sample) (dataset.Sample, error) {
		s, err := u.one(ctx, last.same(from[i], s), element[i])
		if err != nil {
			err = &dataset.SampleError{Node: env.Node, Index: i, Err: err}
		}
		return s, err
	}), nil
}

func (u Unbatch) counts(ctx context.Context, env *component.Env, in component.Samples) ([]int, error) {
	id, err := known.CodeOf(ctx, env.Larder, known.Component{
		Functions: []any{elements}, Declared: analysis.Declared{Values: true, Through: []string{"github.com/larder-data/larder/dataset"}},
	})
	if err != nil {
		return nil, fmt.Errorf("unbatch: %w", err)
	}
	op, err := key.NewOp("unbatch", id.Code, key.Param{Name: "items", Value: u.Items})
	if err != nil {
		return nil, err
	}
	env.Stats.Total.Store(int64(in.Len()))
	defer func() { env.Stats.Done.Store(env.Stats.Total.Load()) }() // also for cached results
	return dataset.Scan[int]{
		Node: env.Node, Op: op, Reads: u.Items, Pool: env.Pool, Larder: env.Larder, Stats: env.Stats,
		Each: func(ctx context.Context, s dataset.Sample) (int, error) {
			return elements(ctx, s, u.Items)
		},
	}.Run(ctx, in)
}

// elements returns the number of elements of each of the items.
func elements(ctx context.Context, s dataset.Sample, items []string) (n int, err error) {
	for i, name := range items {
		v, err := s.Value(ctx, name)
		if err != nil {
			return 0, err
		}
		has := 0
		switch v := v.(type) {
		case []any:
			has = len(v)
		case *array.Array:
			if len(v.Shape) == 0 {
				return 0, fmt.Errorf("item %s is a scalar; give an array of at least one dimension", name)
			}
			has = v.Shape[0]
		default:
			return 0, fmt.Errorf("item %s is %s; give a list or an array", name, display.Value(v))
		}
		if i > 0 && has != n {
			return 0, fmt.Errorf("item %s has %d elements but item %s has %d; give lists of equal length", items[0], n, name, has)
		}
		n = has
	}
	return n, nil
}

// one returns the sample of one element.
func (u Unbatch) one(ctx context.Context, s dataset.Sample, e int) (dataset.Sample, error) {
	for _, name := range u.Items {
		it, err := s.Item(name)
		if err != nil {
			return s, err
		}
		ext, err := it.Ext(ctx)
		if err != nil {
			return s, err
		}
		v, err := it.Value(ctx)
		if err != nil {
			return s, err
		}
		switch list := v.(type) {
		case []any:
			if e >= len(list) {
				return s, fmt.Errorf("item %s: %w", name, dataset.ErrChanged)
			}
			v = list[e]
		case *array.Array:
			if v, err = row(list, e); err != nil {
				return s, fmt.Errorf("item %s: %w", name, err)
			}
		}
		s = s.WithItem(name, dataset.NewItem(ext, v))
	}
	if u.Index == "" {
		return s, nil
	}
	if _, taken := s.Field(u.Index); taken {
		return s, fmt.Errorf("item %s exists; set index to another name", u.Index)
	}
	return s.WithItem(u.Index, dataset.NewItem("json", int64(e))), nil
}

// recent caches the samples that were split last, so that a reader of consecutive
// elements finds their lists already read or computed. It is safe for concurrent use.
type recent struct {
	mu      sync.Mutex
	at      [8]int // number of the sample plus one, so that 0 means none
	samples [8]dataset.Sample
	next    int
}

// same returns the cached sample with a number, or caches this one.
func (r *recent) same(i int, s dataset.Sample) dataset.Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := slices.Index(r.at[:], i+1); k >= 0 {
		return r.samples[k]
	}
	r.at[r.next], r.samples[r.next] = i+1, s
	r.next = (r.next + 1) % len(r.at)
	return s
}

func row(a *array.Array, i int) (*array.Array, error) {
	if len(a.Shape) == 0 || i >= a.Shape[0] {
		return nil, dataset.ErrChanged
	}
	size := len(a.Data) / a.Shape[0]
	return array.New(a.DType, a.Shape[1:], a.Data[i*size:(i+1)*size:(i+1)*size])
}

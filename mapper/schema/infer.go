package schema

import (
	"context"
	"fmt"
	"image"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
)

// Infer returns the narrowest schema that all samples fulfil. An item is optional if a
// sample lacks it, ranges cover all values, and documents have the union of the types
// seen. An item that cannot be read is an error.
func Infer(ctx context.Context, ds dataset.Dataset[dataset.Sample], o Options) (*Schema, error) {
	seen := map[string]*sight{}
	var mu sync.Mutex
	n := o.samples(ds)
	err := o.each(ctx, ds, func(ctx context.Context, i int, sample dataset.Sample, err error) error {
		if err != nil {
			return err
		}
		for f := range sample.Fields() {
			ext, err := f.Item.Ext(ctx)
			if err != nil {
				return &dataset.SampleError{Index: i, Err: fmt.Errorf("item %s: %w", display.Name(f.Key), err)}
			}
			v, err := sample.Value(ctx, f.Key)
			if err != nil {
				return &dataset.SampleError{Index: i, Err: err}
			}
			mu.Lock()
			if seen[f.Key] == nil {
				seen[f.Key] = newSight()
			}
			seen[f.Key].add(strings.ToLower(ext), f.Shared, v)
			mu.Unlock()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s := &Schema{Version: 1, Closed: n > 0, Items: make(map[string]*Item, len(seen))}
	for k, sight := range seen {
		s.Items[k] = sight.item(n)
	}
	return s, s.compile()
}

// sight collects the values of an item.
type sight struct {
	samples, shared int
	kinds           set[Kind]
	exts, dtypes    set[string]
	channels        set[int]
	width, height   *Range
	shape           []Dim
	ranks           set[int]
	document        *form
}

type set[T comparable] map[T]bool

func newSight() *sight {
	return &sight{kinds: set[Kind]{}, exts: set[string]{}, dtypes: set[string]{}, channels: set[int]{}, ranks: set[int]{}, document: newForm()}
}

func (s *sight) add(ext string, shared bool, v any) {
	s.samples++
	if shared {
		s.shared++
	}
	s.exts[ext] = true
	kind := kindOf(ext, v)
	s.kinds[kind] = true
	switch v := v.(type) {
	case image.Image:
		s.width, s.height = s.width.with(v.Bounds().Dx()), s.height.with(v.Bounds().Dy())
		n, _ := array.Channels(v)
		s.channels[n] = true
	case *array.Array:
		s.array(v)
	}
	if kind == Document {
		s.document.add(v)
	}
}

// with returns r widened to contain n.
func (r *Range) with(n int) *Range {
	if r == nil {
		return &Range{n, n}
	}
	return &Range{min(r.Min, n), max(r.Max, n)}
}

func (s *sight) array(a *array.Array) {
	s.dtypes[a.DType.String()] = true
	s.ranks[len(a.Shape)] = true
	if s.shape == nil {
		s.shape = make([]Dim, len(a.Shape))
		for i, n := range a.Shape {
			s.shape[i] = Dim(n)
		}
		return
	}
	for i := range min(len(s.shape), len(a.Shape)) {
		if int(s.shape[i]) != a.Shape[i] {
			s.shape[i] = Any
		}
	}
}

// item returns the schema of the values seen in a number of samples.
func (s *sight) item(samples int) *Item {
	it := &Item{Optional: s.samples < samples, Ext: slices.Sorted(maps.Keys(s.exts))}
	if s.shared == 0 || s.shared == s.samples {
		shared := s.shared > 0
		it.Shared = &shared
	}
	if len(s.kinds) > 1 {
		return it
	}
	for it.Kind = range s.kinds {
	}
	switch it.Kind {
	case Image:
		it.Width, it.Height, it.Channels = s.width, s.height, slices.Sorted(maps.Keys(s.channels))
	case Array:
		it.DType = slices.Sorted(maps.Keys(s.dtypes))
		if len(s.ranks) == 1 {
			it.Shape = s.shape
		}
	case Document:
		it.Schema = s.document.schema()
	}
	return it
}

// form collects the values at one place in documents.
type form struct {
	n, objects int
	types      set[string]
	fields     map[string]*form // nil: too many to be names
	elements   *form            // nil: none was seen
}

func newForm() *form { return &form{types: set[string]{}, fields: map[string]*form{}} }

// maxFields bounds the distinct names of fields. More names are treated as data.
const maxFields = 200

func (f *form) add(v any) {
	f.n++
	switch v := v.(type) {
	case nil:
		f.types["null"] = true
	case bool:
		f.types["boolean"] = true
	case int64, *big.Int:
		f.types["integer"] = true
	case float64:
		f.types["number"] = true
	case []any:
		f.types["array"] = true
		if f.elements == nil && len(v) > 0 {
			f.elements = newForm()
		}
		for _, e := range v {
			f.elements.add(e)
		}
	case map[string]any:
		f.object(v)
	default: // a string, or bytes, which are written as one
		f.types["string"] = true
	}
}

func (f *form) object(v map[string]any) {
	f.types["object"] = true
	f.objects++
	if f.fields == nil {
		return
	}
	for k, e := range v {
		if f.fields[k] == nil {
			f.fields[k] = newForm()
		}
		f.fields[k].add(e)
	}
	if len(f.fields) > maxFields {
		f.fields = nil
	}
}

// schema returns the JSON Schema of the values seen.
func (f *form) schema() map[string]any {
	types := slices.Sorted(maps.Keys(f.types))
	if f.types["integer"] && f.types["number"] {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	s := map[string]any{"type": types}
	if len(types) == 1 {
		s["type"] = types[0]
	}
	if f.elements != nil {
		s["items"] = f.elements.schema()
	}
	if len(f.fields) == 0 {
		return s
	}
	properties, required := map[string]any{}, []string{}
	for _, k := range slices.Sorted(maps.Keys(f.fields)) {
		properties[k] = f.fields[k].schema()
		if f.fields[k].n == f.objects {
			required = append(required, k)
		}
	}
	s["properties"] = properties
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

package mapper_test

import (
	"context"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/store/memory"
)

// measured returns a sample with documents, a row's numbers, and an image.
func measured() dataset.Sample {
	return dataset.NewSample(
		dataset.Field{Key: "metadata", Item: dataset.NewBytes("yaml", []byte("w: 3 # columns\nh: 4\nname: Ada\nbox: {x: 1.50}\n"))},
		dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(7))},
		dataset.Field{Key: "all", Item: dataset.NewBytes("json", []byte(`{"scale": 2}`)), Shared: true},
		dataset.Field{Key: "image", Item: dataset.NewItem("png", image.NewGray(image.Rect(0, 0, 2, 1)))},
	)
}

// TestCompute checks values set in several places and formats, computed from the original
// sample.
func TestCompute(t *testing.T) {
	for _, c := range []struct {
		set    map[string]string
		format string
		want   map[string]string // bytes of the computed items
	}{
		{map[string]string{"metadata.area": "metadata.w * metadata.h"}, "", map[string]string{"metadata.yaml": "w: 3 # columns\nh: 4\nname: Ada\nbox: {x: 1.50}\narea: 12\n"}},
		{map[string]string{"metadata.w": "metadata.h", "metadata.h": "metadata.w"}, "", map[string]string{"metadata.yaml": "w: 4 # columns\nh: 3\nname: Ada\nbox: {x: 1.50}\n"}},
		{map[string]string{"n": "n + 1", "m": "n * 2.5"}, "", map[string]string{"n.json": "8", "m.json": "17.5"}},
		{map[string]string{"stats.mean": "(metadata.w + n) / 2", "stats.of[\"a b\"]": "upper(metadata.name)"}, "yaml", map[string]string{"stats.yaml": "mean: 5.0\nof:\n  a b: ADA\n"}},
		{map[string]string{"label": "lower(metadata.name) + string(n)"}, "txt", map[string]string{"label.txt": "ada7"}},
		{map[string]string{"all.twice": "all.scale * 2"}, "", map[string]string{"all.json": `{"scale": 2, "twice": 4}`}},
		{map[string]string{"list": "[n, nil, true, 1..3, split('a b', ' '), {\"k\": metadata.box}]"}, "", map[string]string{"list.json": `[7,null,true,[1,2,3],["a","b"],{"k":{"x":1.5}}]`}},
		{map[string]string{"gone": "missing ?? metadata.nothing ?? 5"}, "", map[string]string{"gone.json": "5"}},
		{map[string]string{"metadata": "n"}, "", map[string]string{"metadata.json": "7"}},
	} {
		in := measured()
		m, err := mapper.Compute{Set: c.set, Format: c.format}.Transform()
		if err != nil {
			t.Errorf("%v: %v", c.set, err)
			continue
		}
		out, err := mapped(t.Context(), t, m, nil, in)
		if err != nil {
			t.Errorf("%v: %v", c.set, err)
			continue
		}
		got := map[string]string{}
		for f := range out.Fields() {
			if was, _ := in.Field(f.Key); was.Item == f.Item {
				continue
			}
			b, err := f.Item.Bytes(t.Context())
			if err != nil {
				t.Errorf("%v: %v", c.set, err)
				continue
			}
			ext, _ := f.Item.Ext(t.Context())
			got[f.Key+"."+ext] = string(b)
			if f.Shared != (f.Key == "all") {
				t.Errorf("%v: item %s is shared: %v", c.set, f.Key, f.Shared)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v: %s", c.set, d)
		}
	}
}

// TestComputeSaysWhereAndWhy checks errors of parameters before anything is read, and
// errors of a sample when it is read.
func TestComputeSaysWhereAndWhy(t *testing.T) {
	for says, m := range map[string]mapper.Compute{
		"set is empty": {},
		"set metadata.area: expression: unexpected end of the expression": {Set: map[string]string{"metadata.area": "metadata.w *"}},
		`set a: expression: unknown function "sqr"`:                       {Set: map[string]string{"a": "sqr(n)"}},
		"a and a.b overlap; remove one":                                   {Set: map[string]string{"a": "1", "a.b": "2"}},
		`a.b and a.b overlap; remove one`:                                 {Set: map[string]string{"a.b": "1", `a["b"]`: "2"}},
		"a name is missing":                                               {Set: map[string]string{"a..b": "1"}},
		"not a known extension":                                           {Set: map[string]string{"a": "1"}, Format: "xyz"},
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: the error is %v, want %q", m.Set, err, says)
		}
	}
	for expr, says := range map[string]string{
		"metadata.naem":           `set a.b: expression metadata.naem: metadata has no "naem"; did you mean "name"? (if it may be missing`,
		"n / 0":                   "set a.b: the value is infinite, which documents cannot store",
		"[1, image]":              "set a.b: the value is an image, not a document",
		"now2 + 1":                `item "now2" not found; the sample has `,
		"n * 9000000000000000000": "exceeds 64-bit integers; use float(...) for an approximate result (1:3)\n | n * 9000000000000000000\n | ..^",
		"let a = [n]; let b = [a, a, a, a, a, a, a, a]; let c = [b, b, b, b, b, b, b, b]; let d = [c, c, c, c, c, c, c, c]; let e = [d, d, d, d, d, d, d, d]; let f = [e, e, e, e, e, e, e, e]; let g = [f, f, f, f, f, f, f, f]; let h = [g, g, g, g, g, g, g, g]; [h, h, h, h]": "exceeds 64 MiB",
	} {
		m, err := mapper.Compute{Set: map[string]string{"a.b": expr}}.Transform()
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		out, err := dataset.Map(dataset.List(measured()), m, dataset.MapOptions{Node: "areas"}).At(t.Context(), 0)
		if err == nil {
			_, err = out.Value(t.Context(), "a")
		}
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "node areas: sample 0: ") {
			t.Errorf("%.60s: the error is %v, want %q", expr, err, says)
		}
	}
}

// TestComputeReadsWhatItNames checks that only changes of items that an expression names,
// or of expressions, compute again. The code is identified by what it reaches.
func TestComputeReadsWhatItNames(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	computed := func(set map[string]string, s dataset.Sample) int64 {
		t.Helper()
		m, err := mapper.Compute{Set: set}.Transform()
		if err != nil {
			t.Fatal(err)
		}
		if op, err := m.Op(t.Context(), l); err != nil || op.Code().Kind != "source" {
			t.Fatalf("it is identified by %v: %v", op, err)
		}
		stats := new(dataset.NodeStats)
		out, err := dataset.Map(dataset.List(s), m, dataset.MapOptions{Larder: l, Keep: true, Stats: stats}).At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for name := range set {
			if _, err := out.Get(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		return stats.Computed.Load()
	}
	area := map[string]string{"metadata.area": "metadata.w * (n ?? 1)"}
	other := func(key string, v any) dataset.Sample { return measured().WithItem(key, dataset.NewItem("json", v)) }
	for _, c := range []struct {
		what string
		set  map[string]string
		s    dataset.Sample
		want int64
	}{
		{"the first time", area, measured(), 1},
		{"the second time", area, measured(), 0},
		{"another item that is not read", area, other("all", int64(1)), 0},
		{"an item more", area, other("more", int64(1)), 0},
		{"another item that is read", area, other("n", int64(8)), 1},
		{"without an item that may be missing", area, measured().Without("n"), 1},
		{"another expression", map[string]string{"metadata.area": "metadata.h * (n ?? 1)"}, measured(), 1},
		{"another path", map[string]string{"metadata.size": "metadata.w * (n ?? 1)"}, measured(), 1},
	} {
		if got := computed(c.set, c.s); got != c.want {
			t.Errorf("%s: %d executions, want %d", c.what, got, c.want)
		}
	}
}

// TestComputeReadsNothingElse checks that items that no expression names are not read.
func TestComputeReadsNothingElse(t *testing.T) {
	s := dataset.NewSample(
		dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(7))},
		dataset.Field{Key: "broken", Item: dataset.NewBytes("json", []byte("{"))},
	)
	m, err := mapper.Compute{Set: map[string]string{"m": "n + 1"}}.Transform()
	out, err := mapped(t.Context(), t, m, err, s)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := out.Value(t.Context(), "m"); v != int64(8) || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// BenchmarkCompute measures the cost of a row in which two numbers are set.
func BenchmarkCompute(b *testing.B) {
	m, err := mapper.Compute{Set: map[string]string{"area": "w * h", "ratio": "w / h"}}.Transform()
	if err != nil {
		b.Fatal(err)
	}
	row := dataset.Func(b.N+1, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(
			dataset.Field{Key: "w", Item: dataset.NewItem("json", int64(i))},
			dataset.Field{Key: "h", Item: dataset.NewItem("json", int64(3))},
		), nil
	})
	ds := dataset.Map(row, m, dataset.MapOptions{})
	b.ReportAllocs()
	for i := range b.N {
		s, err := ds.At(b.Context(), i)
		if err != nil {
			b.Fatal(err)
		}
		if v, err := s.Value(b.Context(), "area"); err != nil || v != int64(3*i) {
			b.Fatal(v, err)
		}
	}
}

// A row gets computed items in addition to its own.
func ExampleCompute() {
	m, err := mapper.Compute{Set: map[string]string{"metadata.area": "metadata.w * metadata.h", "big": "metadata.w > 2"}}.Transform()
	if err != nil {
		fmt.Println(err)
		return
	}
	s := dataset.NewSample(dataset.Field{Key: "metadata", Item: dataset.NewBytes("json", []byte(`{"w": 3, "h": 4}`))})
	out, err := m.Map(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(map[string]bool{"metadata": true, "big": true})) {
		v, err := out.Value(context.Background(), key)
		fmt.Println(key, v, err)
	}
	// Output:
	// big true <nil>
	// metadata map[area:12 h:4 w:3] <nil>
}

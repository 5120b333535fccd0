package op_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

func boxes(t *testing.T, name string, list []any, rows ...float32) dataset.Sample {
	t.Helper()
	a, err := array.From(rows, len(rows)/2, 2)
	if err != nil {
		t.Fatal(err)
	}
	return dataset.NewSample(
		dataset.Field{Key: "name", Item: dataset.NewItem("json", name)},
		dataset.Field{Key: "labels", Item: dataset.NewItem("json", list)},
		dataset.Field{Key: "boxes", Item: dataset.NewItem("npy", a)},
	)
}

// TestUnbatch checks that each element becomes a sample with the other items, in order.
// Samples without elements disappear, and the counts are cached.
func TestUnbatch(t *testing.T) {
	in := dataset.List(
		boxes(t, "two", []any{"a", map[string]any{"b": int64(1)}}, 1, 2, 3, 4),
		boxes(t, "none", []any{}),
		boxes(t, "one", []any{nil}, 5, 6),
	)
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for pass, want := range []int64{3, 0} {
		env := &component.Env{Node: "flat", Pool: pool.New(2), Larder: l, Stats: new(dataset.NodeStats)}
		out, err := op.Unbatch{Items: []string{"labels", "boxes"}, Index: "i"}.Apply(t.Context(), env, in)
		if err != nil {
			t.Fatal(err)
		}
		if n := env.Stats.Computed.Load(); n != want {
			t.Errorf("pass %d: %d samples were read, want %d", pass, n, want)
		}
		var names, labels, numbers []string
		for s, err := range dataset.All(t.Context(), out) {
			if err != nil {
				t.Fatal(err)
			}
			get := func(name string) string {
				it, err := s.Item(name)
				if err != nil {
					t.Fatal(err)
				}
				b, err := it.Bytes(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(string(b))
			}
			v, err := s.Value(t.Context(), "boxes")
			if err != nil {
				t.Fatal(err)
			}
			names, labels = append(names, get("name")+get("i")), append(labels, get("labels"))
			numbers = append(numbers, v.(*array.Array).String())
		}
		if got := strings.Join(names, " "); got != `"two"0 "two"1 "one"0` {
			t.Errorf("samples %s", got)
		}
		if !slices.Equal(labels, []string{`"a"`, `{"b":1}`, "null"}) || !slices.Equal(numbers, slices.Repeat([]string{"float32 [2]"}, 3)) {
			t.Errorf("elements %q, %q", labels, numbers)
		}
	}
}

func TestUnbatchRefuses(t *testing.T) {
	apply := func(u op.Unbatch, s dataset.Sample) error {
		if err := u.Check(); err != nil {
			return err
		}
		env := &component.Env{Node: "flat", Pool: pool.New(1), Stats: new(dataset.NodeStats)}
		out, err := u.Apply(t.Context(), env, dataset.List(s))
		if err == nil {
			_, err = out.At(t.Context(), 0)
		}
		return err
	}
	s := boxes(t, "two", []any{"a"}, 1, 2, 3, 4)
	for want, u := range map[string]op.Unbatch{
		"name lists or arrays":                      {},
		"listed twice":                              {Items: []string{"labels", "labels"}},
		`"labels" is listed twice; remove one`:      {Items: []string{"labels"}, Index: "labels"},
		"item name is a string":                     {Items: []string{"name"}},
		"item labels has 1 elements but item boxes": {Items: []string{"labels", "boxes"}},
		"item name exists":                          {Items: []string{"labels"}, Index: "name"},
		`item "nothing" not found`:                  {Items: []string{"nothing"}},
	} {
		if err := apply(u, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", u, err, want)
		}
	}
	var failed *dataset.SampleError
	if err := apply(op.Unbatch{Items: []string{"name"}}, s); !errors.As(err, &failed) || failed.Node != "flat" {
		t.Errorf("%v names no sample", err)
	}
}

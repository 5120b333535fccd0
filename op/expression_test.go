package op_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/pool"
)

// named returns a dataset of n samples with an item of the given name that counts from 0,
// and the numbers of the samples.
func named(name string, n int) component.Samples {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(
			dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"n": int64(i)})},
			dataset.Field{Key: name, Item: dataset.NewItem("json", int64(i))},
		), nil
	})
}

func TestItemsNamedLikeFunctionsAreRead(t *testing.T) {
	testrand.Long(t)
	for _, name := range builtin.Names {
		in := []component.Samples{named(name, 5)}
		for _, c := range []struct {
			component string
			params    any
			want      []int
		}{
			{"filter", op.Filter{Where: name + " == 3"}, []int{3}},
			{"filter", op.Filter{Where: name + " != nil"}, []int{0, 1, 2, 3, 4}},
			{"filter", op.Filter{Where: "(" + name + " ?? 0) == 0"}, []int{0}},
			{"filter", op.Filter{Where: "any([1, 2], # == " + name + ")"}, []int{1, 2}},
			{"filter", op.Filter{Where: "let v = " + name + "; v > 3"}, []int{4}},
			{"filter", op.Filter{Where: "string(" + name + ") == '3'"}, []int{3}},
			{"sort", op.Sort{By: "-" + name}, []int{4, 3, 2, 1, 0}},
		} {
			if got := contents(t, apply(t, c.component, c.params, in...).Parts[0]); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, want %v", c.params, got, c.want)
			}
		}
		parts := apply(t, "group-by", op.GroupBy{By: name + " > 2"}, in...)
		if want := []string{"false", "true"}; !slices.Equal(parts.Names, want) {
			t.Errorf("group-by %s: %q, want %q", name, parts.Names, want)
		}
	}
}

func TestFunctionsAreCalledNextToItemsOfTheirName(t *testing.T) {
	in := dataset.Func(3, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(
			dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"n": int64(i)})},
			dataset.Field{Key: "len", Item: dataset.NewItem("json", []any{"a", "b", "c"}[:i])},
		), nil
	})
	for where, want := range map[string][]int{
		"len(len) == 2":                {2},
		"len | len() == 1":             {1},
		"count(len, # == 'b') == 1":    {2},
		"::len(len) == 0":              {0},
		"{len: 1}.len == 1":            {0, 1, 2},
		"meta?.len == nil":             {0, 1, 2},
		"map(len, len(#)) == [1]":      {1},
		"let n = len; len(n) + 1 == 3": {2},
	} {
		if got := contents(t, apply(t, "filter", op.Filter{Where: where}, in).Parts[0]); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
}

func TestVariablesHideItemsOnlyWhereTheyAreDeclared(t *testing.T) {
	for where, want := range map[string][]int{
		"let v = v ?? 0; v == 3":       {3},
		"(let v = 1; v) == v":          {1},
		"let w = v; let u = w; u == v": {0, 1, 2, 3, 4},
		"let v = v + 1; v == 3":        {2},
	} {
		if got := contents(t, apply(t, "filter", op.Filter{Where: where}, named("v", 5)).Parts[0]); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
}

func TestNamesThatMeanNothingAreRefused(t *testing.T) {
	for where, says := range map[string]string{
		"lenn(meta) > 1":       `unknown function "lenn"`,
		"let f = 1; f() == 1":  `unknown function "f"`,
		"let len = 1; len > 0": "is already used",
		"let now = 1; now > 0": "is already used",
		"::now() == nil":       "now is not available",
		"$env['meta'] != nil":  "name items directly",
	} {
		if err := (op.Filter{Where: where}).Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want %q", where, err, says)
		}
	}
}

func TestMissingItemsAreReportedWithThoseThereAre(t *testing.T) {
	in := []component.Samples{named("count", 2)}
	for by, says := range map[string]string{
		"cuont":        `item "cuont" not found; the sample has count, meta`,
		"meta + other": `item "other" not found; the sample has meta, count`,
	} {
		c, err := component.Find(component.Op, "sort")
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("node n: sample 0: %s", says)
		if _, err := c.Apply(t.Context(), &component.Env{Node: "n", Pool: pool.New(1), Stats: new(dataset.NodeStats)}, op.Sort{By: by}, in); err == nil || err.Error() != want {
			t.Errorf("%s: the error is %v, want %s", by, err, want)
		}
	}
}

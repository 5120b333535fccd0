package op_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
)

// numbers returns a dataset of documents {n: i, letter: a, b, ...}.
func numbers(n int) component.Samples {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		doc := map[string]any{"n": int64(i), "letter": string(rune('a' + i%26)), "half": float64(i) / 2}
		return dataset.NewSample(dataset.Field{Key: "meta", Item: dataset.NewItem("json", doc)}), nil
	})
}

func env() *component.Env { return &component.Env{Node: "n", Stats: new(dataset.NodeStats)} }

// contents returns the numbers of the samples.
func contents(t *testing.T, ds component.Samples) []int {
	t.Helper()
	got := []int{}
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(t.Context(), "meta")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int(v.(map[string]any)["n"].(int64)))
	}
	return got
}

// apply applies the named operator.
func apply(t *testing.T, name string, params any, in ...component.Samples) component.Data {
	t.Helper()
	c, err := component.Find(component.Op, name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Apply(t.Context(), env(), params, in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ptr(i int) *int { return &i }

func TestOperators(t *testing.T) {
	for _, c := range []struct {
		name   string
		params any
		in     []component.Samples
		want   [][]int
	}{
		{"slice", op.Slice{Start: ptr(1), Stop: ptr(4)}, one(6), [][]int{{1, 2, 3}}},
		{"slice", op.Slice{Start: ptr(-2)}, one(6), [][]int{{4, 5}}},
		{"slice", op.Slice{Stop: ptr(0)}, one(6), [][]int{{}}},
		{"slice", op.Slice{Step: ptr(-2)}, one(6), [][]int{{5, 3, 1}}},
		{"reverse", op.Reverse{}, one(3), [][]int{{2, 1, 0}}},
		{"repeat", op.Repeat{Times: 2}, one(3), [][]int{{0, 1, 2, 0, 1, 2}}},
		{"repeat", op.Repeat{Times: 2, Interleave: true}, one(3), [][]int{{0, 0, 1, 1, 2, 2}}},
		{"repeat", op.Repeat{Times: 0}, one(3), [][]int{{}}},
		{"cycle", op.Cycle{N: 5}, one(3), [][]int{{0, 1, 2, 0, 1}}},
		{"index", op.Index{Indices: []int{2, -3, 2}}, one(3), [][]int{{2, 0, 2}}},
		{"cat", op.Cat{}, []component.Samples{numbers(2), numbers(0), numbers(1)}, [][]int{{0, 1, 0}}},
		{"batch", op.Batch{Size: 2}, one(5), [][]int{{0, 1}, {2, 3}, {4}}},
		{"batch", op.Batch{Size: 2}, one(0), [][]int{}},
		{"chunk", op.Chunk{N: 3}, one(5), [][]int{{0, 1}, {2, 3}, {4}}},
		{"chunk", op.Chunk{N: 2}, one(0), [][]int{{}, {}}},
		{"split", op.Split{Sizes: []any{0.2, 0.8}}, one(6), [][]int{{0}, {1, 2, 3, 4, 5}}},
		{"split", op.Split{Sizes: []any{0.29, 0.71}}, one(100), [][]int{span(0, 29), span(29, 100)}},
		{"split", op.Split{Sizes: []any{0.3, nil, 0.2}}, one(10), [][]int{{0, 1, 2}, {3, 4, 5, 6, 7}, {8, 9}}},
		{"split", op.Split{Sizes: []any{int64(2), nil}}, one(3), [][]int{{0, 1}, {2}}},
		{"split", op.Split{Sizes: []component.Entry{{Key: "b", Value: 0.5}, {Key: "a", Value: 0.5}}}, one(2), [][]int{{0}, {1}}},
		{"filter", op.Filter{Where: "meta.n % 2 == 0"}, one(5), [][]int{{0, 2, 4}}},
		{"filter", op.Filter{Where: "meta.n % 2 == 0", Negate: true}, one(5), [][]int{{1, 3}}},
		{"filter", op.Filter{Where: `let l = meta.letter; l in ["b", "d"]`}, one(5), [][]int{{1, 3}}},
		{"sort", op.Sort{By: "-meta.n"}, one(3), [][]int{{2, 1, 0}}},
		{"sort", op.Sort{By: "meta.n % 2"}, one(4), [][]int{{0, 2, 1, 3}}},
		{"sort", op.Sort{By: "meta.n % 2", Reverse: true}, one(4), [][]int{{1, 3, 0, 2}}},
		{"sort", op.Sort{By: "[meta.n % 2, -meta.n]"}, one(4), [][]int{{2, 0, 3, 1}}},
		{"group-by", op.GroupBy{By: "meta.n % 3 == 1 ? 'one' : 'other'"}, one(5), [][]int{{0, 2, 3}, {1, 4}}},
	} {
		t.Run(fmt.Sprintf("%s %+v", c.name, c.params), func(t *testing.T) {
			d := apply(t, c.name, c.params, c.in...)
			if len(d.Parts) != len(c.want) {
				t.Fatalf("%d outputs, want %d", len(d.Parts), len(c.want))
			}
			for i, want := range c.want {
				if got := contents(t, d.Parts[i]); !slices.Equal(got, want) {
					t.Errorf("output %d is %v, want %v", i, got, want)
				}
			}
		})
	}
}

func one(n int) []component.Samples { return []component.Samples{numbers(n)} }

func span(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

func TestGroupsAreInFirstSeenOrder(t *testing.T) {
	d := apply(t, "group-by", op.GroupBy{By: "meta.letter in ['a', 'e'] ? 'vowel' : 'consonant'"}, numbers(5))
	if !slices.Equal(d.Names, []string{"vowel", "consonant"}) {
		t.Errorf("groups %q", d.Names)
	}
}

func TestShuffleIsSeeded(t *testing.T) {
	shuffled := func(seed int) []int {
		return contents(t, apply(t, "shuffle", op.Shuffle{Seed: seed}, numbers(26)).Parts[0])
	}
	a, b := shuffled(1), shuffled(2)
	epoch := contents(t, apply(t, "shuffle", op.Shuffle{Seed: 1, Epoch: 1}, numbers(26)).Parts[0])
	if slices.Equal(a, epoch) {
		t.Errorf("two epochs have one order, %v", a)
	}
	if !slices.Equal(a, shuffled(1)) || slices.Equal(a, b) || slices.IsSorted(a) {
		t.Errorf("seed 1 gives %v and seed 2 gives %v", a, b)
	}
	slices.Sort(a)
	if !slices.Equal(a, span(0, 26)) {
		t.Errorf("samples were lost: %v", a)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		params interface{ Check() error }
		says   string
	}{
		{op.Slice{Step: ptr(0)}, "step"},
		{op.Repeat{Times: -1}, "times"},
		{op.Repeat{Times: math.NaN()}, "times"},
		{op.Repeat{Times: math.Inf(1)}, "times"},
		{op.Pad{Length: -1}, "length is -1"},
		{op.Sample{N: -1}, "n is -1"},
		{op.WeightedSample{N: -1, Weight: "1"}, "n is -1"},
		{op.WeightedSample{Weight: "("}, "expression"},
		{op.Mix{N: -1}, "n is -1"},
		{op.Shard{Rank: 2, WorldSize: 2}, "rank is 2 of 2; give 0 to world-size - 1"},
		{op.Shard{Rank: -1, WorldSize: 2}, "rank is -1 of 2; give 0 to world-size - 1"},
		{op.Shard{}, "world-size is 0; give at least 1"},
		{op.Shard{WorldSize: 1, Rest: "none"}, `rest cannot be "none"`},
		{op.CheckLength{}, "min and max are missing"},
		{op.CheckLength{Min: ptr(3), Max: ptr(2)}, "no length satisfies"},
		{op.CheckLength{Max: ptr(-1)}, "no length satisfies"},
		{op.Interleave{Until: "never"}, "until cannot be"},
		{op.Zip{Length: "any"}, "length cannot be"},
		{op.Zip{Clash: "any"}, "clash cannot be"},
		{op.Zip{Keys: []string{"*", "same"}}, `"same" has no *`},
		{op.Enumerate{Format: "png"}, "format cannot be"},
		{op.Memorize{Bytes: -1}, "bytes is -1"},
		{op.MapIf{}, "step is missing; name a mapper"},
		{op.MapIf{Step: doubling(t)}, "where, range and probability are missing"},
		{op.MapIf{Step: doubling(t), Probability: share(1.5)}, "probability is 1.5"},
		{op.MapIf{Step: doubling(t), Probability: share(math.NaN())}, "probability is NaN"},
		{op.MapIf{Step: doubling(t), Where: "("}, "expression"},
		{op.MapIf{Step: doubling(t), Range: "3"}, "write start:stop"},
		{op.MapIf{Step: doubling(t), Range: "1:2:3:4"}, "write start:stop"},
		{op.MapIf{Step: doubling(t), Range: "a:"}, "not an integer"},
		{op.MapIf{Step: doubling(t), Range: "::0"}, "step of a slice"},
		{op.MapIf{Step: doubling(t), Range: "1:99999999999999999999"}, "not an integer"},
		{op.Cycle{N: -1}, "n is -1"},
		{op.Batch{}, "size"},
		{op.Chunk{}, "n is 0"},
		{op.Split{}, "give a list or a map"},
		{op.Split{Sizes: []any{nil, nil}}, "at most one"},
		{op.Split{Sizes: []any{0.5, int64(1)}}, "sizes mix integers and fractions"},
		{op.Split{Sizes: []any{0.5, 0.4}}, "add up"},
		{op.Split{Sizes: []any{0.5, 0.6, nil}}, "add up"},
		{op.Split{Sizes: []any{"x"}}, "give a number"},
		{op.Split{Sizes: []any{int64(-1)}}, "size of part 0 is -1"},
		{op.Filter{Where: "meta.n =="}, "expression"},
		{op.Sort{By: ")"}, "expression"},
		{op.Filter{Where: "now().Unix() > 5"}, "now"},
		{op.Filter{Where: `$env["meta"] != nil`}, "name items directly"},
		{op.Chunk{N: 1 << 60}, "at most"},
	} {
		if err := c.params.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the error is %v, want %q", c.params, err, c.says)
		}
	}
}

func TestErrorsNameTheSample(t *testing.T) {
	for name, params := range map[string]any{
		"filter":   op.Filter{Where: "meta.n == 3 ? 1 : true"},
		"sort":     op.Sort{By: "meta.n == 3 ? nil : 1"},
		"group-by": op.GroupBy{By: "meta.n == 3 ? 0.5 : 'x'"},
	} {
		c, err := component.Find(component.Op, name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Apply(t.Context(), env(), params, one(5))
		if err == nil || !strings.Contains(err.Error(), "node n: sample 3: ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	c, err := component.Find(component.Op, "filter")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), env(), op.Filter{Where: "nothing > 1"}, one(5)); err == nil || !strings.Contains(err.Error(), `item "nothing" not found`) {
		t.Errorf("an unknown item gives %v", err)
	}
	if _, err := (op.Split{Sizes: []any{int64(12), int64(10)}}).Apply(t.Context(), env(), numbers(15)); err == nil {
		t.Error("parts larger than the dataset were accepted")
	}
}

func TestLargeWholeNumbersAreSortedExactly(t *testing.T) {
	ds := dataset.Func(3, func(_ context.Context, i int) (dataset.Sample, error) {
		doc := map[string]any{"n": int64(i), "t": int64(1_700_000_000_000_000_000 + (i*2)%3)}
		return dataset.NewSample(dataset.Field{Key: "meta", Item: dataset.NewItem("json", doc)}), nil
	})
	if got := contents(t, apply(t, "sort", op.Sort{By: "meta.t"}, ds).Parts[0]); !slices.Equal(got, []int{0, 2, 1}) {
		t.Errorf("sorted as %v", got)
	}
}

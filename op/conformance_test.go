package op_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/op"
)

// down counts from high to low, both included, by step.
func down(high, low, step int) []int {
	var s []int
	for i := high; i >= low; i -= step {
		s = append(s, i)
	}
	return s
}

func again(times int, s []int) []int { return slices.Repeat(s, times) }

// TestOrdersConform compares the operators that change the order with Pipewine. The names
// of cases say where Pipewine was wrong.
func TestOrdersConform(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     string
		params any
		n      int
		want   []int
	}{
		{"nothing given", "slice", op.Slice{}, 10, span(0, 10)},
		{"start", "slice", op.Slice{Start: ptr(3)}, 10, span(3, 10)},
		{"stop", "slice", op.Slice{Stop: ptr(3)}, 10, span(0, 3)},
		{"stop past the end", "slice", op.Slice{Stop: ptr(30)}, 10, span(0, 10)},
		{"start past the end", "slice", op.Slice{Start: ptr(30)}, 10, nil},
		{"start after stop", "slice", op.Slice{Start: ptr(5), Stop: ptr(2)}, 10, nil},
		{"step", "slice", op.Slice{Step: ptr(3)}, 10, []int{0, 3, 6, 9}},
		{"start, stop and step", "slice", op.Slice{Start: ptr(1), Stop: ptr(8), Step: ptr(2)}, 10, []int{1, 3, 5, 7}},
		{"negative start", "slice", op.Slice{Start: ptr(-3)}, 10, span(7, 10)},
		{"negative stop", "slice", op.Slice{Stop: ptr(-3)}, 10, span(0, 7)},
		{"negative start before the first", "slice", op.Slice{Start: ptr(-30)}, 10, span(0, 10)},
		{"stop 0, which was everything", "slice", op.Slice{Stop: ptr(0)}, 10, nil},
		{"step -1, which was empty", "slice", op.Slice{Step: ptr(-1)}, 10, down(9, 0, 1)},
		{"0:20:-2", "slice", op.Slice{Start: ptr(0), Stop: ptr(20), Step: ptr(-2)}, 26, nil},
		{"20:0:-2, which was empty", "slice", op.Slice{Start: ptr(20), Stop: ptr(0), Step: ptr(-2)}, 26, down(20, 2, 2)},
		{"of nothing", "slice", op.Slice{Start: ptr(-1), Step: ptr(-1)}, 0, nil},

		{"some times", "repeat", op.Repeat{Times: 3}, 4, again(3, span(0, 4))},
		{"once", "repeat", op.Repeat{Times: 1}, 4, span(0, 4)},
		{"no times", "repeat", op.Repeat{Times: 0}, 4, nil},
		{"of nothing", "repeat", op.Repeat{Times: 3}, 0, nil},
		{"in place", "repeat", op.Repeat{Times: 3, Interleave: true}, 2, []int{0, 0, 0, 1, 1, 1}},
		{"in place, no times", "repeat", op.Repeat{Times: 0, Interleave: true}, 2, nil},
		{"in place, of nothing", "repeat", op.Repeat{Times: 3, Interleave: true}, 0, nil},
		{"a fraction", "repeat", op.Repeat{Times: 2.5}, 4, []int{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}},
		{"a fraction in place", "repeat", op.Repeat{Times: 2.5, Interleave: true}, 4, []int{0, 0, 0, 1, 1, 1, 2, 2, 3, 3}},
		{"less than once", "repeat", op.Repeat{Times: 0.5}, 4, []int{0, 1}},

		{"shorter", "cycle", op.Cycle{N: 2}, 3, []int{0, 1}},
		{"equal", "cycle", op.Cycle{N: 3}, 3, span(0, 3)},
		{"longer", "cycle", op.Cycle{N: 8}, 3, []int{0, 1, 2, 0, 1, 2, 0, 1}},
		{"nothing", "cycle", op.Cycle{N: 0}, 3, nil},
		{"nothing of nothing, which was an error", "cycle", op.Cycle{N: 0}, 0, nil},

		{"some", "index", op.Index{Indices: []int{4, 0, 4, 2}}, 5, []int{4, 0, 4, 2}},
		{"none", "index", op.Index{}, 5, nil},
		{"negative, which was passed on as it is", "index", op.Index{Indices: []int{-1, -5, 1}}, 5, []int{4, 0, 1}},
		{"all others, ascending, which were in any order", "index", op.Index{Indices: []int{4, 0, 4}, Negate: true}, 5, []int{1, 2, 3}},
		{"all others than none", "index", op.Index{Negate: true}, 3, span(0, 3)},
		{"all others than all", "index", op.Index{Indices: span(0, 3), Negate: true}, 3, nil},
		{"all others, negative", "index", op.Index{Indices: []int{-1, 0}, Negate: true}, 4, []int{1, 2}},

		{"", "reverse", op.Reverse{}, 4, down(3, 0, 1)},
		{"one", "reverse", op.Reverse{}, 1, []int{0}},
		{"nothing", "reverse", op.Reverse{}, 0, nil},
		{"", "clone", op.Clone{}, 4, span(0, 4)},
		{"nothing", "clone", op.Clone{}, 0, nil},

		{"equal", "pad", op.Pad{Length: 3}, 3, span(0, 3)},
		{"longer, with the last, where -1 of a slice was another sample", "pad", op.Pad{Length: 5}, 3, []int{0, 1, 2, 2, 2}},
		{"longer, with the first", "pad", op.Pad{Length: 5, With: ptr(0)}, 3, []int{0, 1, 2, 0, 0}},
		{"longer, with the last, said so", "pad", op.Pad{Length: 5, With: ptr(-1)}, 3, []int{0, 1, 2, 2, 2}},
		{"longer, with one in between", "pad", op.Pad{Length: 5, With: ptr(-2)}, 3, []int{0, 1, 2, 1, 1}},
		{"shorter, which went without a word", "pad", op.Pad{Length: 2, Truncate: true}, 3, []int{0, 1}},
		{"to nothing", "pad", op.Pad{Length: 0, Truncate: true}, 3, nil},
		{"nothing to nothing", "pad", op.Pad{Length: 0}, 0, nil},

		{"first", "shard", op.Shard{Rank: 0, WorldSize: 3}, 8, []int{0, 3, 6}},
		{"last", "shard", op.Shard{Rank: 2, WorldSize: 3}, 8, []int{2, 5}},
		{"the rest dropped", "shard", op.Shard{Rank: 0, WorldSize: 3, Rest: "drop"}, 8, []int{0, 3}},
		{"the rest repeated", "shard", op.Shard{Rank: 2, WorldSize: 3, Rest: "repeat"}, 8, []int{2, 5, 0}},
		{"no rest", "shard", op.Shard{Rank: 2, WorldSize: 3, Rest: "repeat"}, 6, []int{2, 5}},
		{"more than there is", "shard", op.Shard{Rank: 4, WorldSize: 5, Rest: "repeat"}, 2, []int{0}},
		{"nothing", "shard", op.Shard{Rank: 1, WorldSize: 2, Rest: "repeat"}, 0, nil},

		{"as it should be", "check-length", op.CheckLength{Min: ptr(3), Max: ptr(3)}, 3, span(0, 3)},
		{"none drawn of nothing", "sample", op.Sample{}, 0, nil},
	} {
		t.Run(strings.TrimSuffix(c.op+" "+c.name, " "), func(t *testing.T) {
			if got := contents(t, apply(t, c.op, c.params, numbers(c.n)).Parts[0]); !slices.Equal(got, c.want) {
				t.Errorf("%+v of %d is %v, want %v", c.params, c.n, got, c.want)
			}
		})
	}
}

// TestPadOfASlice checks that the sample at -1 is the last one of the slice, not of the
// dataset below.
func TestPadOfASlice(t *testing.T) {
	sliced := apply(t, "slice", op.Slice{Start: ptr(2), Stop: ptr(5)}, numbers(10)).Parts[0]
	if got, want := contents(t, apply(t, "pad", op.Pad{Length: 5}, sliced).Parts[0]), []int{2, 3, 4, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("padded as %v, want %v", got, want)
	}
	if got, want := contents(t, apply(t, "index", op.Index{Indices: []int{-1}}, sliced).Parts[0]), []int{4}; !slices.Equal(got, want) {
		t.Errorf("the last is %v, want %v", got, want)
	}
}

// TestPartsConform compares the operators that split a dataset with Pipewine. The names of
// cases say where Pipewine was wrong.
func TestPartsConform(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     string
		params any
		n      int
		want   []int // sizes
	}{
		{"even", "batch", op.Batch{Size: 5}, 10, []int{5, 5}},
		{"last one short", "batch", op.Batch{Size: 4}, 10, []int{4, 4, 2}},
		{"one only", "batch", op.Batch{Size: 20}, 10, []int{10}},
		{"of one", "batch", op.Batch{Size: 1}, 3, []int{1, 1, 1}},
		{"of nothing", "batch", op.Batch{Size: 4}, 0, nil},

		{"even", "chunk", op.Chunk{N: 2}, 10, []int{5, 5}},
		{"larger first", "chunk", op.Chunk{N: 4}, 10, []int{3, 3, 2, 2}},
		{"more than samples", "chunk", op.Chunk{N: 4}, 2, []int{1, 1, 0, 0}},
		{"of nothing", "chunk", op.Chunk{N: 3}, 0, []int{0, 0, 0}},

		{"integers", "split", op.Split{Sizes: []any{int64(10), int64(5)}}, 15, []int{10, 5}},
		{"integers and the rest", "split", op.Split{Sizes: []any{int64(10), nil, int64(2)}}, 15, []int{10, 3, 2}},
		{"the rest alone", "split", op.Split{Sizes: []any{nil}}, 15, []int{15}},
		{"the rest of nothing", "split", op.Split{Sizes: []any{nil}}, 0, []int{0}},
		{"fractions of nothing", "split", op.Split{Sizes: []any{0.5, 0.5}}, 0, []int{0, 0}},
		{"fractions and the rest", "split", op.Split{Sizes: []any{0.3, 0.5, nil}}, 10, []int{3, 5, 2}},
		{"the rest between fractions, which was 3, 7, 0", "split", op.Split{Sizes: []any{0.3, nil, 0.2}}, 10, []int{3, 5, 2}},
		{"fractions, of which one sample was lost", "split", op.Split{Sizes: []any{0.2, 0.8}}, 26, []int{5, 21}},
		{"fractions, of which one sample was lost", "split", op.Split{Sizes: []any{0.29, 0.71}}, 100, []int{29, 71}},
	} {
		t.Run(c.op+" "+c.name, func(t *testing.T) {
			d := apply(t, c.op, c.params, numbers(c.n))
			var sizes []int
			var all []int
			for _, part := range d.Parts {
				sizes = append(sizes, part.Len())
				all = append(all, contents(t, part)...)
			}
			if !slices.Equal(sizes, c.want) {
				t.Errorf("%+v of %d has sizes %v, want %v", c.params, c.n, sizes, c.want)
			}
			if !slices.Equal(all, span(0, c.n)) {
				t.Errorf("together they are %v", all)
			}
		})
	}
}

// TestRefusedOfADataset checks parameters that are wrong for the given dataset. Some were
// silently accepted.
func TestRefusedOfADataset(t *testing.T) {
	for _, c := range []struct {
		op     string
		params any
		in     []component.Samples
		says   string
	}{
		{"split", op.Split{Sizes: []any{int64(12), int64(10)}}, one(15), "the parts need 22 elements but there are 15"}, // was 12, 3
		{"split", op.Split{Sizes: []any{int64(12)}}, one(15), "the parts use 12 of 15 elements; make one null"},
		{"cycle", op.Cycle{N: 1}, one(0), "empty"},
		{"pad", op.Pad{Length: 1}, one(0), "index -1 is out of range for 0"},
		{"pad", op.Pad{Length: 2}, one(3), "truncate: true"},
		{"pad", op.Pad{Length: 5, With: ptr(3)}, one(3), "3 is out of range for 3"},
		{"pad", op.Pad{Length: 5, With: ptr(-4)}, one(3), "-4 is out of range for 3"},
		{"index", op.Index{Indices: []int{0, 3}}, one(3), "indices[1]: index 3 is out of range for 3"},
		{"index", op.Index{Indices: []int{-4}, Negate: true}, one(3), "index -4 is out of range for 3"},
		{"repeat", op.Repeat{Times: 1e18}, one(100), "exceed the limit"},
		{"sample", op.Sample{N: 1}, one(0), "the dataset is empty"},
		{"batch", op.Batch{}, one(3), "size is 0"},
		{"chunk", op.Chunk{}, one(3), "n is 0"},
		{"shard", op.Shard{}, one(3), "world-size is 0"},
		{"check-length", op.CheckLength{Min: ptr(4)}, one(3), "at least 4"},
		{"check-length", op.CheckLength{Max: ptr(2)}, one(3), "at most 2"},
		{"mix", op.Mix{N: 1, Weights: []float64{1}}, []component.Samples{numbers(1), numbers(1)}, "1 weights for 2 datasets"},
		{"mix", op.Mix{N: 1}, []component.Samples{numbers(1), numbers(0)}, "dataset 2 of 2 is empty"},
		{"mix", op.Mix{N: 1, Weights: []float64{-1, 1}}, []component.Samples{numbers(1), numbers(1)}, "weight -1"},
		{"zip", op.Zip{}, []component.Samples{numbers(2), numbers(3)}, "input 0 has 2 samples but input 1 has 3"},
		{"zip", op.Zip{Keys: []string{"*"}}, []component.Samples{numbers(2), numbers(2)}, "1 keys for 2 datasets"},
		{"weighted-sample", op.WeightedSample{N: 1, Weight: "-meta.n"}, one(3), "return a number of 0 or more"},
		{"weighted-sample", op.WeightedSample{N: 1, Weight: "meta.letter"}, one(3), "return a number of 0 or more"},
		{"weighted-sample", op.WeightedSample{N: 1, Weight: "0"}, one(3), "add up to 0"},
	} {
		t.Run(fmt.Sprintf("%s %+v", c.op, c.params), func(t *testing.T) {
			if err := refusal(t, c.op, c.params, c.in...); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
		})
	}
}

// refusal returns the error of applying an operator.
func refusal(t *testing.T, name string, params any, in ...component.Samples) error {
	t.Helper()
	c, err := component.Find(component.Op, name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Apply(t.Context(), env(), params, in)
	return err
}

// colors has the letters of each color in the test data of Pipewine.
var colors = map[string]string{
	"black": "h", "blue": "blo", "brown": "ktuz", "cyan": "dq", "green": "crvw", "grey": "fpx",
	"orange": "e", "pink": "n", "purple": "g", "red": "ams", "yellow": "ijy",
}

// alphabet returns a dataset of 26 letters, each with a color, and a shared item.
func alphabet() component.Samples {
	return dataset.Func(26, func(_ context.Context, i int) (dataset.Sample, error) {
		letter := string(rune('a' + i))
		doc := map[string]any{"letter": letter}
		for color, letters := range colors {
			if strings.Contains(letters, letter) {
				doc["color"] = color
			}
		}
		return dataset.NewSample(
			dataset.Field{Key: "metadata", Item: dataset.NewItem("yaml", doc)},
			dataset.Field{Key: "vowels", Item: dataset.NewItem("txt", "aeiou"), Shared: true},
		), nil
	})
}

// spelled returns the letters of a dataset, and a blank for a sample without one.
func spelled(t *testing.T, ds component.Samples) string {
	t.Helper()
	var b strings.Builder
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Field("metadata"); !ok {
			b.WriteByte(' ')
			continue
		}
		v, err := s.Value(t.Context(), "metadata")
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(v.(map[string]any)["letter"].(string))
	}
	return b.String()
}

func TestLettersAreFiltered(t *testing.T) {
	numbered := apply(t, "enumerate", op.Enumerate{}, alphabet()).Parts[0]
	for _, c := range []struct {
		filter op.Filter
		want   string
	}{
		{op.Filter{Where: `metadata.color == "blue"`}, "blo"},
		{op.Filter{Where: `metadata.color == "green"`}, "crvw"},
		{op.Filter{Where: `metadata.letter == "f"`}, "f"},
		{op.Filter{Where: `metadata.letter == "f"`, Negate: true}, "abcdeghijklmnopqrstuvwxyz"},
		{op.Filter{Where: `index % 2 == 0`}, "acegikmoqsuwy"},
		{op.Filter{Where: `metadata.color == "nothing"`}, ""},
		{op.Filter{Where: `metadata.letter > "v"`, KeepLength: true}, strings.Repeat(" ", 22) + "wxyz"},
		{op.Filter{Where: `metadata.letter > "c"`, Negate: true, KeepLength: true}, "abc" + strings.Repeat(" ", 23)},
	} {
		if got := spelled(t, apply(t, "filter", c.filter, numbered).Parts[0]); got != c.want {
			t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
		}
	}
}

// TestFilterKeepsLength checks that samples that do not pass keep only their shared items.
func TestFilterKeepsLength(t *testing.T) {
	ds := apply(t, "filter", op.Filter{Where: `metadata.letter == "b"`, KeepLength: true}, alphabet()).Parts[0]
	for i, want := range [][]string{{"vowels"}, {"metadata", "vowels"}} {
		s, err := ds.At(t.Context(), i)
		if err != nil || !slices.Equal(s.Keys(), want) {
			t.Errorf("sample %d has %q, %v; want %q", i, s.Keys(), err, want)
		}
	}
}

// TestFilterTakesOnlyTruth checks that a condition must be a boolean: other values passed,
// and were not negated.
func TestFilterTakesOnlyTruth(t *testing.T) {
	if err := refusal(t, "filter", op.Filter{Where: "metadata.letter"}, alphabet()); err == nil || !strings.Contains(err.Error(), "return true or false") {
		t.Errorf("the error is %v", err)
	}
}

func TestLettersAreGrouped(t *testing.T) {
	d := apply(t, "group-by", op.GroupBy{By: "metadata.color"}, alphabet())
	want := []string{"red", "blue", "green", "cyan", "orange", "grey", "purple", "black", "yellow", "brown", "pink"}
	if !slices.Equal(d.Names, want) {
		t.Errorf("groups are %q, want %q, as they are first seen", d.Names, want)
	}
	for i, color := range d.Names {
		if got := spelled(t, d.Parts[i]); got != colors[color] {
			t.Errorf("%s are %q, want %q", color, got, colors[color])
		}
	}
}

func TestLettersAreSorted(t *testing.T) {
	for _, c := range []struct {
		sort op.Sort
		want string
	}{
		{op.Sort{By: "metadata.color + metadata.letter"}, "hbloktuzdqcrvwfpxengamsijy"},
		{op.Sort{By: "[metadata.color, metadata.letter]"}, "hbloktuzdqcrvwfpxengamsijy"},
		{op.Sort{By: "[metadata.color, metadata.letter]", Reverse: true}, "yjismagnexpfwvrcqdzutkolbh"},
		{op.Sort{By: "metadata.color"}, "hbloktuzdqcrvwfpxengamsijy"},
		// Letters of one color were in the wrong order.
		{op.Sort{By: "metadata.color", Reverse: true}, "ijyamsgnefpxcrvwdqktuzbloh"},
	} {
		if got := spelled(t, apply(t, "sort", c.sort, alphabet()).Parts[0]); got != c.want {
			t.Errorf("%+v: %s, want %s", c.sort, got, c.want)
		}
	}
}

// TestExampleLetters reads the dataset of the examples.
func TestExampleLetters(t *testing.T) {
	ds, err := underfolder.Open("../examples/letters/data", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"blue": "cfgjmnqtux", "green": "bdikprwy", "orange": "elsz", "red": "ahov"}
	d := apply(t, "group-by", op.GroupBy{By: "metadata.color"}, ds)
	for i, color := range d.Names {
		if got := spelled(t, d.Parts[i]); got != want[color] {
			t.Errorf("%s are %q, want %q", color, got, want[color])
		}
	}
	sorted := apply(t, "sort", op.Sort{By: "[metadata.color, metadata.letter]"}, ds).Parts[0]
	if got := spelled(t, sorted); got != "cfgjmnqtuxbdikprwyelszahov" {
		t.Errorf("sorted as %s", got)
	}
	if len(d.Names) != len(want) {
		t.Errorf("groups are %q", d.Names)
	}
}

func TestCatConforms(t *testing.T) {
	for _, lengths := range [][]int{{}, {3}, {0}, {3, 2}, {0, 3}, {3, 0}, {2, 0, 1}, {0, 0, 0}, {1, 2, 3, 4}} {
		var in []component.Samples
		var want []int
		for _, n := range lengths {
			in = append(in, numbers(n))
			want = append(want, span(0, n)...)
		}
		joined := apply(t, "cat", op.Cat{}, in...).Parts[0]
		if got := contents(t, joined); !slices.Equal(got, want) {
			t.Errorf("%v joined are %v, want %v", lengths, got, want)
		}
		if len(want) == 0 {
			continue
		}
		// A negative index read the last dataset at a position that it does not have.
		last := apply(t, "index", op.Index{Indices: []int{-1}}, joined).Parts[0]
		if got := contents(t, last); !slices.Equal(got, want[len(want)-1:]) {
			t.Errorf("the last of %v joined is %v, want %v", lengths, got, want[len(want)-1:])
		}
	}
}

// TestCatUndoesParts checks that the outputs of one node, joined, are its input.
func TestCatUndoesParts(t *testing.T) {
	for name, params := range map[string]any{"batch": op.Batch{Size: 4}, "chunk": op.Chunk{N: 3}, "split": op.Split{Sizes: []any{0.3, nil}}} {
		parts := apply(t, name, params, numbers(10)).Parts
		if got := contents(t, apply(t, "cat", op.Cat{}, parts...).Parts[0]); !slices.Equal(got, span(0, 10)) {
			t.Errorf("%s joined again: %v", name, got)
		}
	}
}

func TestInterleave(t *testing.T) {
	for _, c := range []struct {
		lengths []int
		until   string
		want    []int
	}{
		{[]int{3, 2}, "", []int{0, 0, 1, 1, 2}},
		{[]int{3, 2}, "longest", []int{0, 0, 1, 1, 2}},
		{[]int{3, 2}, "shortest", []int{0, 0, 1, 1}},
		{[]int{1, 3, 2}, "longest", []int{0, 0, 0, 1, 1, 2}},
		{[]int{2, 0}, "longest", []int{0, 1}},
		{[]int{2, 0}, "shortest", nil},
		{[]int{}, "shortest", nil},
		{[]int{3}, "longest", []int{0, 1, 2}},
	} {
		var in []component.Samples
		for _, n := range c.lengths {
			in = append(in, numbers(n))
		}
		if got := contents(t, apply(t, "interleave", op.Interleave{Until: c.until}, in...).Parts[0]); !slices.Equal(got, c.want) {
			t.Errorf("%v until %q: %v, want %v", c.lengths, c.until, got, c.want)
		}
	}
}

func TestMixKeepsItsWeights(t *testing.T) {
	low, high := numbers(10), apply(t, "slice", op.Slice{Start: ptr(10)}, numbers(40)).Parts[0]
	got := contents(t, apply(t, "mix", op.Mix{N: 4000, Weights: []float64{1, 3}, Seed: 1}, low, high).Parts[0])
	first := len(got) - len(slices.DeleteFunc(slices.Clone(got), func(n int) bool { return n < 10 }))
	if len(got) != 4000 || first < 900 || first > 1100 {
		t.Errorf("%d of %d samples are of the first dataset, want about 1000", first, len(got))
	}
	if again := contents(t, apply(t, "mix", op.Mix{N: 4000, Weights: []float64{1, 3}, Seed: 1}, low, high).Parts[0]); !slices.Equal(got, again) {
		t.Error("the same seed gives other samples")
	}
	if other := contents(t, apply(t, "mix", op.Mix{N: 4000, Weights: []float64{1, 3}, Seed: 1, Epoch: 1}, low, high).Parts[0]); slices.Equal(got, other) {
		t.Error("another epoch gives the same samples")
	}
}

func TestSampleDraws(t *testing.T) {
	draw := func(seed, epoch int) []int {
		return contents(t, apply(t, "sample", op.Sample{N: 1000, Seed: seed, Epoch: epoch}, numbers(10)).Parts[0])
	}
	got := draw(1, 0)
	for i := range 10 {
		if n := len(got) - len(slices.DeleteFunc(slices.Clone(got), func(v int) bool { return v == i })); n < 60 || n > 140 {
			t.Errorf("sample %d was drawn %d times, want about 100", i, n)
		}
	}
	if !slices.Equal(got, draw(1, 0)) || slices.Equal(got, draw(2, 0)) || slices.Equal(got, draw(1, 1)) {
		t.Error("what is drawn is not a function of seed and epoch")
	}
}

func TestWeightedSample(t *testing.T) {
	got := contents(t, apply(t, "weighted-sample", op.WeightedSample{N: 2000, Weight: "meta.n == 0 ? 3 : meta.n == 1 ? 1.0 : 0"}, numbers(4)).Parts[0])
	var counts [4]int
	for _, n := range got {
		counts[n]++
	}
	if counts[0] < 1400 || counts[0] > 1600 || counts[2]+counts[3] > 0 {
		t.Errorf("drawn %v times, want about 1500, 500, 0, 0", counts)
	}
}

// TestShardsShareEverything checks that the ranks together read each sample once. The rest
// is dropped, or the first samples are read twice.
func TestShardsShareEverything(t *testing.T) {
	for rest, want := range map[string][]int{
		"": span(0, 11), "keep": span(0, 11), "drop": span(0, 9), "repeat": {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	} {
		var got []int
		for rank := range 3 {
			part := contents(t, apply(t, "shard", op.Shard{Rank: rank, WorldSize: 3, Rest: rest}, numbers(11)).Parts[0])
			if rest == "drop" && len(part) != 3 || rest == "repeat" && len(part) != 4 {
				t.Errorf("rest %s: rank %d reads %d samples", rest, rank, len(part))
			}
			got = append(got, part...)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("rest %q: the ranks read %v, want %v", rest, got, want)
		}
	}
}

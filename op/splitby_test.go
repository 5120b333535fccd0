package op_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store/memory"
	"pgregory.net/rapid"
)

// valued returns a dataset of samples with a value and their numbers.
func valued(values ...int) component.Samples {
	return dataset.Func(len(values), func(_ context.Context, i int) (dataset.Sample, error) {
		doc := map[string]any{"n": int64(i), "v": int64(values[i])}
		return dataset.NewSample(dataset.Field{Key: "meta", Item: dataset.NewItem("json", doc)}), nil
	})
}

// split returns the numbers of the samples of each part.
func split(t *testing.T, s op.Split, in component.Samples) [][]int {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	d := apply(t, "split", s, in)
	parts := make([][]int, len(d.Parts))
	for i, p := range d.Parts {
		parts[i] = contents(t, p)
	}
	return parts
}

// TestSplitStratified checks that each part has its share of each value, in the original
// order.
func TestSplitStratified(t *testing.T) {
	for _, c := range []struct {
		split  op.Split
		values []int
		want   string
	}{
		{op.Split{Sizes: []any{0.5, 0.5}}, []int{0, 1, 0, 1, 0, 1}, "[[0 1 2] [3 4 5]]"},
		{op.Split{Sizes: []any{0.5, 0.5}}, []int{0, 0, 0, 0, 1, 1}, "[[0 1 4] [2 3 5]]"},
		{op.Split{Sizes: []any{int64(4), int64(2)}}, []int{0, 0, 0, 1, 1, 1}, "[[0 1 3 4] [2 5]]"},
		{op.Split{Sizes: []any{int64(2), int64(1)}, Rest: "drop"}, []int{0, 0, 0, 1, 1, 1}, "[[0 3] [1]]"},
		{op.Split{Sizes: []any{0.75, nil}}, []int{5, 6, 7, 8}, "[[0 1 3] [2]]"}, // each value occurs once: only all shares together are right
		{op.Split{Sizes: []any{nil}}, nil, "[[]]"},
	} {
		c.split.Stratify = "meta.v"
		if got := fmt.Sprint(split(t, c.split, valued(c.values...))); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.split.Sizes, c.values, got, c.want)
		}
	}
}

// TestSplitStratifiedIsRight checks random values: parts have the same sizes as without
// them, no sample is lost, and the order stays. Each of two parts has its share of each
// value to less than one sample.
func TestSplitStratifiedIsRight(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 60).Draw(r, "values")
		share := float64(rapid.IntRange(0, 100).Draw(r, "percent")) / 100
		sizes := []any{share, nil}
		if rapid.Bool().Draw(r, "three parts") {
			sizes = []any{share / 2, share / 2, nil}
		}
		plain := split(t, op.Split{Sizes: sizes}, valued(values...))
		parts := split(t, op.Split{Sizes: sizes, Stratify: "meta.v"}, valued(values...))
		all := make([]bool, len(values))
		for p, part := range parts {
			if len(part) != len(plain[p]) || !slices.IsSorted(part) {
				r.Fatalf("part %d is %v, and has %d samples without stratify", p, part, len(plain[p]))
			}
			for _, i := range part {
				if all[i] {
					r.Fatalf("sample %d is in two parts", i)
				}
				all[i] = true
			}
		}
		if slices.Contains(all, false) {
			r.Fatal("a sample is lost")
		}
		for v := range 5 {
			of := func(part []int) (n int) {
				for _, i := range part {
					if values[i] == v {
						n++
					}
				}
				return n
			}
			count := func() (n int) {
				for _, part := range parts {
					n += of(part)
				}
				return n
			}()
			for p, part := range parts {
				exact := float64(count) * float64(len(part)) / float64(max(1, len(values)))
				if off := math.Abs(float64(of(part)) - exact); off >= float64(len(parts)-1) {
					r.Fatalf("part %d has %d samples of value %d, and its share is %v", p, of(part), v, exact)
				}
			}
		}
	})
}

// TestSplitByHashIsStable checks that a sample's part is the documented function of its
// value and the seed. Other samples do not change it.
func TestSplitByHashIsStable(t *testing.T) {
	documented := func(seed, v int) float64 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:%d", seed, v))
		return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
	}
	sizes := []component.Entry{{Key: "rest", Value: nil}, {Key: "train", Value: 0.7}, {Key: "test", Value: 0.1}}
	partOf := func(s op.Split, values []int) map[int]int {
		of := map[int]int{}
		for p, part := range split(t, s, valued(values...)) {
			for _, i := range part {
				if was, seen := of[values[i]]; seen && was != p {
					t.Errorf("samples of value %d are in parts %d and %d", values[i], was, p)
				}
				of[values[i]] = p
			}
		}
		return of
	}
	values := make([]int, 4000)
	for i := range values {
		values[i] = i / 2
	}
	for _, seed := range []int{0, 7} {
		s := op.Split{Sizes: sizes, Hash: "meta.v", Seed: seed}
		count := [3]int{}
		whole := partOf(s, values)
		for v, p := range whole {
			count[p]++
			want := 0
			if at := documented(seed, v); at < 0.7 {
				want = 1
			} else if at < 0.7+0.1 {
				want = 2
			}
			if p != want {
				t.Errorf("seed %d: value %d is in part %d, want %d", seed, v, p, want)
			}
		}
		if len(whole) != 2000 || count[1] < 1300 || count[1] > 1500 || count[2] < 140 || count[2] > 260 {
			t.Errorf("seed %d: %d samples lie as %v", seed, len(whole), count)
		}
		fewer := slices.Clone(values[900:1500])
		slices.Reverse(fewer)
		for v, p := range partOf(s, fewer) {
			if whole[v] != p {
				t.Errorf("seed %d: value %d moved from part %d to %d", seed, v, whole[v], p)
			}
		}
		more := s
		more.Sizes = append(slices.Clone(sizes), component.Entry{Key: "validation", Value: 0.1})
		for v, p := range partOf(more, values) {
			if whole[v] != p && (whole[v] != 0 || p != 3) {
				t.Errorf("seed %d: value %d moved from part %d to %d when the rest was divided", seed, v, whole[v], p)
			}
		}
	}
	if one, other := partOf(op.Split{Sizes: sizes, Hash: "meta.v"}, values), partOf(op.Split{Sizes: sizes, Hash: "meta.v", Seed: 1}, values); fmt.Sprint(one) == fmt.Sprint(other) {
		t.Error("two seeds give the same parts")
	}
}

// TestSplitMayDropTheRest checks that a split drops the rest only if asked to.
func TestSplitMayDropTheRest(t *testing.T) {
	for _, sizes := range []any{[]any{int64(2), int64(1)}, []any{0.4, 0.2}} {
		if got := fmt.Sprint(split(t, op.Split{Sizes: sizes, Rest: "drop"}, numbers(5))); got != "[[0 1] [2]]" {
			t.Errorf("%v: %s", sizes, got)
		}
		_, err := op.Split{Sizes: sizes}.Apply(t.Context(), env(), numbers(5))
		if err == nil {
			err = op.Split{Sizes: sizes}.Check()
		}
		if err == nil {
			t.Errorf("%v: samples were lost without a word", sizes)
		}
	}
	hashed := split(t, op.Split{Sizes: []any{0.4, 0.2}, Hash: "meta.n", Rest: "drop"}, numbers(100))
	if n := len(hashed[0]) + len(hashed[1]); len(hashed) != 2 || n < 40 || n > 80 {
		t.Errorf("by hash: %v", hashed)
	}
}

func TestSplitRefusesWaysThatDoNotGoTogether(t *testing.T) {
	half := []any{0.5, 0.5}
	for says, s := range map[string]op.Split{
		"stratify and hash exclude":                         {Sizes: half, Stratify: "a", Hash: "b"},
		"seed has no effect without hash":                   {Sizes: half, Seed: 1},
		"hash needs fractions":                              {Sizes: []any{int64(3), nil}, Hash: "a"},
		"unexpected end of the expression":                  {Sizes: half, Hash: "a +"},
		"unknown function \"f\"":                            {Sizes: half, Stratify: "f(a)"},
		`rest cannot be "keep"`:                             {Sizes: half, Rest: "keep"},
		"give a null size, or set rest: drop":               {Sizes: []any{0.5, 0.4}},
		"fractions add up to 1.5, more than 1; reduce them": {Sizes: []any{0.5, 1.0}, Rest: "drop"},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", s, err, says)
		}
	}
	_, err := op.Split{Sizes: half, Stratify: "meta.half"}.Apply(t.Context(), env(), numbers(2))
	if err == nil || !strings.Contains(err.Error(), "node n: sample 1: expression meta.half: is 0.5, a number; return a string, an integer or a boolean") {
		t.Errorf("the error is %v", err)
	}
}

// TestSplitLooksAtSamplesOnce checks that the evaluated values are cached.
func TestSplitLooksAtSamplesOnce(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, want := range []int64{5, 0} {
		e := env()
		e.Larder = l
		if _, err := (op.Split{Sizes: []any{0.5, 0.5}, Stratify: "meta.letter"}).Apply(t.Context(), e, numbers(5)); err != nil {
			t.Fatal(err)
		}
		if got := e.Stats.Computed.Load(); got != want {
			t.Errorf("%d evaluations, want %d", got, want)
		}
	}
}

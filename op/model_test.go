package op_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
)

// A step is an operator and its effect on a list of numbers.
type step struct {
	name   string
	params any
	model  func(in []int) []int
}

// python computes x[start:stop:step] from its definition.
func python(in []int, start, stop, by *int) []int {
	n, step := len(in), 1
	if by != nil {
		step = *by
	}
	bound := func(p *int, missing, low, high int) int {
		if p == nil {
			return missing
		}
		v := *p
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	var out []int
	if step > 0 {
		for i := bound(start, 0, 0, n); i < bound(stop, n, 0, n); i += step {
			out = append(out, in[i])
		}
		return out
	}
	for i := bound(start, n-1, -1, n-1); i > bound(stop, -1, -1, n-1); i += step {
		out = append(out, in[i])
	}
	return out
}

// wrapped returns in[i]; negative positions count from the end.
func wrapped(in []int, i int) int { return in[(i+len(in))%len(in)] }

// drawStep draws an operator that can be applied to n samples.
func drawStep(t *rapid.T, n int) step {
	bound := rapid.Ptr(rapid.IntRange(-2*n-2, 2*n+2), true)
	small := rapid.IntRange(0, 2*n+1)
	position := rapid.IntRange(-n, max(n-1, 0))
	switch k := rapid.IntRange(0, 10).Draw(t, "operator"); {
	case k == 0:
		p := op.Slice{Start: bound.Draw(t, "start"), Stop: bound.Draw(t, "stop"), Step: rapid.Ptr(rapid.SampledFrom([]int{-3, -2, -1, 1, 2, 3}), true).Draw(t, "step")}
		return step{"slice", p, func(in []int) []int { return python(in, p.Start, p.Stop, p.Step) }}
	case k == 1:
		return step{"reverse", op.Reverse{}, func(in []int) []int {
			out := slices.Clone(in)
			slices.Reverse(out)
			return out
		}}
	case k == 2:
		p := op.Repeat{Times: float64(rapid.IntRange(0, 10).Draw(t, "quarters")) / 4}
		return step{"repeat", p, func(in []int) []int { return repeatModel(in, p.Times) }}
	case k == 3:
		p := op.Repeat{Times: float64(rapid.IntRange(0, 10).Draw(t, "quarters")) / 4, Interleave: true}
		return step{"repeat", p, func(in []int) []int { return inPlaceModel(in, p.Times) }}
	case k == 4 && n > 0:
		p := op.Cycle{N: small.Draw(t, "n")}
		return step{"cycle", p, func(in []int) []int {
			var out []int
			for i := range p.N {
				out = append(out, in[i%len(in)])
			}
			return out
		}}
	case k == 5 && n > 0:
		p := op.Index{Indices: rapid.SliceOfN(position, 0, 8).Draw(t, "indices"), Negate: rapid.Bool().Draw(t, "negate")}
		return step{"index", p, func(in []int) []int { return indexModel(in, p) }}
	case k == 6 && n > 0:
		p := op.Pad{Length: small.Draw(t, "length"), With: rapid.Ptr(position, true).Draw(t, "with"), Truncate: true}
		return step{"pad", p, func(in []int) []int {
			out, with := slices.Clone(in), in[len(in)-1]
			if p.With != nil {
				with = wrapped(in, *p.With)
			}
			for len(out) < p.Length {
				out = append(out, with)
			}
			return out[:p.Length]
		}}
	case k == 7:
		ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
		p := op.Shard{Rank: rapid.IntRange(0, ranks-1).Draw(t, "rank"), WorldSize: ranks, Rest: rapid.SampledFrom([]string{"keep", "drop", "repeat"}).Draw(t, "rest")}
		return step{"shard", p, func(in []int) []int { return shardModel(in, p) }}
	case k == 8:
		remainder := rapid.IntRange(0, 1).Draw(t, "remainder")
		p := op.Filter{Where: fmt.Sprintf("meta.n %% 2 == %d", remainder), Negate: rapid.Bool().Draw(t, "negate")}
		return step{"filter", p, func(in []int) []int {
			return slices.DeleteFunc(slices.Clone(in), func(n int) bool { return (n%2 == remainder) == p.Negate })
		}}
	case k == 9:
		p := op.Sort{By: "meta.n % 3", Reverse: rapid.Bool().Draw(t, "reverse")}
		return step{"sort", p, func(in []int) []int {
			out := slices.Clone(in)
			slices.SortStableFunc(out, func(a, b int) int {
				if p.Reverse {
					return b%3 - a%3
				}
				return a%3 - b%3
			})
			return out
		}}
	default:
		return step{"memorize", op.Memorize{}, slices.Clone[[]int]}
	}
}

func repeatModel(in []int, times float64) []int {
	var out []int
	for i := range int(math.Round(times * float64(len(in)))) {
		out = append(out, in[i%len(in)])
	}
	return out
}

// inPlaceModel repeats each element as often as repeatModel does.
func inPlaceModel(in []int, times float64) []int {
	positions := make([]int, len(in))
	for i := range positions {
		positions[i] = i
	}
	repeated := repeatModel(positions, times)
	slices.Sort(repeated)
	var out []int
	for _, i := range repeated {
		out = append(out, in[i])
	}
	return out
}

func indexModel(in []int, p op.Index) []int {
	var out []int
	if !p.Negate {
		for _, i := range p.Indices {
			out = append(out, wrapped(in, i))
		}
		return out
	}
	for i, v := range in {
		if !slices.Contains(p.Indices, i) && !slices.Contains(p.Indices, i-len(in)) {
			out = append(out, v)
		}
	}
	return out
}

func shardModel(in []int, p op.Shard) []int {
	all := slices.Clone(in)
	for len(in) > 0 && len(all)%p.WorldSize > 0 && p.Rest != "keep" {
		if p.Rest == "drop" {
			all = all[:len(all)-1]
		} else {
			all = append(all, in[(len(all)-len(in))%len(in)])
		}
	}
	var out []int
	for i := p.Rank; i < len(all); i += p.WorldSize {
		out = append(out, all[i])
	}
	return out
}

// TestPipelinesAgreeWithLists applies the same operators to a dataset and to a plain list.
// It joins several datasets now and then.
func TestPipelinesAgreeWithLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, want := pipeline(t)
		if n := rapid.IntRange(0, 2).Draw(t, "joined"); n > 0 {
			in, lists := []component.Samples{got}, [][]int{want}
			for range n {
				ds, list := pipeline(t)
				in, lists = append(in, ds), append(lists, list)
			}
			if rapid.Bool().Draw(t, "by turns") {
				got, want = applied(t, "interleave", op.Interleave{}, in...), turnsModel(lists)
			} else {
				got, want = applied(t, "cat", op.Cat{}, in...), slices.Concat(lists...)
			}
		}
		if read := read(t, got); !slices.Equal(read, want) {
			t.Fatalf("the dataset is %v, and the list %v", read, want)
		}
		if _, err := got.At(context.Background(), got.Len()); err == nil {
			t.Fatal("there is a sample past the end")
		}
	})
}

func turnsModel(lists [][]int) []int {
	var out []int
	for round, more := 0, true; more; round++ {
		more = false
		for _, l := range lists {
			if round < len(l) {
				out = append(out, l[round])
				more = true
			}
		}
	}
	return out
}

// pipeline applies some operators to a dataset, and returns it with the list of its
// numbers.
func pipeline(t *rapid.T) (component.Samples, []int) {
	n := rapid.IntRange(0, 9).Draw(t, "samples")
	ds, list := numbers(n), span(0, n)
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		s := drawStep(t, len(list))
		ds, list = applied(t, s.name, s.params, ds), s.model(list)
		if len(list) > 100 {
			break
		}
	}
	return ds, list
}

func applied(t *rapid.T, name string, params any, in ...component.Samples) component.Samples {
	c, err := component.Find(component.Op, name)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := params.(interface{ Check() error }); ok {
		if err := p.Check(); err != nil {
			t.Fatalf("%s %+v: %v", name, params, err)
		}
	}
	d, err := c.Apply(context.Background(), env(), params, in)
	if err != nil {
		t.Fatalf("%s %+v: %v", name, params, err)
	}
	return d.Parts[0]
}

func read(t *rapid.T, ds component.Samples) []int {
	var got []int
	for s, err := range dataset.All(context.Background(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(context.Background(), "meta")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int(v.(map[string]any)["n"].(int64)))
	}
	return got
}

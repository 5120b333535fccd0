package order_test

import (
	"math"
	"testing"

	"github.com/larder-data/larder/order"
)

// TestBlendSharesAndPasses checks that each pool has its share, and that each of its passes has every element once.
func TestBlendSharesAndPasses(t *testing.T) {
	pools := []order.Pool{{N: 100, Weight: 6}, {N: 0, Weight: 0}, {N: 7, Weight: 3}, {N: 50, Weight: 1}}
	starts := []int{0, 100, 100, 107, 157}
	o, err := order.Blend(5, order.AfterDraws, 1<<15, pools...)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make([][]int, len(pools))
	for pos := range o.Len() {
		for k := range pools {
			if i := o.At(pos); i >= starts[k] && i < starts[k+1] {
				drawn[k] = append(drawn[k], i-starts[k])
			}
		}
	}
	for k, p := range pools {
		want := p.Weight / 10 * float64(o.Len())
		if math.Abs(float64(len(drawn[k]))-want) > 2 {
			t.Errorf("pool %d is drawn %d times, not %v", k, len(drawn[k]), want)
		}
		for from := 0; p.N > 0 && from+p.N <= len(drawn[k]); from += p.N {
			seen := make([]bool, p.N)
			for _, i := range drawn[k][from:][:p.N] {
				if seen[i] {
					t.Fatalf("pool %d has %d twice in the pass from draw %d on", k, i, from)
				}
				seen[i] = true
			}
		}
	}
}

// TestBlendStops checks that the order ends with the pass of the pool that ends first, or last.
func TestBlendStops(t *testing.T) {
	pools := []order.Pool{{N: 40, Weight: 1}, {N: 100, Weight: 1}}
	count := func(o order.Order) (n [2]map[int]int) {
		n = [2]map[int]int{{}, {}}
		for pos := range o.Len() {
			k := 0
			if o.At(pos) >= 40 {
				k = 1
			}
			n[k][o.At(pos)]++
		}
		return n
	}
	first, err := order.Blend(1, order.FirstEnds, 0, pools...)
	if err != nil {
		t.Fatal(err)
	}
	n := count(first)
	if len(n[0]) != 40 || first.At(first.Len()-1) >= 40 || len(n[1]) == 100 {
		t.Errorf("until the first ends: %d of 40 and %d of 100 elements, the last one %d", len(n[0]), len(n[1]), first.At(first.Len()-1))
	}
	for i, times := range n[0] {
		if times != 1 {
			t.Errorf("element %d comes %d times", i, times)
		}
	}
	all, err := order.Blend(1, order.AllEnd, 0, pools...)
	if err != nil {
		t.Fatal(err)
	}
	n = count(all)
	if len(n[0]) != 40 || len(n[1]) != 100 || all.At(all.Len()-1) < 40 {
		t.Errorf("until all end: %d of 40 and %d of 100 elements, the last one %d", len(n[0]), len(n[1]), all.At(all.Len()-1))
	}
}

// TestBlendNext checks that Next finds exactly the positions of an element.
func TestBlendNext(t *testing.T) {
	o, err := order.Blend(9, order.AfterDraws, 40000, order.Pool{N: 3, Weight: .2}, order.Pool{N: 900, Weight: .7}, order.Pool{N: 5}, order.Pool{N: 41, Weight: .1})
	if err != nil {
		t.Fatal(err)
	}
	where := map[int][]int{}
	for pos := range o.Len() {
		where[o.At(pos)] = append(where[o.At(pos)], pos)
	}
	for i := range 3 + 900 + 5 + 41 {
		after := -1
		for _, want := range where[i] {
			pos, ok := o.Next(i, after)
			if !ok || pos != want {
				t.Fatalf("element %d after %d: %d %v, not %d", i, after, pos, ok, want)
			}
			after = pos
		}
		if pos, ok := o.Next(i, after); ok {
			t.Fatalf("element %d comes again at %d", i, pos)
		}
	}
	if _, ok := o.Next(-1, -1); ok {
		t.Error("an element -1")
	}
}

func TestBlendRefuses(t *testing.T) {
	for name, pools := range map[string][]order.Pool{
		"nothing":            nil,
		"no weight":          {{N: 3}},
		"an empty pool":      {{N: 0, Weight: 1}},
		"a negative weight":  {{N: 1, Weight: -1}, {N: 1, Weight: 3}},
		"too small a weight": {{N: 1, Weight: 1}, {N: 1, Weight: 1e-6}},
	} {
		if _, err := order.Blend(0, order.FirstEnds, 0, pools...); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

package order

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func all(o Order) []int {
	got := make([]int, o.Len())
	for pos := range got {
		got[pos] = o.At(pos)
	}
	return got
}

// orders draws any order of at most a few hundred positions.
func orders(n int) *rapid.Generator[Order] {
	return rapid.Custom(func(t *rapid.T) Order {
		must := func(o Order, err error) Order {
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		bound := rapid.Ptr(rapid.IntRange(-2*n-2, 2*n+2), true)
		step := rapid.Ptr(rapid.IntRange(-3, 3).Filter(func(s int) bool { return s != 0 }), true)
		indices := rapid.SliceOfN(rapid.IntRange(-n, max(n-1, 0)), 0, 20)
		switch k := rapid.IntRange(0, 15).Draw(t, "kind"); {
		case k == 0:
			return Identity(n)
		case k == 1:
			return Reverse(n)
		case k == 2:
			return must(Slice(n, bound.Draw(t, "start"), bound.Draw(t, "stop"), step.Draw(t, "step")))
		case k == 3:
			return must(Repeat(n, rapid.Float64Range(0, 3).Draw(t, "times")))
		case k == 4:
			return must(RepeatEach(n, float64(rapid.IntRange(0, 12).Draw(t, "times"))/4))
		case k == 5 && n > 0:
			return must(Cycle(n, rapid.IntRange(0, 3*n).Draw(t, "total")))
		case k == 6 && n > 0:
			return must(Index(n, indices.Draw(t, "indices")))
		case k == 7:
			return must(Epochs(n, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 3).Draw(t, "epochs")))
		case k == 8:
			ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
			return must(Shard(n, rapid.IntRange(0, ranks-1).Draw(t, "rank"), ranks))
		case k == 9 && n > 1:
			return must(Mix(rapid.IntRange(0, 20).Draw(t, "draws"), rapid.Uint64().Draw(t, "seed"), Pool{1, 2}, Pool{n - 1, 1}))
		case k == 10 && n > 0:
			return must(WithReplacement(n, rapid.IntRange(0, 20).Draw(t, "draws"), rapid.Uint64().Draw(t, "seed")))
		case k == 13 && n > 0:
			return must(Except(n, indices.Draw(t, "indices")))
		case k == 14 && n > 0:
			return must(Pad(n, rapid.IntRange(n, 2*n).Draw(t, "total"), rapid.IntRange(-n, n-1).Draw(t, "with")))
		case k == 11:
			return Concat(orders(n).Draw(t, "first"), orders(n).Draw(t, "second"), orders(n).Draw(t, "third"))
		case k == 12:
			return Interleave(orders(n).Draw(t, "first"), orders(n).Draw(t, "second"))
		default:
			return must(Shuffle(n, rapid.Uint64().Draw(t, "seed"), rapid.Uint64Range(0, 5).Draw(t, "epoch")))
		}
	})
}

// TestNextAgreesWithAt compares every order, and compositions of two, with the definition of Next.
func TestNextAgreesWithAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		o := orders(n).Draw(t, "order")
		if rapid.Bool().Draw(t, "compose") {
			o = Then(orders(o.Len()).Draw(t, "outer"), o)
		}
		got := all(o)
		for index := -1; index <= n; index++ {
			for after := -1; after < o.Len(); after++ {
				want := slices.Index(got[after+1:], index)
				pos, ok := o.Next(index, after)
				if ok != (want >= 0) || ok && pos != after+1+want {
					t.Fatalf("%#v: Next(%d, %d) = %d, %v in %v", o, index, after, pos, ok, got)
				}
			}
		}
	})
}

// slicePython is Python's definition: the positions that a range visits.
func slicePython(n int, start, stop, step *int) []int {
	by := 1
	if step != nil {
		by = *step
	}
	clip := func(p *int, missing, low, high int) int {
		if p == nil {
			return missing
		}
		v := *p
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	got := []int{}
	if by > 0 {
		for i := clip(start, 0, 0, n); i < clip(stop, n, 0, n); i += by {
			got = append(got, i)
		}
		return got
	}
	for i := clip(start, n-1, -1, n-1); i > clip(stop, -1, -1, n-1); i += by {
		got = append(got, i)
	}
	return got
}

func TestSliceIsPythons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 10).Draw(t, "n")
		bound := rapid.Ptr(rapid.IntRange(-15, 15), true)
		start, stop := bound.Draw(t, "start"), bound.Draw(t, "stop")
		step := rapid.Ptr(rapid.IntRange(-4, 4).Filter(func(s int) bool { return s != 0 }), true).Draw(t, "step")
		o, err := Slice(n, start, stop, step)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := all(o), slicePython(n, start, stop, step); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	// x[0:20:-2] is empty, and x[::-1] is backwards.
	at := func(i int) *int { return &i }
	for _, c := range []struct {
		start, stop, step *int
		want              []int
	}{
		{at(0), at(20), at(-2), []int{}},
		{nil, nil, at(-1), []int{4, 3, 2, 1, 0}},
		{nil, at(0), nil, []int{}},
		{at(-3), nil, nil, []int{2, 3, 4}},
	} {
		o, err := Slice(5, c.start, c.stop, c.step)
		if err != nil {
			t.Fatal(err)
		}
		if got := all(o); !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	if _, err := Slice(5, nil, nil, at(0)); err == nil {
		t.Error("a step of 0 was accepted")
	}
}

func TestShuffleIsABijection(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 26, 255, 256, 257, 10_000} {
		for epoch := range uint64(3) {
			o, err := Shuffle(n, 7, epoch)
			if err != nil {
				t.Fatal(err)
			}
			got := all(o)
			slices.Sort(got)
			if !slices.Equal(got, all(Identity(n))) {
				t.Errorf("n=%d epoch=%d: not every element comes once", n, epoch)
			}
		}
	}
}

func TestShuffleOfVeryMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1_000_000_000_000).Draw(t, "n")
		o, err := Shuffle(n, rapid.Uint64().Draw(t, "seed"), 0)
		if err != nil {
			t.Fatal(err)
		}
		pos := rapid.IntRange(0, n-1).Draw(t, "pos")
		index := o.At(pos)
		if back, ok := o.Next(index, -1); index < 0 || index >= n || !ok || back != pos {
			t.Fatalf("position %d has index %d, which comes at %d", pos, index, back)
		}
	})
}

// TestShuffleStaysAsItIs pins the order, because resumed runs depend on it.
func TestShuffleStaysAsItIs(t *testing.T) {
	o, err := Shuffle(10, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := all(o), []int{2, 1, 0, 5, 4, 7, 8, 9, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("the order of seed 1 is %v, and was %v", got, want)
	}
}

func TestSplitLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		weights := rapid.SliceOfN(rapid.IntRange(0, 100), 1, 8).Filter(func(w []int) bool { return slices.Max(w) > 0 }).Draw(t, "weights")
		sum := 0
		for _, w := range weights {
			sum += w
		}
		parts := make([]Part, len(weights))
		for i, w := range weights {
			parts[i] = Fraction(float64(w) / float64(sum))
		}
		sizes, err := Split(n, parts...)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for i, size := range sizes {
			total += size
			if exact := float64(n*weights[i]) / float64(sum); float64(size) <= exact-1 || float64(size) >= exact+1 {
				t.Fatalf("part %d of %d is %d, far from %v", i, n, size, exact)
			}
		}
		if total != n {
			t.Fatalf("%v are %d of %d", sizes, total, n)
		}
	})
}

func TestShardsShareEverything(t *testing.T) {
	for n := range 20 {
		for ranks := 1; ranks < 5; ranks++ {
			var got []int
			for rank := range ranks {
				o, err := Shard(n, rank, ranks)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, all(o)...)
			}
			slices.Sort(got)
			if !slices.Equal(got, all(Identity(n))) {
				t.Errorf("%d ranks read %v of %d", ranks, got, n)
			}
		}
	}
}

func TestMixKeepsItsWeights(t *testing.T) {
	const draws = 100_000
	o, err := Mix(draws, 3, Pool{N: 10, Weight: 1}, Pool{N: 90, Weight: 3})
	if err != nil {
		t.Fatal(err)
	}
	var counts [100]int
	for pos := range draws {
		counts[o.At(pos)]++
	}
	first := 0
	for i, c := range counts {
		want := draws / 4 / 10
		if i < 10 {
			first += c
		} else {
			want = draws * 3 / 4 / 90
		}
		if c < want*8/10 || c > want*12/10 {
			t.Errorf("element %d was drawn %d times, want about %d", i, c, want)
		}
	}
	if first < 24_000 || first > 26_000 {
		t.Errorf("a quarter of the draws is %d", first)
	}
}

// TestRepeatOfAFraction checks that each element occurs floor or ceil times, and equally often in both forms.
func TestRepeatOfAFraction(t *testing.T) {
	for _, c := range []struct {
		n     int
		times float64
		whole []int
		each  []int
	}{
		{4, 2.5, []int{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}, []int{0, 0, 0, 1, 1, 1, 2, 2, 3, 3}},
		{4, 0.5, []int{0, 1}, []int{0, 1}},
		{3, 0.5, []int{0, 1}, []int{0, 1}}, // half an element is rounded up
		{10, 0.29, []int{0, 1, 2}, []int{0, 1, 2}},
		{3, 0, []int{}, []int{}},
		{0, 2.5, []int{}, []int{}},
		{2, 2, []int{0, 1, 0, 1}, []int{0, 0, 1, 1}},
	} {
		whole, err := Repeat(c.n, c.times)
		if err != nil {
			t.Fatal(err)
		}
		each, err := RepeatEach(c.n, c.times)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all(whole), c.whole) || !slices.Equal(all(each), c.each) {
			t.Errorf("%v times %d: %v and %v, want %v and %v", c.times, c.n, all(whole), all(each), c.whole, c.each)
		}
	}
}

func TestResolveIsPythons(t *testing.T) {
	for _, c := range []struct{ n, index, want int }{{3, 0, 0}, {3, 2, 2}, {3, -1, 2}, {3, -3, 0}, {1, -1, 0}} {
		if got, err := Resolve(c.n, c.index); err != nil || got != c.want {
			t.Errorf("%d of %d is %d, %v; want %d", c.index, c.n, got, err, c.want)
		}
	}
	for _, c := range []struct{ n, index int }{{3, 3}, {3, -4}, {0, 0}, {0, -1}, {3, math.MaxInt}, {3, math.MinInt}} {
		if _, err := Resolve(c.n, c.index); err == nil {
			t.Errorf("%d of %d was accepted", c.index, c.n)
		}
	}
}

// TestUniformIsEven checks that the numbers are uniform, stay the same across versions, and are independent of those of
// a mixture with the same seed.
func TestUniformIsEven(t *testing.T) {
	const n = 100_000
	pools, err := Mix(n, 3, Pool{N: 1, Weight: 1}, Pool{N: 1, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	var tenths [10]int
	both := 0
	for pos := range n {
		u := Uniform(3, pos)
		tenths[int(u*10)]++
		if u < 0.5 && pools.At(pos) == 0 {
			both++
		}
	}
	for i, count := range tenths {
		if count < n/10*95/100 || count > n/10*105/100 {
			t.Errorf("%d of %d numbers are in tenth %d", count, n, i)
		}
	}
	if both < n/4*95/100 || both > n/4*105/100 {
		t.Errorf("%d of %d are low in both, want about a quarter", both, n)
	}
	if a, b := Uniform(0, 0), Uniform(1, 1_000_000_000_000); a != goldenUniform[0] || b != goldenUniform[1] {
		t.Errorf("got %v, %v", a, b)
	}
}

var goldenUniform = [2]float64{0.12428750963105273, 0.5957564926960615}

func TestMixOfVeryManyPools(t *testing.T) {
	pools := make([]Pool, 1000)
	for i := range pools {
		pools[i] = Pool{N: 1, Weight: float64(i % 2)}
	}
	o, err := Mix(10_000, 1, pools...)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for pos := range o.Len() {
		i := o.At(pos)
		if i%2 == 0 {
			t.Fatalf("element %d was drawn and has no weight", i)
		}
		seen[i] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d of 500 elements were drawn", len(seen))
	}
}

func TestRefused(t *testing.T) {
	refuse := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	_, err := Repeat(3, -1)
	refuse("a negative number of times", err)
	_, err = Repeat(1<<40, 1<<40)
	refuse("more positions than an int holds", err)
	_, err = RepeatEach(1<<40, 1<<40)
	refuse("more positions than an int holds, each in a row", err)
	_, err = Repeat(3, math.NaN())
	refuse("no number of times", err)
	_, err = Repeat(3, math.Inf(1))
	refuse("an infinite number of times", err)
	_, err = Repeat(1<<62, 1.9)
	refuse("a fraction more positions than an int holds", err)
	_, err = Pad(0, 2, -1)
	refuse("padding with nothing", err)
	_, err = Pad(3, 2, -1)
	refuse("padding to fewer positions", err)
	_, err = Pad(3, 3, 3)
	refuse("padding with an element past the end", err)
	_, err = Except(3, []int{-4})
	refuse("an index before the start", err)
	_, err = Cycle(0, 1)
	refuse("a cycle over nothing", err)
	_, err = Index(3, []int{3})
	refuse("an index past the end", err)
	_, err = Shuffle(-1, 0, 0)
	refuse("a negative size", err)
	_, err = Epochs(3, 0, -1)
	refuse("a negative number of epochs", err)
	_, err = Shard(3, 2, 2)
	refuse("a rank past the last", err)
	_, err = Mix(3, 0)
	refuse("a mixture of nothing", err)
	_, err = Mix(3, 0, Pool{N: 1, Weight: math.Inf(1)})
	refuse("a weight without end", err)
	_, err = Mix(3, 0, Pool{N: 1})
	refuse("a mixture without weights", err)
	_, err = WithReplacement(0, 3, 0)
	refuse("draws from nothing", err)
	_, err = Split(15, Count(12), Count(10))
	refuse("parts larger than the whole", err)
	_, err = Split(15, Count(12))
	refuse("parts that leave something", err)
	_, err = Split(15, Rest(), Rest())
	refuse("two rests", err)
}

func BenchmarkShuffle(b *testing.B) {
	for name, n := range map[string]int{"5e4": 50_000, "1e9": 1_000_000_000, "1e12": 1_000_000_000_000} {
		o, err := Shuffle(n, 1, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("forward/"+name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				o.At(i)
				i = (i + 1) % n
			}
		})
		b.Run("inverse/"+name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				o.Next(i, -1)
				i = (i + 1) % n
			}
		})
	}
}

func BenchmarkOrders(b *testing.B) {
	const n = 1_000_000
	must := func(o Order, err error) Order {
		if err != nil {
			b.Fatal(err)
		}
		return o
	}
	pools := make([]Pool, 1000)
	for i := range pools {
		pools[i] = Pool{N: n, Weight: float64(i)}
	}
	for name, o := range map[string]Order{
		"each":       must(RepeatEach(n, 2.5)),
		"pad":        must(Pad(n, 2*n, -1)),
		"except":     must(Except(n, all(must(Shard(n, 0, 3))))),
		"interleave": Interleave(Identity(n), Identity(n/2), Identity(n/4)),
		"mix":        must(Mix(n, 1, pools...)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				o.At(i)
				i = (i + 7919) % o.Len()
			}
		})
	}
}

package lazy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/lazy"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

// opaque has a field that no codec can write.
type opaque struct{ list []int }

func newOpaque(list ...int) *opaque                    { return &opaque{list} }
func (o *opaque) AppendKey(dst []byte) ([]byte, error) { return fmt.Append(dst, o.list), nil }
func watched(t *testing.T) (*larder.Larder, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{}), Logger: slog.New(slog.NewTextHandler(&locked{w: &log}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return l, &log
}

type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// TestArgumentsWithoutACodec has one function sort its argument in place and another take the first element. Results
// computed from the sorted list are not stored.
func TestArgumentsWithoutACodec(t *testing.T) {
	for name, list := range map[string]func() lazy.Value[*opaque]{
		"constant": func() lazy.Value[*opaque] { return lazy.Of(newOpaque(3, 1, 2)) },
		"result": lazy.Func0("list", func(context.Context) (*opaque, error) { return newOpaque(3, 1, 2), nil },
			lazy.Options{Version: "1", Keep: lazy.KeepNot}),
	} {
		t.Run(name, func(t *testing.T) {
			l, log := watched(t)
			smallest := lazy.Func1("smallest", func(_ context.Context, o *opaque) (int, error) {
				slices.Sort(o.list)
				return o.list[0], nil
			}, v1)
			first := lazy.Func2("first", func(_ context.Context, o *opaque, _ int) (int, error) { return o.list[0], nil }, v1)
			in := list()
			if got := get(t, l, first(in, smallest(in))); got != 1 && got != 3 {
				t.Errorf("got %d", got)
			}
			if n := l.Metrics().Uncached; n != 2 || !strings.Contains(log.String(), "changed during the call") {
				t.Errorf("%d results were not cached: %s", n, log)
			}
			in = list()
			if got := get(t, l, first(in, lazy.Of(1))); got != 3 {
				t.Errorf("then the first is %d", got)
			}
			if got := get(t, l, first(in, lazy.Of(1))); got != 3 || l.Metrics().Uncached != 2 {
				t.Errorf("and then %d", got)
			}
		})
	}
}

// TestIteratorsAreNotShared checks that only the first result from an iterator is stored, as each use takes items from
// the others.
func TestIteratorsAreNotShared(t *testing.T) {
	open := lazy.Func0("open", func(context.Context) (func() int, error) {
		n := 0
		return func() int { n++; return n }, nil
	}, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	take := lazy.Func2("take", func(_ context.Context, next func() int, _ int) (int, error) { return next(), nil }, v1)
	static := lazy.Func0("static", func(context.Context) (func(string) string, error) { return strings.TrimSpace, nil }, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	trim := lazy.Func2("trim", func(_ context.Context, f func(string) string, x int) (string, error) { return f(" a"), nil }, v1)

	l, log := watched(t)
	for range 3 {
		if got := get(t, l, take(open(), lazy.Of(0))); got != 1 || l.Metrics().Uncached != 0 || l.Metrics().Computed != 1 {
			t.Errorf("alone: %d, %+v", got, l.Metrics())
		}
	}
	in := open()
	sum, err := lazy.Get(t.Context(), l, lazy.Add(take(in, lazy.Of(1)), take(in, lazy.Of(2))), lazy.Evaluation{Pool: pool.New(1)})
	if n := l.Metrics().Uncached; err != nil || sum != 3 || n != 1 || !strings.Contains(log.String(), "a function with captured variables") {
		t.Errorf("two: %d, %v, %d not cached: %s", sum, err, n, log)
	}
	for i := range 2 { // the value that was not stored is computed from its own iterator
		if got := get(t, l, take(open(), lazy.Of(i+1))); got != 1 {
			t.Errorf("then %d is %d", i, got)
		}
	}
	f := static()
	if got := get(t, l, lazy.Slice(trim(f, lazy.Of(1)), trim(f, lazy.Of(2)))); got[1] != "a" || l.Metrics().Uncached != 1 {
		t.Errorf("%q, %+v", got, l.Metrics())
	}
}

// TestDoubtIsHandedOn checks that results computed from a doubtful value are not stored either, and that no link leads
// to them.
func TestDoubtIsHandedOn(t *testing.T) {
	l, _ := watched(t)
	write := true
	spoil := lazy.Func1("spoil", func(_ context.Context, o *opaque) (int, error) {
		if write {
			o.list[0]++
		}
		return o.list[0], nil
	}, lazy.Options{Version: "1", Captured: map[string]any{"write": 0}})
	passes := lazy.Func1("passes", func(_ context.Context, x int) (int, error) { return x, nil }, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	twice := lazy.Func1("twice", func(_ context.Context, x int) (int, error) { return 2 * x, nil }, v1)
	clean := lazy.Func0("clean", func(context.Context) (int, error) { return 2, nil }, v1)
	if got := get(t, l, twice(passes(clean()))); got != 4 { // so the value computed from a doubtful 2 is found
		t.Errorf("got %d", got)
	}
	tree := func() lazy.Value[int] { return twice(passes(spoil(lazy.Of(newOpaque(1))))) }
	if got := get(t, l, tree()); got != 4 {
		t.Errorf("got %d", got)
	}
	write = false
	if got := get(t, l, tree()); got != 2 {
		t.Errorf("a doubtful result was cached: %d", got)
	}
	if got := get(t, l, tree()); got != 2 {
		t.Errorf("got %d", got)
	}
}

// TestFieldsAreNotShared checks the fields that Struct takes without copying.
func TestFieldsAreNotShared(t *testing.T) {
	l, _ := watched(t)
	type pair struct{ A, B []int }
	sorted := lazy.Func1("sorted", func(_ context.Context, p pair) ([]int, error) { slices.Sort(p.A); return p.A, nil }, v1)
	firsts := lazy.Func2("firsts", func(_ context.Context, p pair, _ []int) (int, error) { return p.A[0], nil }, v1)
	list := []int{3, 1, 2}
	p := lazy.Struct[pair](struct{ A, B []int }{list, list})
	if got := get(t, l, firsts(p, sorted(p))); got != 3 || !slices.Equal(list, []int{3, 1, 2}) {
		t.Errorf("got %d, and the caller's list is %v", got, list)
	}
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) AppendKey(dst []byte) ([]byte, error) { return append(dst, 'c'), nil }

// TestSharedArguments checks that arguments with locks are not watched. The first result is stored, and later ones only
// if the type is declared as Pure.
func TestSharedArguments(t *testing.T) {
	open := lazy.Func0("open", func(context.Context) (*counter, error) { return &counter{}, nil }, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	pass := lazy.Func1("pass", func(_ context.Context, c *counter) (*counter, error) { return c, nil }, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	for name, c := range map[string]struct {
		in       func() (a, b lazy.Value[*counter])
		pure     []string
		uncached int64
	}{
		"one result":           {in: func() (a, b lazy.Value[*counter]) { a = open(); return a, a }, uncached: 1},
		"declared":             {in: func() (a, b lazy.Value[*counter]) { a = open(); return a, a }, pure: []string{"github.com/larder-data/larder/lazy_test.counter"}},
		"two constants":        {in: func() (a, b lazy.Value[*counter]) { c := &counter{}; return lazy.Of(c), lazy.Of(c) }, uncached: 1},
		"handed on by another": {in: func() (a, b lazy.Value[*counter]) { a = lazy.Of(&counter{}); return a, pass(a) }, uncached: 2},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := watched(t)
			count := lazy.Func2("count", func(_ context.Context, c *counter, by int) (int, error) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.n++
				return c.n, nil
			}, lazy.Options{Version: "1", Pure: c.pure})
			a, b := c.in()
			if _, err := lazy.Get(t.Context(), l, lazy.Slice(count(a, lazy.Of(1)), count(b, lazy.Of(2))), lazy.Evaluation{Pool: pool.New(1)}); err != nil {
				t.Fatal(err)
			}
			if n := l.Metrics().Uncached; int64(n) < c.uncached || c.uncached == 0 && n != 0 {
				t.Errorf("%d results are not cached, want %d", n, c.uncached)
			}
		})
	}
}

// TestMemoryByTwoNames checks that memory sorted in place is also seen through another constant, the result of a
// function, or a part of it.
func TestMemoryByTwoNames(t *testing.T) {
	smallest := lazy.Func1("smallest of all", func(_ context.Context, o *opaque) (int, error) {
		slices.Sort(o.list)
		return o.list[0], nil
	}, v1)
	first := lazy.Func1("first of all", func(_ context.Context, o *opaque) (int, error) { return o.list[0], nil }, v1)
	start := lazy.Func1("start", func(_ context.Context, list []int) (int, error) { return list[0], nil }, v1)
	not := lazy.Options{Version: "1", Keep: lazy.KeepNot}
	pass := lazy.Func1("pass", func(_ context.Context, o *opaque) (*opaque, error) { return o, nil }, not)
	list := lazy.Func1("list", func(_ context.Context, o *opaque) ([]int, error) { return o.list, nil }, not)
	for name, tree := range map[string]func(o *opaque) (other, it lazy.Value[int]){
		"two constants":      func(o *opaque) (other, it lazy.Value[int]) { return first(lazy.Of(o)), smallest(lazy.Of(o)) },
		"handed on":          func(o *opaque) (other, it lazy.Value[int]) { in := lazy.Of(o); return first(pass(in)), smallest(in) },
		"sorted by the copy": func(o *opaque) (other, it lazy.Value[int]) { in := lazy.Of(o); return first(in), smallest(pass(in)) },
		"a part":             func(o *opaque) (other, it lazy.Value[int]) { in := lazy.Of(o); return start(list(in)), smallest(in) },
	} {
		for _, swap := range []bool{false, true} {
			t.Run(fmt.Sprint(name, swap), func(t *testing.T) {
				l, _ := watched(t)
				other, it := tree(newOpaque(3, 1, 2))
				both := lazy.Slice(other, it)
				if swap {
					both = lazy.Slice(it, other)
				}
				if _, err := lazy.Get(t.Context(), l, both, lazy.Evaluation{Pool: pool.New(1)}); err != nil {
					t.Fatal(err)
				}
				other, _ = tree(newOpaque(3, 1, 2))
				if got := get(t, l, other); got != 3 {
					t.Errorf("then the first is %d", got)
				}
			})
		}
	}
}

// TestValuesThatCannotBeWritten checks that such a value is passed to the function that needs it and to all callers,
// with one warning.
func TestValuesThatCannotBeWritten(t *testing.T) {
	l, log := watched(t)
	var runs atomic.Int64
	start := make(chan struct{})
	load := lazy.Func1("load", func(_ context.Context, n int) ([]any, error) {
		<-start
		runs.Add(1)
		return []any{n, map[string]any{"in": struct{ N int }{n}}}, nil
	}, lazy.Options{Version: "1", Captured: map[string]any{"start": 0, "runs": 0}})
	size := lazy.Func1("size", func(_ context.Context, v []any) (int, error) {
		return v[1].(map[string]any)["in"].(struct{ N int }).N, nil
	}, v1)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if got, err := load(lazy.Of(7)).Get(t.Context(), l); err != nil || len(got) != 2 {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	close(start)
	wait.Wait()
	before := runs.Load()
	sum := lazy.Add(size(load(lazy.Of(7))), size(load(lazy.Of(8))))
	if got := get(t, l, sum); got != 15 || runs.Load() != before+2 {
		t.Errorf("got %d, %d executions more", got, runs.Load()-before)
	}
	if got := get(t, l, sum); got != 15 || runs.Load() != before+2 {
		t.Errorf("what was computed from it was not cached: %d, %d executions more", got, runs.Load()-before)
	}
	if n := strings.Count(log.String(), "not cached"); n != 1 || !strings.Contains(log.String(), `[1].(map[string]interface {})[\"in\"].(struct { N int })`) {
		t.Errorf("%d warnings: %s", n, log)
	}
}

// TestTypesThatCannotBeCachedAreReportedFirst checks that nothing is computed, not even the arguments.
func TestTypesThatCannotBeCachedAreReportedFirst(t *testing.T) {
	l, _ := watched(t)
	slow := lazy.Func0("slow", func(context.Context) (int, error) { t.Error("computed for nothing"); return 1, nil }, lazy.Options{Version: "1", Captured: map[string]any{"t": 0}})
	bad := lazy.Func1("bad", func(context.Context, int) (chan int, error) { return make(chan int), nil }, v1)
	_, err := bad(slow()).Get(t.Context(), l)
	if _, ok := errors.AsType[*codec.UnencodableError](err); !ok || !strings.Contains(err.Error(), "KeepNot") {
		t.Error(err)
	}
}

// TestFunctionsThatAskForThemselves checks functions that request themselves through their own tree and context.
func TestFunctionsThatAskForThemselves(t *testing.T) {
	l, _ := watched(t)
	var f func(lazy.Value[int]) lazy.Value[int]
	f = lazy.Func1("itself", func(_ context.Context, n int) (v int, err error) {
		var wait sync.WaitGroup
		wait.Go(func() { v, err = f(lazy.Of(1-n)).Get(context.Background(), l) })
		wait.Wait()
		return v, err
	}, lazy.Options{Version: "1", Captured: map[string]any{"f": 0, "l": 0}})
	if _, err := f(lazy.Of(0)).Get(t.Context(), l); !errors.Is(err, larder.ErrCycle) || !strings.Contains(err.Error(), "itself -> itself") {
		t.Error(err)
	}
}

// TestArgumentsThatShare checks that sharing between parts of an argument, or of captured values, is part of the key, as
// the function can see it.
func TestArgumentsThatShare(t *testing.T) {
	l, _ := watched(t)
	type pointers struct{ A, B *int }
	x, y := 1, 1
	a, b := []int{1}, []int{1}
	same := lazy.Func1("same", func(_ context.Context, p pointers) (bool, error) { return p.A == p.B, nil }, lazy.Options{Version: "1"})
	sum := lazy.Func1("sum", func(_ context.Context, lists [][]int) (int, error) {
		lists[0][0]++
		return lists[0][0] + lists[1][0], nil
	}, lazy.Options{Version: "1"})
	captured := func(list ...*int) lazy.Value[bool] {
		return lazy.Func0("captured", func(context.Context) (bool, error) { return list[0] == list[1], nil },
			lazy.Options{Version: "1", Captured: map[string]any{"list": list}})()
	}
	for range 2 {
		for _, c := range []struct {
			got  lazy.Value[bool]
			want bool
		}{{same(lazy.Of(pointers{&x, &y})), false}, {same(lazy.Of(pointers{&x, &x})), true}, {captured(&x, &y), false}, {captured(&y, &y), true}} {
			if got, err := c.got.Get(t.Context(), l); err != nil || got != c.want {
				t.Errorf("same: %v, %v; want %v", got, err, c.want)
			}
		}
		for want, lists := range map[int][][]int{3: {a, b}, 4: {a, a}} {
			if got, err := sum(lazy.Of(lists)).Get(t.Context(), l); err != nil || got != want {
				t.Errorf("sum: %v, %v; want %d", got, err, want)
			}
		}
	}
}

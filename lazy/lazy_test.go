package lazy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/lazy"
	"github.com/larder-data/larder/pool"
)

func open(t testing.TB, dir string) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// computed counts the executions that f causes.
func computed(l *larder.Larder, f func()) int64 {
	before := l.Metrics().Computed
	f()
	return l.Metrics().Computed - before
}

func get[T any](t testing.TB, l *larder.Larder, v lazy.Value[T]) T {
	t.Helper()
	got, err := v.Get(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var v1 = lazy.Options{Version: "1"}

func square(_ context.Context, x int) (int, error)     { return x * x, nil }
func add3(_ context.Context, a, b, c int) (int, error) { return a + b + c, nil }
func sumOf(_ context.Context, x []float64) (float64, error) {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s, nil
}
func half(_ context.Context, x int) (int, error)           { return x / 2, nil }
func words(_ context.Context, s ...string) (string, error) { return strings.Join(s, " "), nil }

var (
	sq    = lazy.Func1("sq", square, v1)
	sum   = lazy.Func3("sum", add3, v1)
	total = lazy.Func1("total", sumOf, v1)
	cheap = lazy.Func1("cheap", half, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	halve = lazy.Func1("half", half, v1)
	join  = lazy.FuncN("join", words, v1)
)

func TestSecondRunReadsOneRecord(t *testing.T) {
	dir := t.TempDir()
	root := func() lazy.Value[int] { return sum(lazy.Of(1), sq(lazy.Of(2)), lazy.Of(3)) }
	first, second := open(t, dir), open(t, dir)
	if v := get(t, first, root()); v != 8 || first.Metrics().Computed != 2 {
		t.Errorf("got %d with %d executions", v, first.Metrics().Computed)
	}
	if v := get(t, second, root()); v != 8 || second.Metrics().Computed != 0 || second.Metrics().StoreHits != 1 {
		t.Errorf("again: got %d, %+v", v, second.Metrics())
	}
}

// TestArgumentsAreReportedApart uses functions that each have a digit in their arguments that spells the other's.
func TestArgumentsAreReportedApart(t *testing.T) {
	l := open(t, t.TempDir())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "b"}, "a b"}, {[]string{"a b"}, "a b"}, {[]string{"ab", ""}, "ab "}, {nil, ""}, {[]string{""}, ""},
	} {
		var args []lazy.Value[string]
		for _, a := range c.args {
			args = append(args, lazy.Of(a))
		}
		n := computed(l, func() {
			if got := get(t, l, join(args...)); got != c.want {
				t.Errorf("%q: got %q", c.args, got)
			}
		})
		if n != 1 {
			t.Errorf("%q: %d executions", c.args, n)
		}
	}
	a, b := sq(lazy.Of(2)), sq(lazy.Of(3))
	one, two := get(t, l, sum(a, b, lazy.Of(0))), get(t, l, sum(a, lazy.Of(0), b))
	if n := computed(l, func() { get(t, l, sum(lazy.Of(0), a, b)) }); one != 13 || two != 13 || n != 1 {
		t.Errorf("another place for an argument: %d executions", n)
	}
}

func TestEqualNodesAreComputedOnce(t *testing.T) {
	l := open(t, t.TempDir())
	if n := computed(l, func() { get(t, l, sum(sq(lazy.Of(5)), sq(lazy.Of(5)), sq(lazy.Of(5)))) }); n != 2 {
		t.Errorf("%d executions, want sq and sum", n)
	}
	var calls atomic.Int64
	cheap := lazy.Func1("cheap", func(_ context.Context, x int) (int, error) { calls.Add(1); return x, nil },
		lazy.Options{Version: "1", Keep: lazy.KeepNot, Captured: map[string]any{"calls": "for the test"}})
	get(t, l, sum(cheap(lazy.Of(1)), cheap(lazy.Of(1)), cheap(lazy.Of(1))))
	if calls.Load() != 1 {
		t.Errorf("a node that is not cached was computed %d times", calls.Load())
	}
}

// TestWhatOthersKeepMeanwhileIsFound checks that elements stored by another process are found while the last one is
// computed.
func TestWhatOthersKeepMeanwhileIsFound(t *testing.T) {
	for name, swap := range map[string]int{"the leaf first": 0, "the leaf last": 1} {
		t.Run(name, func(t *testing.T) { testMeanwhile(t, swap) })
	}
}

func testMeanwhile(t *testing.T, swap int) {
	dir := t.TempDir()
	here, other := open(t, dir), open(t, dir)
	var leaves, below atomic.Int64
	captured := map[string]any{"leaves": 0, "below": 0, "wanted": 0, "t": 0, "other": 0} // for the test
	leaf := lazy.Func1("aside", func(_ context.Context, x int) (int, error) { leaves.Add(1); return x, nil },
		lazy.Options{Version: "1", Captured: captured})
	cheap := lazy.Func1("below", func(_ context.Context, x int) (int, error) { below.Add(1); return x, nil },
		lazy.Options{Version: "1", Keep: lazy.KeepNot, Captured: captured})
	wanted := []lazy.Value[int]{sq(cheap(lazy.Of(2))), leaf(lazy.Of(4))}
	wanted[0], wanted[swap] = wanted[swap], wanted[0] // the last is evaluated first
	during := lazy.Func1("during", func(_ context.Context, x int) (int, error) {
		_, err := lazy.Slice(wanted...).Get(t.Context(), other)
		return x, err
	}, lazy.Options{Version: "1", Keep: lazy.KeepNot, Captured: captured}) // storing its result would look for other records
	all := lazy.Slice(append(wanted, during(lazy.Of(4)))...)
	got, err := lazy.Get(t.Context(), here, all, lazy.Evaluation{Pool: pool.New(1)})
	if diff := cmp.Diff([]int{4, 4, 4}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if leaves.Load() != 1 || below.Load() != 1 {
		t.Errorf("%d executions of a leaf, %d below a node that is cached", leaves.Load(), below.Load())
	}
}

// TestEarlyCutoff relies on half(4) and half(5) both being 2.
func TestEarlyCutoff(t *testing.T) {
	for name, o := range map[string]lazy.Options{
		"cached": {Version: "1"}, "not cached": {Version: "1", Keep: lazy.KeepNot}, "in memory": {Version: "1", Keep: lazy.KeepInMemory},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, t.TempDir())
			halve := lazy.Func1("half", half, o)
			var calls atomic.Int64
			top := lazy.Func1("top", func(_ context.Context, x int) (int, error) { calls.Add(1); return -x, nil },
				lazy.Options{Version: "1", Captured: map[string]any{"calls": 0}})
			for _, x := range []int{4, 5, 4, 5} {
				if v := get(t, l, top(halve(lazy.Of(x)))); v != -2 {
					t.Errorf("top(half(%d)) = %d", x, v)
				}
			}
			if calls.Load() != 1 {
				t.Errorf("computed %d times from equal arguments", calls.Load())
			}
		})
	}
}

func TestVersionsLiveSideBySide(t *testing.T) {
	dir := t.TempDir()
	run := func(version string) int64 {
		l := open(t, dir)
		f := lazy.Func1("f", square, lazy.Options{Version: version})
		return computed(l, func() { get(t, l, f(lazy.Of(7))) })
	}
	var got []int64
	for _, v := range []string{"A", "B", "A", "B"} {
		got = append(got, run(v))
	}
	if !slices.Equal(got, []int64{1, 1, 0, 0}) {
		t.Errorf("executions of versions A, B, A, B: %v", got)
	}
}

func TestAlternatingArguments(t *testing.T) {
	l := open(t, t.TempDir())
	n := computed(l, func() {
		for i := range 10 {
			get(t, l, sq(lazy.Of(i%2)))
		}
	})
	if n != 2 {
		t.Errorf("%d executions for two arguments", n)
	}
}

type pair struct {
	Name string
	Size []int
}

func TestCollections(t *testing.T) {
	l := open(t, t.TempDir())
	if got := get(t, l, lazy.Slice(sq(lazy.Of(2)), lazy.Of(1))); !slices.Equal(got, []int{4, 1}) {
		t.Errorf("slice: %v", got)
	}
	m := lazy.MapOf(map[string]lazy.Value[int]{"a": sq(lazy.Of(2)), "b": lazy.Of(1)})
	if got := get(t, l, m); !cmp.Equal(got, map[string]int{"a": 4, "b": 1}) {
		t.Errorf("map: %v", got)
	}
	if got := get(t, l, lazy.At(m, lazy.Of("a"))); got != 4 {
		t.Errorf("at: %v", got)
	}
	s := lazy.Struct[pair](struct {
		Name string
		Size lazy.Value[[]int]
	}{"x", lazy.Slice(sq(lazy.Of(3)))})
	if got := get(t, l, s); !cmp.Equal(got, pair{"x", []int{9}}) {
		t.Errorf("struct: %v", got)
	}
	if got := get(t, l, lazy.Index(lazy.Field[[]int](s, "Size"), lazy.Of(-1))); got != 9 {
		t.Errorf("field and index: %v", got)
	}
	if got := get(t, l, lazy.Add(lazy.Mul(lazy.Of(2.5), lazy.Of(2.0)), lazy.Neg(lazy.Of(1.0)))); got != 4 {
		t.Errorf("arithmetic: %v", got)
	}
}

func TestMapSelectReduce(t *testing.T) {
	l := open(t, t.TempDir())
	list := func(v ...int) lazy.Value[[]int] { return lazy.Of(v) }
	if n := computed(l, func() {
		if got := get(t, l, lazy.Map(sq, list(1, 2, 3))); !slices.Equal(got, []int{1, 4, 9}) {
			t.Errorf("map: %v", got)
		}
	}); n != 3 {
		t.Errorf("map of 3: %d executions", n)
	}
	if n := computed(l, func() { get(t, l, lazy.Map(sq, list(3, 2, 4, 1))) }); n != 1 {
		t.Errorf("one new element: %d executions", n)
	}
	even := func(x lazy.Value[int]) lazy.Value[bool] {
		return lazy.Equal(lazy.Mul(halve(x), lazy.Of(2)), x)
	}
	if got := get(t, l, lazy.Select(even, list(1, 2, 3, 4))); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("select: %v", got)
	}
	plus := lazy.Func2("plus", func(_ context.Context, a, b int) (int, error) { return a + b, nil }, v1)
	if n := computed(l, func() {
		if got := get(t, l, lazy.Reduce(plus, lazy.Of(0), list(1, 2, 3))); got != 6 {
			t.Errorf("reduce: %v", got)
		}
	}); n != 3 {
		t.Errorf("reduce of 3: %d executions", n)
	}
	if n := computed(l, func() { get(t, l, lazy.Reduce(plus, lazy.Of(0), list(1, 2, 3, 4))) }); n != 1 {
		t.Errorf("folding on: %d executions", n)
	}
}

// TestNestedPatterns checks that a nested pattern with both elements, 1x10+..., differs from one that uses the inner
// element twice.
func TestNestedPatterns(t *testing.T) {
	l := open(t, t.TempDir())
	outer := lazy.Of([]int{1, 2})
	inner := lazy.Of([]int{10, 20})
	both := lazy.Map(func(a lazy.Value[int]) lazy.Value[[]int] {
		return lazy.Map(func(b lazy.Value[int]) lazy.Value[int] { return lazy.Mul(a, b) }, inner)
	}, outer)
	twice := lazy.Map(func(lazy.Value[int]) lazy.Value[[]int] {
		return lazy.Map(func(b lazy.Value[int]) lazy.Value[int] { return lazy.Mul(b, b) }, inner)
	}, outer)
	if got := get(t, l, both); !cmp.Equal(got, [][]int{{10, 20}, {20, 40}}) {
		t.Errorf("both elements: %v", got)
	}
	if got := get(t, l, twice); !cmp.Equal(got, [][]int{{100, 400}, {100, 400}}) {
		t.Errorf("the inner element twice: %v", got)
	}
	k1, err1 := both.Key(t.Context(), l)
	k2, err2 := twice.Key(t.Context(), l)
	if k1 == k2 || err1 != nil || err2 != nil {
		t.Errorf("two patterns have one key: %v, %v", err1, err2)
	}
	var leaked lazy.Value[int]
	get(t, l, lazy.Map(func(a lazy.Value[int]) lazy.Value[int] {
		if leaked == (lazy.Value[int]{}) {
			leaked = a
		}
		return a
	}, outer))
	if _, err := sq(leaked).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "outside of its function") {
		t.Errorf("an element outside of its function: %v", err)
	}
}

func TestIfEvaluatesOneBranch(t *testing.T) {
	l := open(t, t.TempDir())
	boom := lazy.Func0("boom", func(context.Context) (int, error) { return 0, errors.New("evaluated") }, v1)
	v := lazy.If(lazy.Less(lazy.Of(1), lazy.Of(2)), sq(lazy.Of(3)), boom())
	if got := get(t, l, v); got != 9 {
		t.Errorf("got %d", got)
	}
	if _, err := lazy.If(lazy.Of(false), sq(lazy.Of(3)), boom()).Get(t.Context(), l); err == nil {
		t.Error("the other branch was not evaluated")
	}
}

func TestDeepAndWide(t *testing.T) {
	l, err := larder.Open(larder.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	inc := lazy.Func1("inc", func(_ context.Context, x int) (int, error) { return x + 1, nil }, lazy.Options{Version: "1", Keep: lazy.KeepNot})
	const deep = 100_000
	v := lazy.Of(0)
	for range deep {
		v = inc(v)
	}
	if got := get(t, l, v); got != deep {
		t.Errorf("a chain of %d gives %d", deep, got)
	}
	if p, err := lazy.PlanOf(t.Context(), l, v); err != nil || p.Compute != deep {
		t.Errorf("its plan: %d to compute, %v", p.Compute, err)
	}
	wide := 200_000
	if testing.Short() {
		wide = 10_000
	}
	all := make([]lazy.Value[int], wide)
	for i := range all {
		all[i] = inc(lazy.Of(i))
	}
	got := get(t, l, lazy.Slice(all...))
	if len(got) != wide || got[wide-1] != wide {
		t.Errorf("%d nodes give %d results", wide, len(got))
	}
}

func TestDeepChainThatIsCached(t *testing.T) {
	l := open(t, t.TempDir())
	build := func() lazy.Value[int] {
		v := lazy.Of(0)
		for i := range 5000 {
			v = sum(v, lazy.Of(i), lazy.Of(0))
		}
		return v
	}
	if n := computed(l, func() { get(t, l, build()) }); n != 5000 {
		t.Errorf("%d executions", n)
	}
	p, err := lazy.PlanOf(t.Context(), l, build())
	if err != nil || p.Load != 1 || p.Compute != 0 {
		t.Errorf("warm plan: to load %d, to compute %d, %v", p.Load, p.Compute, err)
	}
}

func TestErrorsAndPanics(t *testing.T) {
	l := open(t, t.TempDir())
	calls := 0
	fail := lazy.Func1("fail", func(_ context.Context, x int) (int, error) {
		calls++
		if calls == 1 {
			return 0, errors.New("out of luck")
		}
		return x, nil
	}, lazy.Options{Version: "1", Captured: map[string]any{"calls": 0}})
	if _, err := sq(fail(lazy.Of(1))).Get(t.Context(), l); err == nil || err.Error() != "lazy: fail: out of luck" {
		t.Errorf("error: %v", err)
	}
	if v, err := sq(fail(lazy.Of(1))).Get(t.Context(), l); v != 1 || err != nil {
		t.Errorf("an error was cached: %d, %v", v, err)
	}
	for name, keep := range map[string]lazy.Keep{"cached": lazy.KeepOnDisk, "not cached": lazy.KeepNot} {
		panics := lazy.Func1("panics", func(_ context.Context, x []int) (int, error) { i := len(x); return x[i], nil }, lazy.Options{Version: "1", Keep: keep})
		var p *singleflight.PanicError
		if _, err := panics(lazy.Of([]int{1})).Get(t.Context(), l); !errors.As(err, &p) || !strings.Contains(string(p.Stack), "lazy_test.go") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var zero lazy.Value[int]
	if _, err := sq(zero).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "zero Value[int]") {
		t.Errorf("zero value: %v", err)
	}
	if _, err := lazy.Func1("f", func(_ context.Context, f func()) (int, error) { return 0, nil }, v1)(lazy.Of(func() {})).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "cannot be keyed") {
		t.Errorf("an argument that cannot be keyed: %v", err)
	}
	if _, err := lazy.Func0("f", func(context.Context) (chan int, error) { return make(chan int), nil }, v1)().Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "cannot be cached") {
		t.Errorf("a result that cannot be cached: %v", err)
	}
	if _, err := lazy.Field[int](lazy.Of(pair{}), "Length").Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "no exported field Length") {
		t.Errorf("no such field: %v", err)
	}
	if _, err := lazy.Index(lazy.Of([]int{1}), lazy.Of(1)).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "index 1 of 1 elements") {
		t.Errorf("out of range: %v", err)
	}
}

func TestCancellation(t *testing.T) {
	l := open(t, t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	waits := lazy.Func1("waits", func(ctx context.Context, x int) (int, error) {
		cancel(reason)
		<-ctx.Done()
		return 0, ctx.Err()
	}, lazy.Options{Version: "1", Captured: map[string]any{"cancel": 0, "reason": 0}})
	if _, err := sum(waits(lazy.Of(1)), waits(lazy.Of(2)), lazy.Of(1)).Get(ctx, l); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

// TestResultsAreNotShared checks that functions own their arguments, and callers their results.
func TestResultsAreNotShared(t *testing.T) {
	l := open(t, t.TempDir())
	reverse := lazy.Func1("reverse", func(_ context.Context, x []int) ([]int, error) { slices.Reverse(x); return x, nil }, v1)
	list := lazy.Of([]int{1, 2, 3})
	made := lazy.Func1("made", func(_ context.Context, x []int) ([]int, error) { return append(x, 4), nil }, v1)(list)
	both := lazy.Slice(reverse(made), made)
	if got := get(t, l, both); !cmp.Equal(got, [][]int{{4, 3, 2, 1}, {1, 2, 3, 4}}) {
		t.Errorf("got %v", got)
	}
	got := get(t, l, made)
	got[0] = 99
	if again := get(t, l, made); again[0] != 1 {
		t.Errorf("a caller's change is seen by others: %v", again)
	}
	if again := get(t, l, list); again[0] != 1 {
		t.Errorf("a constant was changed: %v", again)
	}
}

func TestCapturedState(t *testing.T) {
	l := open(t, t.TempDir())
	multiplier := func(k int, o lazy.Options) lazy.Value[int] {
		o.Version = "1"
		return lazy.Func1("times", func(_ context.Context, x int) (int, error) { return k * x, nil }, o)(lazy.Of(10))
	}
	if _, err := multiplier(2, lazy.Options{}).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "captures variables that no key covers") {
		t.Errorf("captured: %v", err)
	}
	for k := range 3 {
		o := lazy.Options{Captured: map[string]any{"k": k}}
		if got := get(t, l, multiplier(k, o)); got != 10*k {
			t.Errorf("captured %d: got %d", k, got)
		}
	}
	bound := lazy.Lift1("len", strings.NewReplacer("a", "b").Replace, v1)
	if _, err := bound(lazy.Of("a")).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "bound to a value that no key covers") {
		t.Errorf("method value: %v", err)
	}
}

// TestCapturedIsDeclared checks that all variables captured by a literal are declared, however its code is identified.
func TestCapturedIsDeclared(t *testing.T) {
	l := open(t, t.TempDir())
	for name, o := range map[string]lazy.Options{"version": {Version: "1"}, "build": {Build: true}} {
		for k := range 2 {
			j := 10 * k
			o.Captured = map[string]any{"k": 1}
			f := lazy.Func1("sum of "+name, func(_ context.Context, x int) (int, error) { return k + j + x, nil }, o)
			if _, err := f(lazy.Of(1)).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "captures j, which no key covers") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestContextValuesAreNotSeen(t *testing.T) {
	type user struct{}
	l := open(t, t.TempDir())
	f := lazy.Func1("f", func(ctx context.Context, _ int) (string, error) { return fmt.Sprint(ctx.Value(user{})), nil },
		lazy.Options{Version: "1"})
	ctx := context.WithValue(t.Context(), user{}, "me")
	if v, err := f(lazy.Of(1)).Get(ctx, l); v != "<nil>" || err != nil {
		t.Errorf("the function saw %s, %v", v, err)
	}
}

func TestFiles(t *testing.T) {
	l := open(t, t.TempDir())
	write := lazy.File1("write", ".txt", func(_ context.Context, path string, s string) error {
		if filepath.Ext(path) != ".txt" {
			return fmt.Errorf("the path is %s", path)
		}
		return os.WriteFile(path, []byte(s), 0o600)
	}, v1)
	dir := t.TempDir()
	n := computed(l, func() {
		for _, name := range []string{"a.txt", "b.txt"} {
			if err := lazy.Export(t.Context(), l, write(lazy.Of("hello")), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 1 {
		t.Errorf("%d executions for two places", n)
	}
	// The file is a copy: editing it does not change the cached value.
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := lazy.Export(t.Context(), l, write(lazy.Of("hello")), filepath.Join(dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "hello" {
		t.Errorf("exported again: %q", b)
	}
	none := lazy.File1("none", ".txt", func(context.Context, string, string) error { return nil }, v1)
	if err := lazy.Export(t.Context(), l, none(lazy.Of("")), filepath.Join(dir, "c")); err == nil || !strings.Contains(err.Error(), "wrote no file") {
		t.Errorf("no file: %v", err)
	}
}

func TestRecordedInputsOfArguments(t *testing.T) {
	l := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "in.txt")
	var reads, tops atomic.Int64
	for name, keep := range map[string]lazy.Keep{"cached": lazy.KeepOnDisk, "not cached": lazy.KeepNot} {
		t.Run(name, func(t *testing.T) {
			reads.Store(0)
			tops.Store(0)
			read := lazy.Func1("read", func(ctx context.Context, path string) (string, error) {
				reads.Add(1)
				b, err := larder.ReadFile(ctx, path)
				return string(b), err
			}, lazy.Options{Version: name, Keep: keep, Captured: map[string]any{"reads": 0}})
			top := lazy.Func1("top", func(_ context.Context, s string) (int, error) { tops.Add(1); return len(s), nil },
				lazy.Options{Version: name, Captured: map[string]any{"tops": 0}})
			for i, content := range []string{"a", "a", "bb", "cc", "a", "bb"} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				if got := get(t, l, top(read(lazy.Of(path)))); got != len(content) {
					t.Errorf("step %d: %q has length %d", i, content, got)
				}
			}
			if tops.Load() != 3 {
				t.Errorf("top was computed %d times for 3 contents", tops.Load())
			}
			if keep == lazy.KeepOnDisk && reads.Load() != 3 {
				t.Errorf("the file was read %d times for 3 contents", reads.Load())
			}
		})
	}
}

func TestEager(t *testing.T) {
	l := open(t, t.TempDir())
	f := lazy.Func1("f", square, lazy.Options{Version: "1", Eager: l})
	v := f(lazy.Of(3))
	if l.Metrics().Computed != 1 {
		t.Errorf("%d executions when the call was made", l.Metrics().Computed)
	}
	if get(t, l, v) != 9 || l.Metrics().Computed != 1 {
		t.Error("computed again when requested")
	}
	if got := get(t, l, lazy.Map(f, lazy.Of([]int{1, 2}))); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("an eager function as a pattern: %v", got)
	}
}

func TestInMemoryOnly(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	f := lazy.Func1("f", square, lazy.Options{Version: "1", Keep: lazy.KeepInMemory})
	if n := computed(l, func() { get(t, l, f(lazy.Of(3))); get(t, l, f(lazy.Of(3))) }); n != 1 {
		t.Errorf("%d executions in one process", n)
	}
	u, err := l.Store().Usage(t.Context())
	if err != nil || u.Records != 0 {
		t.Errorf("%d records in the store, %v", u.Records, err)
	}
}

func TestProgressAndPlan(t *testing.T) {
	l := open(t, t.TempDir())
	get(t, l, sq(lazy.Of(2)))
	v := sum(sq(lazy.Of(2)), sq(lazy.Of(3)), sq(lazy.Of(4)))
	p, err := lazy.PlanOf(t.Context(), l, v)
	if err != nil || p.Load != 1 || p.Compute != 3 {
		t.Errorf("plan: to load %d, to compute %d, %v", p.Load, p.Compute, err)
	}
	var last lazy.Progress
	calls := 0
	if _, err := lazy.Get(t.Context(), l, v, lazy.Evaluation{Pool: pool.New(2), Progress: func(p lazy.Progress) { last = p; calls++ }}); err != nil {
		t.Fatal(err)
	}
	if calls != 4 || last.Computed != 3 || last.Loaded != 1 || last.Waiting != 0 || last.Node != "sum" {
		t.Errorf("%d calls, the last %+v", calls, last)
	}
}

func TestWhy(t *testing.T) {
	l := open(t, t.TempDir())
	get(t, l, sum(lazy.Of(1), sq(lazy.Of(2)), lazy.Of(3)))
	why := func(v lazy.Node) string {
		lines, err := lazy.Why(t.Context(), l, v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	if got := why(sum(lazy.Of(1), sq(lazy.Of(2)), lazy.Of(3))); got != "" {
		t.Errorf("a value that is cached: %s", got)
	}
	if got := why(sum(lazy.Of(1), sq(lazy.Of(2)), lazy.Of(4))); got != "sum: argument 2: changed (3 -> 4)" {
		t.Errorf("another argument: %s", got)
	}
	if got := why(sum(lazy.Of(1), sq(lazy.Of(5)), lazy.Of(3))); !strings.Contains(got, "sq: argument 0: changed (2 -> 5)") {
		t.Errorf("another argument below: %s", got)
	}
	newer := lazy.Func1("sq", square, lazy.Options{Version: "2"})
	if got := why(newer(lazy.Of(2))); got != "sq: code: changed (version 1 -> version 2)" {
		t.Errorf("another version: %s", got)
	}
	if got := why(join(lazy.Of("x"))); got != "join: not computed before" {
		t.Errorf("nothing before: %s", got)
	}
}

func TestVerification(t *testing.T) {
	dir := t.TempDir()
	var n atomic.Int64
	counter := lazy.Func1("counter", func(_ context.Context, x int) (int64, error) { return n.Add(1), nil },
		lazy.Options{Version: "1", Captured: map[string]any{"n": 0}})
	run := func(o larder.Options) []larder.Mismatch {
		var found []larder.Mismatch
		o.Dir, o.Verify.Found = dir, func(m larder.Mismatch) { found = append(found, m) }
		l, err := larder.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		get(t, l, sq(lazy.Of(3)))
		if got := get(t, l, counter(sq(lazy.Of(3)))); got != 1 {
			t.Errorf("a verified hit gave %d", got)
		}
		return found
	}
	if m := run(larder.Options{}); len(m) != 0 {
		t.Errorf("first run: %v", m)
	}
	all := larder.Verification{Sample: 1}
	m := run(larder.Options{Verify: all})
	if len(m) != 1 || m[0].Node != "counter" {
		t.Errorf("verified: %v", m)
	}
	t.Setenv("LARDER_VERIFY", "1/1")
	if m := run(larder.Options{}); len(m) != 1 {
		t.Errorf("by the environment: %v", m)
	}
	t.Setenv("LARDER_VERIFY", "often")
	if _, err := larder.Open(larder.Options{Dir: dir}); err == nil {
		t.Error("a wrong LARDER_VERIFY was taken")
	}
}

// A value that was released after its use may be needed by a node found later.
func TestSharedNodesFarApart(t *testing.T) {
	for name, keep := range map[string]lazy.Keep{"cached": lazy.KeepOnDisk, "not cached": lazy.KeepNot, "in memory": lazy.KeepInMemory} {
		t.Run(name, func(t *testing.T) {
			l := open(t, t.TempDir())
			shared := lazy.Func1("shared", func(_ context.Context, x int) ([]int, error) { return []int{x}, nil }, lazy.Options{Version: "1", Keep: keep})
			first := lazy.Func1("first", func(_ context.Context, x []int) (int, error) { return x[0], nil }, v1)
			n := computed(l, func() {
				v := lazy.Of(0)
				for i := range 20 {
					// Each step uses a node that an earlier step has used and released.
					v = sum(v, first(shared(lazy.Of(i%3))), first(shared(lazy.Of(7))))
				}
				if got, err := lazy.Get(t.Context(), l, v, lazy.Evaluation{Pool: pool.New(1)}); got != 7*20+19 || err != nil {
					t.Errorf("got %d, %v", got, err)
				}
			})
			if want := int64(20 + 4 + 4); keep != lazy.KeepNot && n != want {
				t.Errorf("%d executions, want %d", n, want)
			}
		})
	}
}

// TestVerificationOfSharedNodes checks that each node of a tree with shared subtrees is checked once.
func TestVerificationOfSharedNodes(t *testing.T) {
	dir := t.TempDir()
	const depth = 25
	tree := func() lazy.Value[int] {
		v := lazy.Of(1)
		for range depth {
			v = sum(halve(v), halve(v), lazy.Of(3))
		}
		return v
	}
	get(t, open(t, dir), tree())
	l, err := larder.Open(larder.Options{Dir: dir, MemoryBytes: -1, Verify: larder.Verification{Sample: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	get(t, l, tree())
	if m := l.Metrics(); m.Verified > 2*depth || m.Verified == 0 || m.Mismatches != 0 {
		t.Errorf("%d checks of at most %d results, %d mismatches", m.Verified, 2*depth, m.Mismatches)
	}
}

func TestInMemoryOnlyWithRecordedInputs(t *testing.T) {
	l := open(t, t.TempDir())
	f := lazy.Func1("environment", func(ctx context.Context, name string) (string, error) { return larder.Getenv(ctx, name), nil },
		lazy.Options{Version: "1", Keep: lazy.KeepInMemory})
	for _, v := range []string{"a", "a", "b", "a"} {
		t.Setenv("LARDER_TEST_VALUE", v)
		if got := get(t, l, f(lazy.Of("LARDER_TEST_VALUE"))); got != v {
			t.Errorf("got %q, want %q", got, v)
		}
	}
	u, err := l.Store().Usage(t.Context())
	if n := l.Metrics().Computed; n != 2 || err != nil || u.Records != 0 {
		t.Errorf("%d executions, %d records in the store, %v", n, u.Records, err)
	}
}

// TestLibraryFunctions checks that a standard library function used directly as a lazy function must not read external state.
func TestLibraryFunctions(t *testing.T) {
	l := open(t, t.TempDir())
	if got := get(t, l, lazy.Lift1("upper", strings.ToUpper, lazy.Options{})(lazy.Of("a"))); got != "A" {
		t.Errorf("got %s", got)
	}
	_, err := lazy.Lift1("env", os.Getenv, lazy.Options{})(lazy.Of("HOME")).Get(t.Context(), l)
	if err == nil || !strings.Contains(err.Error(), "os.Getenv depends on the environment") {
		t.Errorf("got %v", err)
	}
	if _, err := lazy.Lift1("env", os.Getenv, lazy.Options{Pure: []string{"os.Getenv"}})(lazy.Of("HOME")).Get(t.Context(), l); err != nil {
		t.Errorf("declared as Pure: %v", err)
	}
}

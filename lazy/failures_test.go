package lazy_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/lazy"
)

// These tests cover failures of other memoizers: wrong hits first, then missed hits, then crashes and waste.

// text returns its arguments as a string that distinguishes them all.
var text = lazy.Func1("text", func(_ context.Context, v any) (string, error) { return cmp.Diff(nil, v), nil },
	lazy.Options{Version: "1"})

// A key that joins its parts without lengths and types confuses these.
func TestArgumentsThatOthersConfuse(t *testing.T) {
	l := open(t, t.TempDir())
	arr := func(shape []int, v ...float32) any {
		n := 1
		for _, d := range shape {
			n *= d
		}
		a := array.Array{DType: array.Float32, Shape: shape, Data: make([]byte, 4*n)}
		for i, x := range v {
			binary.LittleEndian.PutUint32(a.Data[4*i:], math.Float32bits(x))
		}
		return a
	}
	groups := [][]any{
		{[]string{"a", "b"}, []string{"a<splitter><class 'int'>1<class 'str'>b"}, []string{"ab"}, []string{"", "ab"}, "ab"},
		{1, "1", 1.0, int8(1), true, "true", uint(1), '1'},
		{[]int{}, map[string]int{}, struct{}{}, []string{}, [0]int{}},
		{[]any{[]any{1}, []any{2, 3}}, []any{[]any{1, 2}, []any{3}}, []any{1, 2, 3}},
		{arr([]int{2, 3}, 1, 2, 3, 4, 5, 6), arr([]int{3, 2}, 1, 2, 3, 4, 5, 6), arr([]int{6}, 1, 2, 3, 4, 5, 6)},
		{arr([]int{0, 3}), arr([]int{3, 0}), arr([]int{0})},
		{arr([]int{1, 3}, .10, .20, .05), arr([]int{1, 3}, .30, .45, .20), arr([]int{1, 3}, 0, 0, 0)},
		{arr([]int{2}, 3, 1), arr([]int{2}, 1, 2), arr([]int{2}, 1, 3), arr([]int{3}, 3, 1, 0)},
	}
	seen := map[string]any{}
	for _, group := range groups {
		for _, v := range group {
			k, err := text(lazy.Of(v)).Key(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := seen[k.String()]; taken {
				t.Errorf("%T %v and %T %v have one key", v, v, other, other)
			}
			seen[k.String()] = v
		}
	}
}

// TestEveryElementCounts checks that one changed value among many changes the key: nothing is sampled or left out.
func TestEveryElementCounts(t *testing.T) {
	l := open(t, t.TempDir())
	values := make([]float64, 150_528)
	before := get(t, l, total(lazy.Of(append([]float64{}, values...))))
	for _, i := range []int{1, 500, 75_000, len(values) - 1} {
		changed := append([]float64{}, values...)
		changed[i] = 0.25
		if got := get(t, l, total(lazy.Of(changed))); got != before+0.25 {
			t.Errorf("element %d changed: %v", i, got)
		}
	}
}

func TestOneNameForTwoFunctions(t *testing.T) {
	l := open(t, t.TempDir())
	one := lazy.Func1("namesake", func(_ context.Context, x int) (int, error) { return x + 1, nil }, v1)
	two := lazy.Func1("namesake", func(_ context.Context, x int) (int, error) { return x + 2, nil }, v1)
	if got := get(t, l, one(lazy.Of(1))); got != 2 {
		t.Errorf("got %d", got)
	}
	if _, err := two(lazy.Of(1)).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "names of their own") {
		t.Errorf("another function of that name and version: %v", err)
	}
	// Without a version it is identified by its code.
	three := lazy.Func1("nameless", func(_ context.Context, x int) (int, error) { return x + 3, nil })
	four := lazy.Func1("nameless", func(_ context.Context, x int) (int, error) { return x + 4, nil })
	a, b := get(t, l, three(lazy.Of(1))), get(t, l, four(lazy.Of(1)))
	if a != 4 || b != 5 {
		t.Errorf("two functions of one name gave %d and %d", a, b)
	}
}

// TestTypesComeBack checks that values keep their types.
func TestTypesComeBack(t *testing.T) {
	l := open(t, t.TempDir())
	type point struct{ X, Y int }
	type record struct {
		P    *point
		List []point
		None []int
		Set  map[point]bool
	}
	f := lazy.Func1("record", func(_ context.Context, x int) (record, error) {
		return record{&point{x, 2}, []point{{3, 4}}, nil, map[point]bool{{5, 6}: true}}, nil
	}, v1)
	want := record{&point{1, 2}, []point{{3, 4}}, nil, map[point]bool{{5, 6}: true}}
	for range 2 {
		if got := get(t, l, f(lazy.Of(1))); !cmp.Equal(got, want) {
			t.Errorf("got %+v", got)
		}
	}
	null := lazy.Func1("null", func(_ context.Context, p *point) (*point, error) { return p, nil }, v1)
	for range 2 {
		if got := get(t, l, null(lazy.Of[*point](nil))); got != nil {
			t.Errorf("nil came back as %+v", got)
		}
	}
}

// TestHitsThatOthersMiss checks that equal values have one key: sets and maps in any order, and rebuilt values.
func TestHitsThatOthersMiss(t *testing.T) {
	l := open(t, t.TempDir())
	set := lazy.Func1("set", func(_ context.Context, m map[string]int) (int, error) { return len(m), nil }, v1)
	n := computed(l, func() {
		for range 20 {
			m := map[string]int{}
			for _, k := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				m[k] = len(k)
			}
			get(t, l, set(lazy.Of(m)))
		}
	})
	if n != 1 {
		t.Errorf("%d executions for one map", n)
	}
}

// TestRecordsThatGoAway checks that another process may delete records at any time.
func TestRecordsThatGoAway(t *testing.T) {
	dir := t.TempDir()
	l, cleaner := open(t, dir), open(t, dir)
	var calls atomic.Int64
	f := lazy.Func1("goes away", func(_ context.Context, x int) (int, error) { calls.Add(1); return x, nil },
		lazy.Options{Version: "1", Captured: map[string]any{"calls": 0}})
	top := lazy.Func1("above", func(_ context.Context, x int) (int, error) { return -x, nil }, v1)
	for i := range int64(3) {
		fresh, err := larder.Open(larder.Options{Dir: dir, MemoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		if got := get(t, fresh, top(f(lazy.Of(5)))); got != -5 || calls.Load() != i+1 {
			t.Errorf("round %d: %d after %d executions", i, got, calls.Load())
		}
		if err := fresh.Close(); err != nil {
			t.Fatal(err)
		}
		for info, err := range cleaner.Store().Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if err := cleaner.Store().Delete(t.Context(), info.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = l
}

// TestDamageIsNoAnswer checks that records with flipped bits are never returned.
func TestDamageIsNoAnswer(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	big := lazy.Func1("big", func(_ context.Context, n int) ([]byte, error) { return []byte(strings.Repeat("larder", n)), nil }, v1)
	want := string(get(t, l, big(lazy.Of(1000))))
	flipped := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if at := strings.Index(string(b), "larderlarder"); err == nil && at >= 0 {
			flipped++
			b[at+2] ^= 1
			return os.WriteFile(path, b, 0o600)
		}
		return err
	})
	if err != nil || flipped == 0 {
		t.Fatalf("%d files were damaged, %v", flipped, err)
	}
	other, err := larder.Open(larder.Options{Dir: dir, MemoryBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if n := computed(other, func() {
		if got := get(t, other, big(lazy.Of(1000))); string(got) != want {
			t.Error("a damaged value was served")
		}
	}); n != 1 {
		t.Errorf("%d executions after damage", n)
	}
}

// TestInterruptedWorkIsNotCached checks that errors are not cached, as they would be permanent.
func TestInterruptedWorkIsNotCached(t *testing.T) {
	l := open(t, t.TempDir())
	calls := 0
	f := lazy.Func1("interrupted", func(ctx context.Context, x int) (int, error) {
		calls++
		return x, ctx.Err()
	}, lazy.Options{Version: "1", Captured: map[string]any{"calls": 0}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f(lazy.Of(1)).Get(ctx, l); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := get(t, l, f(lazy.Of(1))); got != 1 || calls != 1 {
		t.Errorf("got %d after %d calls", got, calls)
	}
}

package declared_test

import (
	"context"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
	"github.com/larder-data/larder/lazy/internal/declared"
	"github.com/larder-data/larder/store/memory"
)

func open(t *testing.T, dir string) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// want requests a value and checks how many computations that takes.
func want[T comparable](t *testing.T, l *larder.Larder, v lazy.Value[T], value T, computed int64) {
	t.Helper()
	before := l.Metrics().Computed
	got, err := v.Get(t.Context(), l)
	if err != nil || got != value {
		t.Errorf("got %v, %v; want %v", got, err, value)
	}
	if n := l.Metrics().Computed - before; n != computed && computed >= 0 {
		t.Errorf("%v: %d computations, want %d", value, n, computed)
	}
}

// TestInputs checks that the value of an input variable counts at each call. That includes nodes requested before and
// values computed from them.
func TestInputs(t *testing.T) {
	defer func(was int) { declared.Rate = was }(declared.Rate)
	dir := t.TempDir()
	l := open(t, dir)
	node := declared.Scaled(lazy.Of(10))
	above := declared.Plain(node)
	want(t, l, above, 21, -1) // the first has the functions identified
	want(t, l, above, 21, 0)
	declared.Rate = 3
	want(t, l, node, 30, 1)
	want(t, l, above, 31, 1)
	want(t, l, declared.Scaled(lazy.Of(10)), 30, 0)
	declared.Rate = 2
	want(t, l, above, 21, 0)
	want(t, l, node, 20, 0)
	other := open(t, dir)
	want(t, other, declared.Plain(declared.Scaled(lazy.Of(10))), 21, 0)
	declared.Rate = 4
	want(t, other, declared.Plain(declared.Scaled(lazy.Of(10))), 41, 2)
}

// TestInputsByContent checks that the value a variable refers to counts.
func TestInputsByContent(t *testing.T) {
	l := open(t, t.TempDir())
	want(t, l, declared.Looked(lazy.Of("a")), 1, -1)
	declared.Table["a"][0] = 5
	want(t, l, declared.Looked(lazy.Of("a")), 5, 1)
	declared.Table["a"] = []int{1}
	want(t, l, declared.Looked(lazy.Of("a")), 1, 0)
	if _, err := declared.Home().Get(t.Context(), l); err != nil {
		t.Errorf("a variable that the environment gives its value: %v", err)
	}
}

// TestInputChangesMeanwhile checks that a result is not stored if an input variable changes while the function runs.
func TestInputChangesMeanwhile(t *testing.T) {
	defer func(was int) { declared.Rate = was }(declared.Rate)
	l := open(t, t.TempDir())
	declared.SetBetween(func() { declared.Rate++ })
	_, err := declared.Slow(lazy.Of(1)).Get(t.Context(), l)
	if err == nil || !strings.Contains(err.Error(), "declared.Rate changed while it was used") {
		t.Errorf("got %v", err)
	}
	declared.SetBetween(func() {})
	want(t, l, declared.Slow(lazy.Of(1)), declared.Rate, 1)
}

// TestBarred checks that a type that no code identity covers is refused, without other types being refused for it.
func TestBarred(t *testing.T) {
	l := open(t, t.TempDir())
	want(t, l, declared.Area(lazy.Of[declared.Shape](declared.Square{Side: 3})), 9, -1)
	_, err := declared.Area(lazy.Of[declared.Shape](declared.Moody{Side: 3})).Get(t.Context(), l)
	if err == nil || !strings.Contains(err.Error(), "declared.Moody, whose methods reach time.Now (the clock)") {
		t.Errorf("got %v", err)
	}
	want(t, l, declared.Text(lazy.Of[any](declared.Moody{Side: 3})), "{3}", -1) // nothing calls its method
	want(t, l, declared.Framed(declared.Square{Side: 3}), 4, -1)
	want(t, l, declared.Drawn(), 2, -1)
	defer func(was declared.Shape) { declared.Current = was }(declared.Current)
	declared.Current = declared.Moody{Side: 3}
	for what, v := range map[string]lazy.Value[int]{"captured": declared.Framed(declared.Moody{Side: 3}), "as an input": declared.Drawn()} {
		if n, err := v.Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "declared.Moody, whose methods reach time.Now (the clock)") {
			t.Errorf("%s: got %v, %v", what, n, err)
		}
	}
}

// inInit is the result of requesting a value during program initialization.
var inInit = func() error {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		return err
	}
	_, err = declared.Plain(lazy.Of(1)).Get(context.Background(), l)
	return err
}()

// TestNothingIsComputedByInit checks that init functions cannot compute, as package variables may not have their values
// yet.
func TestNothingIsComputedByInit(t *testing.T) {
	if inInit == nil || !strings.Contains(inInit.Error(), "init functions of the program still run") {
		t.Errorf("got %v", inInit)
	}
}

// TestSettingsThatChange checks that, after a change of GODEBUG, earlier results are not returned and nothing is stored.
func TestSettingsThatChange(t *testing.T) {
	l := open(t, t.TempDir())
	want(t, l, declared.Plain(lazy.Of(10)), 11, -1)
	t.Run("changed", func(t *testing.T) {
		t.Setenv("GODEBUG", "panicnil=1")
		for _, n := range []int{10, 20} {
			if _, err := declared.Plain(lazy.Of(n)).Get(t.Context(), l); err == nil || !strings.Contains(err.Error(), "GODEBUG") {
				t.Errorf("error %v", err)
			}
		}
	})
	want(t, l, declared.Plain(lazy.Of(10)), 11, 0)
	want(t, l, declared.Plain(lazy.Of(20)), 21, 1)
}

package larder_test

import (
	"context"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// TestForget checks that a forgotten value is computed again, by this Larder and by others of the directory.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	a, err := key.NewAction("answer", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ask := func(l *larder.Larder, want int) {
		t.Helper()
		got, err := larder.Do(t.Context(), l, a, func(context.Context) (int, error) { n++; return n, nil })
		if err != nil || got != want {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
	}
	l := openIn(t, dir)
	ask(l, 1)
	ask(l, 1)
	if err := l.Forget(t.Context(), a.Key()); err != nil {
		t.Fatal(err)
	}
	ask(l, 2)
	ask(openIn(t, dir), 2)
}

func openIn(t *testing.T, dir string) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

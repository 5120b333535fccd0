package larder_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// closing counts the Close calls of a store.
type closing struct {
	store.Store
	times int
}

func (c *closing) Close() error {
	c.times++
	return c.Store.Close()
}

// TestShared checks that one machine finds the results of another, singly and as a batch, also if it read other files
// than the time before.
func TestShared(t *testing.T) {
	far := memory.New(memory.Options{})
	file, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	write(t, other, "!")
	calls := 0
	compute := func(ctx context.Context) (string, error) {
		calls++
		b, err := larder.ReadFile(ctx, file)
		if string(b) == "two" {
			more, _ := larder.ReadFile(ctx, other)
			b = append(b, more...)
		}
		return string(b), err
	}
	a := newAction(t, "reader", 1)
	machines := []*memory.Store{memory.New(memory.Options{}), memory.New(memory.Options{})}
	ask := func(machine int, batch bool) string {
		t.Helper()
		l, err := larder.Open(larder.Options{Store: machines[machine], Shared: far, MemoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if !batch {
			v, err := larder.Do(t.Context(), l, a, compute)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		calls := []larder.Call[string]{{Action: a, Compute: compute}}
		results, errs := larder.Batch[string]{Calls: calls, Compute: func(ctx context.Context, missing []int) ([]string, error) {
			v, err := compute(ctx)
			return []string{v}, err
		}}.Do(t.Context(), l)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		return results[0].Value
	}
	for i, step := range []struct {
		content string
		machine int
		batch   bool
		want    string
		calls   int
	}{
		{"one", 0, false, "one", 1},
		{"one", 1, false, "one", 1},
		{"two", 0, false, "two!", 2},
		{"two", 1, false, "two!", 2}, // though its own list has only the first file
		{"one", 1, false, "one", 2},
		{"six", 1, false, "six", 3},
		{"six", 0, true, "six", 3},
	} {
		write(t, file, step.content)
		if got := ask(step.machine, step.batch); got != step.want || calls != step.calls {
			t.Fatalf("step %d: %q after %d calls, want %q after %d", i, got, calls, step.want, step.calls)
		}
	}
}

// TestSharedIsClosed checks that a shared store is closed once, with the Larder or when it cannot be opened.
func TestSharedIsClosed(t *testing.T) {
	far := &closing{Store: memory.New(memory.Options{})}
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{}), Shared: far})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Store().Put(t.Context(), store.Record{Key: newAction(t, "own", 1).Key()}); err != nil {
		t.Fatal(err)
	}
	if u, err := far.Usage(t.Context()); err != nil || u.Records != 0 {
		t.Errorf("the store of the machine is shared: %+v, %v", u, err)
	}
	if err := l.Close(); err != nil || far.times != 1 {
		t.Errorf("closed %d times, %v", far.times, err)
	}
	if _, err := larder.Open(larder.Options{Dir: "/dev/null/none", Shared: far}); err == nil || far.times != 2 {
		t.Errorf("closed %d times, %v", far.times, err)
	}
}

package dataset_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// TestOnce checks that all callers get the result of one execution, and that errors and
// panics are not cached.
func TestOnce(t *testing.T) {
	var o dataset.Once[int]
	bad := errors.New("bad")
	if _, err := o.Get(t.Context(), func(context.Context) (int, error) { return 0, bad }); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = o.Get(t.Context(), func(context.Context) (int, error) { panic("bad") })
	}()
	var calls atomic.Int32
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if v, err := o.Get(t.Context(), func(context.Context) (int, error) { calls.Add(1); return 7, nil }); v != 7 || err != nil {
				t.Error(v, err)
			}
		})
	}
	wait.Wait()
	if calls.Load() != 1 {
		t.Errorf("it was made %d times", calls.Load())
	}
}

// TestDeferred checks that a deferred item equals the item that it makes, and makes it once.
func TestDeferred(t *testing.T) {
	calls := 0
	it := dataset.Deferred("a cell", func(context.Context) (*dataset.Item, error) {
		calls++
		return dataset.NewBytes("txt", []byte("abc")), nil
	})
	v, err := it.Value(t.Context())
	ref, rerr := it.Ref(t.Context())
	ext, eerr := it.Ext(t.Context())
	if err := errors.Join(err, rerr, eerr); err != nil || v != "abc" || ext != "txt" || ref != key.Content(key.DigestOf([]byte("abc"))) || calls != 1 {
		t.Errorf("%v, %v, %q after %d calls, %v", v, ref, ext, calls, err)
	}
}

package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/pool"
)

var errBad = errors.New("bad")

// crowd counts the elements that run.
type crowd struct {
	mu        sync.Mutex
	now, most int
}

// work takes one second.
func (c *crowd) work(context.Context, int) error {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	time.Sleep(time.Second)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return nil
}

func TestEachIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		if err := pool.New(3).Each(t.Context(), 100, c.work); err != nil || c.most != 3 {
			t.Errorf("%d concurrent elements by 3 workers, %v", c.most, err)
		}
	})
}

// TestUnsharedPoolIsBounded covers a pass of an unshared pool, and one within a slot, which waits for no slots.
func TestUnsharedPoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		if err := (*pool.Pool)(nil).Each(t.Context(), 100, c.work); err != nil || c.most != runtime.GOMAXPROCS(0) {
			t.Errorf("%d concurrent elements on %d processors, %v", c.most, runtime.GOMAXPROCS(0), err)
		}
		c = crowd{}
		err := pool.New(1).Do(t.Context(), func(ctx context.Context) error { return pool.New(3).Each(ctx, 100, c.work) })
		if err != nil || c.most != 3 {
			t.Errorf("within a slot, %d concurrent elements by 3 workers, %v", c.most, err)
		}
	})
}

// Work in a slot takes no other slot: it could wait for itself.
func TestWhatHasASlotTakesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := pool.New(1), pool.New(1)
		err := one.Each(t.Context(), 3, func(ctx context.Context, _ int) error {
			return other.Each(ctx, 3, func(ctx context.Context, _ int) error {
				return one.Do(ctx, func(ctx context.Context) error {
					for _, err := range each(3, func(_ context.Context, i int) (int, error) { return i, nil }).stream(ctx, one) {
						if err != nil {
							return err
						}
					}
					return nil
				})
			})
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestDoEndsWithItsContext checks that waiting for a slot ends with the context.
func TestDoEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(1)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			_ = p.Do(t.Context(), func(context.Context) error { time.Sleep(time.Hour); return nil })
		}()
		synctest.Wait()
		go func() { time.Sleep(time.Second); cancel(errBad) }()
		start := time.Now()
		if err := p.Do(ctx, func(context.Context) error { return nil }); !errors.Is(err, errBad) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		synctest.Wait()
		time.Sleep(time.Hour)
	})
}

// TestPoolIsShared checks that many passes of one pool run no more elements concurrently than one pass.
func TestPoolIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		p := pool.New(2)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if err := p.Each(t.Context(), 10, c.work); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if c.most != 2 {
			t.Errorf("%d concurrent elements under a bound of 2", c.most)
		}
	})
}

func TestEachVisitsEachOnce(t *testing.T) {
	var seen [1000]atomic.Int64
	err := pool.New(8).Each(t.Context(), len(seen), func(_ context.Context, i int) error {
		seen[i].Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if seen[i].Load() != 1 {
			t.Fatalf("element %d was visited %d times", i, seen[i].Load())
		}
	}
}

// TestRangesEndWithTheFirstFailure checks that ranges end there and repeat nothing.
func TestRangesEndWithTheFirstFailure(t *testing.T) {
	for _, workers := range []int{1, 4} {
		seen := make([]atomic.Int64, 10_000)
		err := pool.New(workers).Ranges(t.Context(), len(seen), func(_ context.Context, from, to int) (int, error) {
			for i := from; i < to; i++ {
				if i == 5000 {
					return i - from, errBad
				}
				seen[i].Add(1)
			}
			return to - from, nil
		})
		if !errors.Is(err, errBad) {
			t.Error(err)
		}
		for i := range seen {
			if n := seen[i].Load(); n > 1 || workers == 1 && (n == 1) != (i < 5000) {
				t.Fatalf("%d workers: %d was done %d times", workers, i, n)
			}
		}
	}
}

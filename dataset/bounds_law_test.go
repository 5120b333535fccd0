package dataset_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
)

// crowd counts those who are at work.
type crowd struct {
	mu        sync.Mutex
	now, most int
}

// work is a second of it.
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

func TestParallelIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		if err := dataset.Parallel(t.Context(), 100, 3, c.work); err != nil || c.most != 3 {
			t.Errorf("%d elements at once by 3 workers, %v", c.most, err)
		}
	})
}

// TestBoundIsShared: under one bound, many calls work on no more at once than
// one would.
func TestBoundIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		ctx := dataset.Bounded(t.Context(), 2)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if err := dataset.Parallel(ctx, 10, 2, c.work); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if c.most != 2 {
			t.Errorf("%d elements at once under a bound of 2", c.most)
		}
	})
}

// TestCacheBytesFollowReads: a byte bound counts values that are read after
// their sample was cached.
func TestCacheBytesFollowReads(t *testing.T) {
	ds := dataset.Func(10, func(_ context.Context, i int) (dataset.Sample, error) {
		text := strings.Repeat(fmt.Sprint(i), 10_000)
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", []byte(text))}), nil
	})
	c, err := dataset.Cached(ds, cache.Options{Policy: "lru", Bytes: 35_000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if values(t, c, "a"); !c.Held(9) {
		t.Error("the last sample is not in memory")
	}
	held := 0
	for i := range 10 {
		if c.Held(i) {
			held++
		}
	}
	if held != 3 {
		t.Errorf("%d values of 10 000 bytes are held in 35 000", held)
	}
}

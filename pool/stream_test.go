package pool_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/pool"
)

// elements can be computed one by one.
type elements struct {
	n  int
	at func(ctx context.Context, i int) (int, error)
}

func each(n int, at func(ctx context.Context, i int) (int, error)) elements { return elements{n, at} }

func (e elements) stream(ctx context.Context, p *pool.Pool) iter.Seq2[int, error] {
	return pool.Stream(ctx, p, e.n, func(ctx context.Context, from, to int) (made []int, err error) {
		for start := time.Now(); from < to && (len(made) == 0 || time.Since(start) < pool.Patience); from++ {
			v, err := e.at(ctx, from)
			if err != nil {
				return made, err
			}
			made = append(made, v)
		}
		return made, nil
	})
}

// slow yields n numbers that each take a while, earlier ones longer, and counts those running and started.
func slow(n int, begun, under, most *atomic.Int64) elements {
	return each(n, func(ctx context.Context, i int) (int, error) {
		begun.Add(1)
		if u := under.Add(1); u > most.Load() {
			most.Store(u)
		}
		defer under.Add(-1)
		select {
		case <-time.After(time.Duration(n-i) * time.Millisecond):
			return i, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
}

func TestStreamKeepsOrderAndHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, workers = 50, 4
		var begun, under, most atomic.Int64
		var got []int
		for v, err := range slow(n, &begun, &under, &most).stream(t.Context(), pool.New(workers)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
			synctest.Wait()
			time.Sleep(time.Second) // a slow consumer: let the workers get as far as they may
			synctest.Wait()
			if ahead := int(begun.Load()) - len(got); ahead > 2*workers+1 {
				t.Fatalf("%d elements are ahead of a slow consumer", ahead)
			}
		}
		if len(got) != n || !slices.IsSorted(got) {
			t.Errorf("got %v", got)
		}
		if most.Load() > workers {
			t.Errorf("%d concurrently with %d workers", most.Load(), workers)
		}
	})
}

func TestStreamEndsWithItsConsumer(t *testing.T) {
	defer goleak.VerifyNone(t)
	var begun, under, most atomic.Int64
	for v, err := range slow(1000, &begun, &under, &most).stream(t.Context(), pool.New(4)) {
		if err != nil || v != 0 {
			t.Fatal(v, err)
		}
		break
	}
	if under.Load() != 0 {
		t.Errorf("%d still under way", under.Load())
	}
}

func TestStreamStopsAtTheFirstError(t *testing.T) {
	boom := errors.New("boom")
	ds := each(100, func(_ context.Context, i int) (int, error) {
		if i == 7 {
			return 0, boom
		}
		return i, nil
	})
	n := 0
	var last error
	for _, err := range ds.stream(t.Context(), pool.New(3)) {
		n++
		last = err
	}
	if n != 8 || !errors.Is(last, boom) {
		t.Errorf("%d elements, the last with error %v", n, last)
	}
}

func TestStreamOfACancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var begun, under, most atomic.Int64
	defer cancel()
	n := 0
	var last error
	for _, err := range slow(1000, &begun, &under, &most).stream(ctx, pool.New(2)) {
		n++
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n > 6 {
		t.Errorf("%d elements, the last with error %v", n, last)
	}
}

// TestStreamEndsWaitingWorkers checks that workers that wait for the consumer end when it leaves.
func TestStreamEndsWaitingWorkers(t *testing.T) {
	defer goleak.VerifyNone(t)
	ds := each(1<<20, func(_ context.Context, i int) (int, error) { return i, nil })
	for leave := range 50 {
		for v, err := range ds.stream(t.Context(), pool.New(3)) {
			if err != nil {
				t.Fatal(err)
			}
			if v == leave {
				break
			}
		}
	}
}

// Streams that share a pool stay within its limit together.
func TestStreamsShareAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(2)
		var under, most atomic.Int64
		ds := each(40, func(ctx context.Context, i int) (int, error) {
			now := under.Add(1)
			defer under.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			time.Sleep(time.Second)
			// Parallel work of an element belongs to that element.
			return i, p.Each(ctx, 3, func(context.Context, int) error { return nil })
		})
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for _, err := range ds.stream(t.Context(), p) {
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if most.Load() > 2 {
			t.Errorf("%d concurrently, and 2 are allowed", most.Load())
		}
	})
}

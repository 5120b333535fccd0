package pool_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/pool"
)

// ended is a context that has ended: a call that must wait fails, and one that need not succeeds.
func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(errBad)
	return ctx
}

func mustTake(t *testing.T, ctx context.Context, bytes int64) (done func()) {
	t.Helper()
	done, err := pool.Reserve(ctx, bytes)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// mustFit fails unless n bytes can be taken without waiting.
func mustFit(t *testing.T, ctx context.Context, bytes int64) (done func()) {
	t.Helper()
	return mustTake(t, ended(ctx), bytes)
}

// mustWait fails unless taking a byte must wait.
func mustWait(t *testing.T, ctx context.Context) {
	t.Helper()
	if _, err := pool.Reserve(ended(ctx), 1); !errors.Is(err, errBad) {
		t.Fatalf("a byte was taken immediately, with error %v", err)
	}
}

// TestBytesAreBounded checks that all computations together never exceed the limit, in slots of any pool.
func TestBytesAreBounded(t *testing.T) {
	const most = 1000
	p := pool.NewBounded(8, most)
	var now, above atomic.Int64
	take := func(ctx context.Context, i int) error {
		n := 1 + rand.New(rand.NewPCG(1, uint64(i))).Int64N(most)
		done, err := pool.Reserve(ctx, n)
		if err != nil {
			return err
		}
		if now.Add(n) > most {
			above.Add(1)
		}
		runtime.Gosched()
		now.Add(-n)
		done()
		return nil
	}
	var wait sync.WaitGroup
	for _, p := range []*pool.Pool{p, p.WithSlots(3)} {
		wait.Go(func() {
			if err := p.Each(t.Context(), 3000, take); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 1000 {
		if err := take(p.Context(t.Context()), i); err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	if above.Load() > 0 {
		t.Errorf("more than the bound was in use %d times", above.Load())
	}
	mustFit(t, p.Context(t.Context()), most)()
}

// TestPoolsHaveBytesOfTheirOwn checks that each pool has its own limit unless one is created with WithSlots.
func TestPoolsHaveBytesOfTheirOwn(t *testing.T) {
	a, b := pool.NewBounded(1, 10), pool.NewBounded(1, 10)
	defer mustTake(t, a.Context(t.Context()), 10)()
	mustFit(t, b.Context(t.Context()), 10)()
	mustWait(t, a.WithSlots(5).Context(t.Context()))
	mustFit(t, t.Context(), 10)()
	mustFit(t, (*pool.Pool)(nil).Context(t.Context()), 10)()
	defer mustTake(t, pool.New(1).Context(t.Context()), int64(512<<20))()
	// Work in a slot takes bytes from the pool of that slot, whichever pool is called.
	err := a.Do(t.Context(), func(ctx context.Context) error {
		return b.Do(b.Context(ctx), func(ctx context.Context) error {
			mustWait(t, ctx)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOneLargerThanTheBoundGoesAlone checks that such a request is not overtaken by later ones.
func TestOneLargerThanTheBoundGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := pool.NewBounded(1, 10).Context(t.Context())
		first := mustTake(t, ctx, 4)
		var order []int64
		var mu sync.Mutex
		var wait sync.WaitGroup
		for i, n := range []int64{math.MaxInt64, 5, 5} {
			wait.Go(func() {
				time.Sleep(time.Duration(i) * time.Second) // they come one after another
				done := mustTake(t, ctx, n)
				mu.Lock()
				order = append(order, n)
				mu.Unlock()
				if n > 10 {
					mustWait(t, ctx)
				}
				time.Sleep(time.Second)
				done()
			})
		}
		time.Sleep(time.Minute)
		if len(order) > 0 {
			t.Errorf("%v went next to another", order)
		}
		first()
		wait.Wait()
		if len(order) != 3 || order[0] != math.MaxInt64 {
			t.Errorf("they went in the order %v", order)
		}
		mustFit(t, ctx, 10)()
	})
}

// TestWaitingForBytesEndsWithTheContext checks that the requests behind a canceled one continue.
func TestWaitingForBytesEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := pool.NewBounded(1, 10).Context(t.Context())
		first := mustTake(t, ctx, 5)
		impatient, cancel := context.WithCancelCause(ctx)
		var failed error
		go func() { _, failed = pool.Reserve(impatient, 8) }()
		synctest.Wait()
		took := false
		go func() {
			defer mustTake(t, ctx, 5)()
			took = true
		}()
		synctest.Wait()
		if took || failed != nil {
			t.Fatalf("one went before another that waited, or that one failed: %v", failed)
		}
		cancel(errBad)
		synctest.Wait()
		if !took || !errors.Is(failed, errBad) {
			t.Errorf("the one that waited behind has taken: %v; the error is %v", took, failed)
		}
		first()
		mustFit(t, ctx, 10)()
	})
}

// TestBytesOfOneComputationBelongTogether checks that a computation that requests more bytes does not wait for itself,
// precedes newcomers, and keeps all bytes until it ends.
func TestBytesOfOneComputationBelongTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := pool.NewBounded(1, 10).Context(t.Context())
		one, end := pool.Reservation(ctx)
		mustFit(t, one, 6)()
		inner, done := pool.Reservation(one)
		mustFit(t, inner, 6)() // beyond the limit, as no other computation has any
		done()
		mustWait(t, ctx)
		end()
		one, end = pool.Reservation(ctx)
		mustFit(t, one, 2)
		other, endOther := pool.Reservation(ctx)
		mustFit(t, other, 6)
		go func() { _, _ = pool.Reserve(one, 4) }()
		synctest.Wait()
		newcomer := false
		go func() {
			defer mustTake(t, ctx, 2)()
			newcomer = true
		}()
		synctest.Wait()
		if newcomer {
			t.Error("a newcomer went before one that has bytes")
		}
		mustFit(t, other, 1) // no other computation runs
		endOther()
		synctest.Wait()
		if !newcomer {
			t.Error("a newcomer waits although it fits")
		}
		end()
		mustFit(t, ctx, 10)()
	})
}

// TestBytesWaitForNoCallerWhoWaits checks that two computations that wait for each other end, and that one that waits for
// a slot does, too.
func TestBytesWaitForNoCallerWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.NewBounded(1, 10)
		ctx, end := pool.Reservation(p.Context(t.Context()))
		defer end()
		mustFit(t, ctx, 10)
		mustWait(t, p.Context(t.Context()))
		over := pool.Wait(ctx)
		mustFit(t, p.Context(t.Context()), 1)()
		over()
		mustWait(t, p.Context(t.Context()))
		within := make(chan struct{})
		go func() {
			defer close(within)
			err := p.Do(t.Context(), func(slot context.Context) error {
				within <- struct{}{}
				_, err := pool.Reserve(slot, 5) // until the other one waits for this slot
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}()
		<-within
		if err := p.Do(ctx, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		<-within
	})
}

// TestNestedBytesComeToAnEnd checks that nested computations that take bytes always end, however few the slots. (A
// bubble fails if all goroutines wait.)
func TestNestedBytesComeToAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		few := pool.NewBounded(3, 100)
		many := few.WithSlots(10_000) // a computation that waits for slots within one must not need them
		var compute func(ctx context.Context, p *pool.Pool, random *rand.Rand, depth int) error
		compute = func(ctx context.Context, p *pool.Pool, random *rand.Rand, depth int) error {
			ctx, end := pool.Reservation(ctx)
			defer end()
			for range random.IntN(4) {
				if _, err := pool.Reserve(ctx, random.Int64N(130)); err != nil {
					return err
				}
				time.Sleep(time.Duration(random.IntN(5)))
			}
			if depth == 0 {
				return nil
			}
			seed := random.Uint64()
			if random.IntN(2) == 0 { // in another computation, which this one waits for
				defer pool.Wait(ctx)()
				ctx, p = many.Context(t.Context()), many
			}
			return p.Each(ctx, 1+random.IntN(3), func(ctx context.Context, i int) error {
				return compute(ctx, p, rand.New(rand.NewPCG(seed, uint64(i))), depth-1)
			})
		}
		var wait sync.WaitGroup
		for i := range 200 {
			wait.Go(func() {
				if err := compute(few.Context(t.Context()), few, rand.New(rand.NewPCG(uint64(i), 5)), i%4); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		mustFit(t, few.Context(t.Context()), 100)()
	})
}

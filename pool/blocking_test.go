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

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/pool"
)

// counts holds the number of elements active now, and the maximum.
type counts struct{ now, most atomic.Int64 }

func (c *counts) begin() int64 {
	n := c.now.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	return n
}

func (c *counts) end() { c.now.Add(-1) }

// far waits for another machine.
func far(ctx context.Context, away *counts, wait time.Duration) {
	defer pool.Blocking(ctx, 1000)()
	away.begin()
	defer away.end()
	time.Sleep(wait)
}

// TestAway checks that an element that waits for another machine does not block local work, and that others wait
// concurrently.
func TestAway(t *testing.T) {
	const n, workers, wait = 320, 2, 20 * time.Millisecond
	passes := map[string]func(ctx context.Context, p *pool.Pool, do func(ctx context.Context, i int) error) error{
		"each": func(ctx context.Context, p *pool.Pool, do func(ctx context.Context, i int) error) error {
			return p.Each(ctx, n, do)
		},
		"ranges": func(ctx context.Context, p *pool.Pool, do func(ctx context.Context, i int) error) error {
			return p.Ranges(ctx, n, func(ctx context.Context, from, _ int) (int, error) { return 1, do(ctx, from) })
		},
		"stream": func(ctx context.Context, p *pool.Pool, do func(ctx context.Context, i int) error) error {
			next := 0
			for i, err := range each(n, func(ctx context.Context, i int) (int, error) { return i, do(ctx, i) }).stream(ctx, p) {
				if err != nil {
					return err
				}
				if i != next {
					t.Errorf("%d came in the place of %d", i, next)
				}
				next++
			}
			return nil
		},
	}
	for name, pass := range passes {
		for of, p := range map[string]func() *pool.Pool{"shared": func() *pool.Pool { return pool.New(workers) }, "alone": func() *pool.Pool { return nil }} {
			t.Run(name+"/"+of, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var here, away counts
					var made [n]atomic.Int64
					p := p()
					began := time.Now()
					if err := pass(t.Context(), p, func(ctx context.Context, i int) error {
						if here.begin() > int64(p.Workers()) {
							t.Error("one began while all slots were taken")
						}
						here.end()
						far(ctx, &away, wait)
						made[i].Add(1)
						return nil
					}); err != nil {
						t.Fatal(err)
					}
					for i := range made {
						if k := made[i].Load(); k != 1 {
							t.Errorf("%d was made %d times", i, k)
						}
					}
					if most, took := away.most.Load(), time.Since(began); most != 64+int64(p.Workers()) || took > (n/64+1)*wait {
						t.Errorf("%d were away concurrently, and all took %s", most, took)
					}
				})
			})
		}
	}
}

// TestAwayWithAll checks that each element is computed once, in order, and that the pool ends with as many slots as
// before, whatever takes how long.
func TestAwayWithAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, workers := rapid.IntRange(0, 60).Draw(rt, "n"), rapid.IntRange(1, 4).Draw(rt, "workers")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 4), n, n).Draw(rt, "kinds")
		fails := rapid.IntRange(-30, 60).Draw(rt, "fails")
		synctest.Test(t, func(t *testing.T) {
			p := pool.New(workers)
			var here, away counts
			made := make([]atomic.Int64, n)
			errFails := errors.New("it fails")
			do := func(ctx context.Context, i int) error {
				here.begin()
				switch kinds[i] {
				case 1:
					time.Sleep(3 * time.Millisecond)
				case 2, 3:
					here.end()
					far(ctx, &away, time.Duration(i%7)*time.Millisecond)
					here.now.Add(1)
				case 4:
					here.end()
					far(ctx, &away, 10*time.Millisecond)
					here.now.Add(1)
					time.Sleep(2 * time.Millisecond)
				}
				made[i].Add(1)
				here.end()
				if i == fails {
					return errFails
				}
				return nil
			}
			var both sync.WaitGroup
			both.Go(func() {
				err := p.Ranges(t.Context(), n/2, func(ctx context.Context, from, to int) (int, error) {
					err := do(ctx, from)
					return 1, err
				})
				if want := fails >= 0 && fails < n/2; errors.Is(err, errFails) != want {
					rt.Errorf("%v", err)
				}
			})
			both.Go(func() {
				next := n / 2
				for i, err := range each(n-n/2, func(ctx context.Context, i int) (int, error) { return i + n/2, do(ctx, i+n/2) }).stream(t.Context(), p) {
					if err != nil {
						if !errors.Is(err, errFails) || next != fails {
							rt.Errorf("%d: %v", next, err)
						}
						return
					}
					if i != next {
						rt.Errorf("%d came in the place of %d", i, next)
					}
					next++
				}
				if next != n {
					rt.Errorf("%d of %d came", next, n)
				}
			})
			both.Wait()
			for i := range made {
				if k := made[i].Load(); k > 1 || k == 0 && fails < 0 {
					rt.Errorf("%d was made %d times", i, k)
				}
			}
			here = counts{}
			if err := p.Each(t.Context(), 20, func(context.Context, int) error {
				here.begin()
				defer here.end()
				time.Sleep(time.Millisecond)
				return nil
			}); err != nil || here.most.Load() != int64(workers) {
				rt.Errorf("%d concurrently afterwards, of %d; %v", here.most.Load(), workers, err)
			}
		})
	})
}

// TestBackFromAway checks that an element that returns continues immediately, and others start when slots are free
// again.
func TestBackFromAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(2)
		began := time.Now()
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := p.Each(t.Context(), 8, func(ctx context.Context, i int) error {
				far(ctx, new(counts), time.Millisecond)
				if at := time.Since(began); at != time.Millisecond {
					t.Errorf("%d was back after %s", i, at)
				}
				time.Sleep(time.Duration(10+i) * time.Millisecond)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(2 * time.Millisecond)
		if err := p.Do(t.Context(), func(context.Context) error {
			if at := time.Since(began); at != 17*time.Millisecond { // when one of the eight is left
				t.Errorf("another one began after %s", at)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		wait.Wait()
	})
}

// TestAwayIsBoundedInBytes checks that an element keeps its slot if it would wait for more bytes than all waiting
// elements may.
func TestAwayIsBoundedInBytes(t *testing.T) {
	for bytes, want := range map[int64]int64{16 << 20: 4 + 2, 1 << 40: 1 + 2} {
		synctest.Test(t, func(t *testing.T) {
			var away counts
			if err := pool.New(2).Each(t.Context(), 30, func(ctx context.Context, _ int) error {
				defer pool.Blocking(ctx, bytes)()
				away.begin()
				defer away.end()
				time.Sleep(time.Millisecond)
				return nil
			}); err != nil || away.most.Load() != want {
				t.Errorf("%d waited concurrently for %d bytes each, want %d; %v", away.most.Load(), bytes, want, err)
			}
		})
	}
}

// TestAwayWorksForNoCallerElse checks that an element that takes over a slot, and needs the same result, is not treated as
// part of the element that is away.
func TestAwayWorksForNoCallerElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g singleflight.Group[string, int]
		do := map[string]func(ctx context.Context) error{
			"each": func(ctx context.Context) error {
				return pool.New(1).Each(ctx, 2, func(ctx context.Context, _ int) error {
					_, _, err := g.Do(ctx, "k", "k", func(ctx context.Context) (int, error) {
						far(ctx, new(counts), time.Second)
						return 0, nil
					})
					return err
				})
			},
			"stream": func(ctx context.Context) error {
				for _, err := range each(2, func(ctx context.Context, _ int) (int, error) {
					_, _, err := g.Do(ctx, "k", "k", func(ctx context.Context) (int, error) {
						far(ctx, new(counts), time.Second)
						return 0, nil
					})
					return 0, err
				}).stream(ctx, pool.New(1)) {
					if err != nil {
						return err
					}
				}
				return nil
			},
		}
		for name, do := range do {
			if err := do(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestAnElementThatEndsItsGoroutine checks that a pass ends if an element ends its goroutine, as a failing test does.
func TestAnElementThatEndsItsGoroutine(t *testing.T) {
	p := pool.New(2)
	var made atomic.Int64
	err := p.Each(t.Context(), 5, func(_ context.Context, i int) error {
		made.Add(1)
		if i == 1 {
			runtime.Goexit()
		}
		return nil
	})
	if err == nil {
		t.Error("a pass ended well without an element")
	}
	if err := p.Each(t.Context(), 2, func(context.Context, int) error { made.Add(1); return nil }); err != nil || made.Load() != 7 {
		t.Errorf("%d were made, %v", made.Load(), err)
	}
	for _, err = range pool.Stream(t.Context(), p, 1, func(context.Context, int, int) ([]int, error) { runtime.Goexit(); return nil, nil }) {
	}
	if err == nil {
		t.Error("a stream ended well without its element")
	}
}

// TestAwayWithinAPass checks that a pass within a slot uses that slot, and that others get it only when the whole pass
// is done.
func TestAwayWithinAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(2)
		var here, away counts
		if err := p.Each(t.Context(), 4, func(ctx context.Context, _ int) error {
			here.begin()
			defer here.end()
			return p.Each(ctx, 10, func(ctx context.Context, _ int) error {
				far(ctx, &away, time.Millisecond)
				return nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		if here.most.Load() != 2 || away.most.Load() != 4 {
			t.Errorf("%d concurrently, %d away", here.most.Load(), away.most.Load())
		}
	})
}

// TestAwayOutlives checks that work that continues for others after its initiator ended has no slot to give away.
func TestAwayOutlives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New(1)
		var here counts
		var wait sync.WaitGroup
		for range 3 {
			if err := p.Do(t.Context(), func(ctx context.Context) error {
				begun := make(chan struct{})
				wait.Go(func() {
					back := pool.Blocking(ctx, 0)
					close(begun)
					time.Sleep(5 * time.Millisecond)
					back()
					defer pool.Blocking(ctx, 0)()
					time.Sleep(5 * time.Millisecond)
				})
				<-begun
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			wait.Go(func() {
				_ = p.Do(t.Context(), func(context.Context) error {
					here.begin()
					defer here.end()
					time.Sleep(2 * time.Millisecond)
					return nil
				})
			})
		}
		wait.Wait()
		if here.most.Load() != 1 {
			t.Errorf("%d had the one slot concurrently", here.most.Load())
		}
	})
}

// TestRoundTrips checks a pass in which each take waits for another machine. Workers take many elements together, and
// the waits overlap. No more tasks compute at a time than there are slots, but for a moment.
func TestRoundTrips(t *testing.T) {
	for _, test := range []struct {
		name          string
		n             int
		trip, each    time.Duration // a round trip, and the computation of an element
		most          time.Duration // of the pass
		takes, active int64
	}{
		{"that take much longer than computations", 20_000, time.Second, 0, 20 * time.Second, 600, 8},
		{"that take longer than computations", 20_000, 50 * time.Millisecond, 50 * time.Microsecond, 2 * time.Second, 600, 8},
		{"that take less than computations", 400, time.Second, 10 * time.Second, 2222 * time.Second, 400, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var takes atomic.Int64
				var active counts
				start := time.Now()
				err := pool.New(2).Ranges(t.Context(), test.n, func(ctx context.Context, from, to int) (int, error) {
					takes.Add(1)
					end := pool.RoundTrip(ctx, 0)
					time.Sleep(test.trip)
					end()
					active.begin()
					defer active.end()
					time.Sleep(time.Duration(to-from) * test.each)
					return to - from, nil
				})
				took := time.Since(start)
				if n := takes.Load(); err != nil || n > test.takes || took > test.most || active.most.Load() > test.active {
					t.Errorf("%d takes, %v, %d at a time, %v", n, took, active.most.Load(), err)
				}
			})
		})
	}
}

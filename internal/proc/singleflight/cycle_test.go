package singleflight

import (
	"context"
	"errors"
	"runtime/pprof"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// cycle checks that err reports calls that wait for each other.
func cycle(t *testing.T, err error, path ...string) {
	t.Helper()
	e, ok := errors.AsType[*CycleError](err)
	if !ok || !slices.Equal(e.Path, path) {
		t.Errorf("%v, want a cycle of %v", err, path)
	}
}

func TestACallThatAsksForItself(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, f func(context.Context) (int, error)) (int, error){
		"by its context": func(ctx context.Context, f func(context.Context) (int, error)) (int, error) { return f(ctx) },
		"by another context": func(_ context.Context, f func(context.Context) (int, error)) (int, error) {
			return f(context.Background())
		},
		"by another goroutine": func(ctx context.Context, f func(context.Context) (int, error)) (v int, err error) {
			var wait sync.WaitGroup
			wait.Go(func() { v, err = f(ctx) })
			wait.Wait()
			return v, err
		},
		"by a goroutine's goroutine and another context": func(_ context.Context, f func(context.Context) (int, error)) (v int, err error) {
			var wait sync.WaitGroup
			wait.Go(func() {
				wait.Go(func() { v, err = f(context.Background()) })
			})
			wait.Wait()
			return v, err
		},
		"below other labels": func(_ context.Context, f func(context.Context) (int, error)) (v int, err error) {
			pprof.Do(context.Background(), pprof.Labels("a", "b"), func(ctx context.Context) { v, err = f(ctx) })
			return v, err
		},
		"below no labels": func(_ context.Context, f func(context.Context) (int, error)) (int, error) {
			pprof.SetGoroutineLabels(context.Background())
			return f(context.Background())
		},
		"by a goroutine's goroutine below other labels": func(_ context.Context, f func(context.Context) (int, error)) (v int, err error) {
			pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("a", "b")))
			var outer, inner sync.WaitGroup
			outer.Go(func() {
				inner.Go(func() { v, err = deep(100, func() (int, error) { return f(context.Background()) }) })
				inner.Wait()
			})
			outer.Wait()
			return v, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g Group[int, int]
				var f func(context.Context) (int, error)
				f = func(ctx context.Context) (int, error) {
					v, _, err := g.Do(ctx, 1, "one", func(ctx context.Context) (int, error) { return ask(ctx, f) })
					return v, err
				}
				_, err := f(t.Context())
				cycle(t, err, "one", "one")
				if len(graph.calls) != 0 || len(graph.numbered) != 0 {
					t.Errorf("%d and %d calls left", len(graph.calls), len(graph.numbered))
				}
			})
		})
	}
}

// deep calls f below n others.
func deep(n int, f func() (int, error)) (int, error) {
	if n == 0 {
		return f()
	}
	v, err := deep(n-1, f)
	return v, err
}

// TestTwoThatNeedEachOtherBelowOtherLabels checks two calls that the other's goroutine or
// their own started, in groups of one scope.
func TestTwoThatNeedEachOtherBelowOtherLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, other := Group[string, int]{Scope: "store"}, Group[string, int]{Scope: "store"}
		bare := func(f func(context.Context) (int, error)) (int, error) {
			pprof.SetGoroutineLabels(context.Background())
			return f(context.Background())
		}
		_, _, err := g.Do(t.Context(), "a", "a", func(context.Context) (int, error) {
			return bare(func(ctx context.Context) (int, error) {
				v, _, err := other.Do(ctx, "b", "b", func(context.Context) (int, error) {
					return bare(func(ctx context.Context) (int, error) {
						v, _, err := other.Do(ctx, "a", "a again", func(ctx context.Context) (int, error) {
							<-ctx.Done() // as for a lease that the first one holds
							return 0, context.Cause(ctx)
						})
						return v, err
					})
				})
				return v, err
			})
		})
		cycle(t, err, "a", "b", "a again")
	})
}

// TestLongWaitsAreReported checks that each waiter reports a long wait once.
func TestLongWaitsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var reported []Call
		g := Group[string, int]{Long: func(c Call) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, c)
		}}
		begun := time.Now()
		var ask func(ctx context.Context) (int, error)
		ask = func(ctx context.Context) (int, error) {
			v, _, err := g.Do(ctx, "k", "name", func(context.Context) (int, error) {
				answer := make(chan error)
				time.AfterFunc(time.Second, func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
					defer cancel()
					_, err := ask(ctx)
					answer <- err
				})
				return 0, <-answer
			})
			return v, err
		}
		if _, err := ask(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if len(reported) != 2 || reported[0].Name != "name" || reported[0].Key != "k" || !reported[0].Since.Equal(begun) {
			t.Errorf("reported %+v", reported)
		}
	})
}

// TestCallsThatNeedEachOther checks calls that start separately and then request the next,
// in groups of their own.
func TestCallsThatNeedEachOther(t *testing.T) {
	const calls = 5
	groups := make([]Group[int, int], calls)
	names := []string{"a", "b", "c", "d", "e"}
	var all, begun sync.WaitGroup
	begun.Add(calls)
	errs := make([]error, calls)
	for i := range calls {
		all.Go(func() {
			_, _, errs[i] = groups[i].Do(t.Context(), i, names[i], func(context.Context) (int, error) {
				begun.Done()
				begun.Wait()
				next := (i + 1) % calls
				v, joined, err := groups[next].Do(context.Background(), next, names[next], func(context.Context) (int, error) { return 7, nil })
				if !joined && err == nil {
					return v, nil // the next one failed, and was started again
				}
				return v, err
			})
		})
	}
	all.Wait()
	found := false
	for _, err := range errs {
		if e, ok := errors.AsType[*CycleError](err); ok {
			found = true
			if len(e.Path) != calls+1 || e.Path[0] != e.Path[calls] {
				t.Errorf("path %v", e.Path)
			}
		} else if err != nil {
			t.Error(err)
		}
	}
	if !found {
		t.Error("calls waited for each other and no call reports it")
	}
}

// TestCallsThatMeetAreNoCycle checks two calls that need a third, and one that continues
// after the call that started it.
func TestCallsThatMeetAreNoCycle(t *testing.T) {
	var g Group[string, int]
	ask := func(ctx context.Context, k string, of ...string) (int, error) {
		v, _, err := g.Do(ctx, k, k, func(ctx context.Context) (int, error) {
			sum := 1
			for _, o := range of {
				v, _, err := g.Do(ctx, o, o, func(context.Context) (int, error) { return 1, nil })
				if err != nil {
					return 0, err
				}
				sum += v
			}
			return sum, nil
		})
		return v, err
	}
	var wait sync.WaitGroup
	for range 100 {
		for _, k := range []string{"a", "b"} {
			wait.Go(func() {
				if v, err := ask(t.Context(), k, "c", "d", "c"); v != 4 || err != nil {
					t.Error(v, err)
				}
			})
		}
	}
	wait.Wait()
	_, _, err := g.Do(t.Context(), "outer", "outer", func(ctx context.Context) (int, error) {
		wait.Go(func() {
			<-ctx.Done() // the call has ended
			if v, err := ask(context.WithoutCancel(ctx), "outer"); v != 1 || err != nil {
				t.Error(v, err)
			}
		})
		return 1, nil
	})
	wait.Wait()
	if err != nil {
		t.Error(err)
	}
	var other Group[string, int]
	if v, _, err := g.Do(t.Context(), "k", "of g", func(ctx context.Context) (int, error) {
		v, _, err := other.Do(ctx, "k", "of another", func(context.Context) (int, error) { return 3, nil })
		return v, err
	}); v != 3 || err != nil {
		t.Error(v, err)
	}
}

func TestGroupsOfOneScope(t *testing.T) {
	g, other := Group[string, int]{Scope: "store"}, Group[string, int]{Scope: "store"}
	_, _, err := g.Do(t.Context(), "k", "of g", func(ctx context.Context) (int, error) {
		v, _, err := other.Do(ctx, "k", "of another", func(context.Context) (int, error) { return 3, nil })
		return v, err
	})
	cycle(t, err, "of g", "of another")
}

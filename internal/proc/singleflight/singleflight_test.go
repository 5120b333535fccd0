package singleflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneCallForManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int, int]
		var runs, joined atomic.Int64
		var wait sync.WaitGroup
		for i := range 100 {
			wait.Go(func() {
				v, j, err := g.Do(t.Context(), i%5, "", func(context.Context) (int, error) {
					runs.Add(1)
					time.Sleep(time.Second)
					return i % 5, nil
				})
				if v != i%5 || err != nil {
					t.Error(v, err)
				}
				if j {
					joined.Add(1)
				}
			})
		}
		wait.Wait()
		if runs.Load() != 5 || joined.Load() != 95 || len(g.calls) != 0 {
			t.Errorf("%d runs, %d joined, %d calls left", runs.Load(), joined.Load(), len(g.calls))
		}
	})
}

func TestALateCallerDoesNotGetAStaleCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string, int]
		slowToStop := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Minute) // it is slow to notice
			return 0, ctx.Err()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		go func() {
			time.Sleep(time.Second)
			cancel(why)
		}()
		if _, _, err := g.Do(ctx, "k", "", slowToStop); !errors.Is(err, why) {
			t.Errorf("the waiter got %v", err)
		}
		v, joined, err := g.Do(t.Context(), "k", "", func(context.Context) (int, error) { return 7, nil })
		if v != 7 || joined || err != nil {
			t.Errorf("the late caller got %v, joined %v, error %v", v, joined, err)
		}
		time.Sleep(2 * time.Minute)
	})
}

func TestOneWaiterLeavesAndTheOthersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type valueKey struct{}
		var g Group[string, string]
		first, cancel := context.WithTimeout(context.WithValue(t.Context(), valueKey{}, "of the first"), time.Second)
		defer cancel()
		var wait sync.WaitGroup
		fn := func(ctx context.Context) (string, error) {
			select {
			case <-time.After(time.Hour):
				v, _ := ctx.Value(valueKey{}).(string)
				return v, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		wait.Go(func() {
			if _, _, err := g.Do(first, "k", "", fn); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first waiter got %v", err)
			}
		})
		synctest.Wait()
		if v, joined, err := g.Do(t.Context(), "k", "", fn); v != "of the first" || !joined || err != nil {
			t.Errorf("the second waiter got %q, joined %v, error %v", v, joined, err)
		}
		wait.Wait()
	})
}

func TestPanicsAndGoexitAreErrors(t *testing.T) {
	var g Group[string, int]
	boom := errors.New("boom")
	_, _, err := g.Do(t.Context(), "k", "", func(context.Context) (int, error) { panic(boom) })
	var p *PanicError
	if !errors.As(err, &p) || !errors.Is(err, boom) || !strings.Contains(string(p.Stack), "TestPanicsAndGoexitAreErrors") {
		t.Errorf("a panic gave %v", err)
	}
	if _, _, err := g.Do(t.Context(), "k", "", func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }); !errors.Is(err, errGoexit) {
		t.Errorf("Goexit gave %v", err)
	}
	for _, bad := range []error{(*fragile)(nil), fmt.Errorf("wrapped: %w", &fragile{})} {
		_, _, err := g.Do(t.Context(), "k", "", func(context.Context) (int, error) { return 1, bad })
		if err == nil || errors.Is(err, boom) || !strings.Contains(err.Error(), "fragile") {
			t.Errorf("an error whose methods panic gave %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.Do(ctx, "k", "", func(context.Context) (int, error) { t.Error("called"); return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gave %v", err)
	}
}

// fragile is an error whose methods panic.
type fragile struct{ in *fragile }

func (f *fragile) Error() string { return "fragile" }
func (f *fragile) Unwrap() error { return f.in.in }

func BenchmarkDo(b *testing.B) {
	var g Group[int, int]
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := g.Do(b.Context(), 1, "", func(context.Context) (int, error) { return 1, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDoMany checks that keys that no call computes are computed in one call, and that the
// others are left.
func TestDoMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int, string]
		var wait sync.WaitGroup
		slow := func(context.Context) (string, error) {
			time.Sleep(time.Second)
			return "by another", nil
		}
		wait.Go(func() {
			if v, joined, err := g.Do(t.Context(), 2, "one", slow); v != "by another" || joined || err != nil {
				t.Error(v, joined, err)
			}
		})
		synctest.Wait()
		wait.Go(func() {
			start := time.Now()
			made, claimed, err := g.DoMany(t.Context(), []int{1, 2, 3}, "many", func(_ context.Context, claimed []int) (made []Made[string]) {
				time.Sleep(3 * time.Second)
				for _, i := range claimed {
					made = append(made, Made[string]{Value: strconv.Itoa(i)})
				}
				made[1].Err = io.EOF
				return made
			})
			if err != nil || !slices.Equal(claimed, []int{0, 2}) || made[0].Value != "0" || !errors.Is(made[1].Err, io.EOF) || time.Since(start) != 3*time.Second {
				t.Error(made, claimed, err, time.Since(start))
			}
		})
		synctest.Wait()
		for k, want := range map[int]string{1: "0", 3: "2"} {
			wait.Go(func() {
				if v, joined, err := g.Do(t.Context(), k, "one", slow); v != want || !joined || errors.Is(err, io.EOF) != (k == 3) {
					t.Error(k, v, joined, err)
				}
			})
		}
		wait.Wait()
		if len(g.calls) != 0 {
			t.Errorf("%d calls are left", len(g.calls))
		}
		if made, claimed, err := g.DoMany(t.Context(), nil, "none", nil); made != nil || claimed != nil || err != nil {
			t.Error(made, claimed, err)
		}
	})
}

// TestDoManyIsCancelledWhenNoCallerWaits checks that the call ends when no caller waits for
// any of its keys.
func TestDoManyIsCancelledWhenNoCallerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[int, string]
		ended := make(chan time.Time, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		var wait sync.WaitGroup
		wait.Go(func() {
			_, _, err := g.DoMany(ctx, []int{1, 2}, "many", func(ctx context.Context, _ []int) []Made[string] {
				<-ctx.Done()
				ended <- time.Now()
				return make([]Made[string], 2)
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		synctest.Wait()
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if _, joined, err := g.Do(ctx, 2, "one", nil); !joined || !errors.Is(err, context.DeadlineExceeded) {
				t.Error(joined, err)
			}
		})
		wait.Wait()
		if at := (<-ended).Sub(start); at != 2*time.Second {
			t.Errorf("cancelled after %v", at)
		}
		if v, joined, err := g.Do(t.Context(), 1, "one", func(context.Context) (string, error) { return "new", nil }); v != "new" || joined || err != nil {
			t.Error("a later caller joins what was given up:", v, joined, err)
		}
	})
}

// TestDoManyFindsCycles checks cycles through any of its keys, and that a panic is an error
// of all.
func TestDoManyFindsCycles(t *testing.T) {
	var g Group[int, string]
	made, _, err := g.DoMany(t.Context(), []int{1, 2}, "many", func(ctx context.Context, _ []int) []Made[string] {
		if got := Around(ctx); len(got) != 2 {
			t.Errorf("around it are %v", got)
		}
		_, _, one := g.Do(ctx, 2, "inner", nil)
		_, claimed, many := g.DoMany(ctx, []int{1, 2}, "inner", nil)
		if claimed != nil || many != nil {
			t.Error(claimed, many)
		}
		return []Made[string]{{Err: one}, {}}
	})
	if cycle := (*CycleError)(nil); err != nil || !errors.As(made[0].Err, &cycle) {
		t.Error(made, err)
	}
	made, _, err = g.DoMany(t.Context(), []int{1, 2}, "many", func(context.Context, []int) []Made[string] { panic("no") })
	for _, m := range made {
		if p := (*PanicError)(nil); !errors.As(m.Err, &p) {
			t.Error(m.Err)
		}
	}
	if err != nil || len(made) != 2 {
		t.Error(made, err)
	}
}

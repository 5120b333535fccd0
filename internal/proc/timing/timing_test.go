package timing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/internal/proc/timing"
)

// work is a stage with its own duration and nested stages.
func work(ctx context.Context, kind string, own time.Duration, in ...func(context.Context)) {
	ctx, leave := timing.Enter(ctx, kind, "x")
	defer leave()
	select {
	case <-time.After(own):
	case <-ctx.Done():
	}
	for _, f := range in {
		f(ctx)
	}
}

// TestStagesHaveTheirOwnTime checks that the time of nested stages is subtracted at every
// depth.
func TestStagesHaveTheirOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m timing.Meter
		inner := func(ctx context.Context) { work(ctx, "inner", 5*time.Second) }
		middle := func(ctx context.Context) { work(ctx, "middle", 2*time.Second, inner, inner) }
		work(timing.With(t.Context(), &m), "outer", time.Second, middle, inner)
		want := []timing.Time{
			{Stage: timing.Stage{Kind: "inner", Of: "x"}, Spent: 15 * time.Second, Count: 3},
			{Stage: timing.Stage{Kind: "middle", Of: "x"}, Spent: 2 * time.Second, Count: 1},
			{Stage: timing.Stage{Kind: "outer", Of: "x"}, Spent: time.Second, Count: 1},
		}
		got := m.Times()
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%v, want %v", got[i], want[i])
			}
		}
	})
}

// TestWhatNoCallerMeasuresCostsNothing checks that without a measurement there is neither a
// new context nor a stage to end.
func TestWhatNoCallerMeasuresCostsNothing(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		in, leave := timing.Enter(ctx, "decode", "jpeg")
		if in != ctx {
			t.Error("another context")
		}
		leave()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package dataset

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitersForATurnTakeIt checks that waiters get the lock one after another, and leave
// when their context ends.
func TestWaitersForATurnTakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at turn
		if !at.tryTake() || at.tryTake() {
			t.Fatal("a turn is not taken once")
		}
		start, done := time.Now(), make(chan time.Duration, 3)
		for range 3 {
			go func() {
				if err := at.take(t.Context()); err != nil {
					t.Error(err)
				}
				<-time.After(time.Second)
				at.give()
				done <- time.Since(start)
			}()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := at.take(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		at.give()
		for i := range 3 {
			if got, want := <-done, time.Second/2+time.Duration(i+1)*time.Second; got != want {
				t.Errorf("turn %d ended after %v, want %v", i, got, want)
			}
		}
		if !at.tryTake() {
			t.Error("the turn was not given back")
		}
	})
}

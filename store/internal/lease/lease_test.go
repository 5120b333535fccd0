package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/key"
)

func TestWaitersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table Table
		k := key.Key{1}
		start := time.Now()
		done := make(chan time.Duration, 3)
		for range 3 {
			go func() {
				release, err := table.Acquire(t.Context(), k)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				release()
				done <- time.Since(start)
			}()
		}
		for i := range 3 {
			if got, want := <-done, time.Duration(i+1)*time.Second; got != want {
				t.Errorf("turn %d ended after %v, want %v", i, got, want)
			}
		}
		if len(table.slots) != 0 {
			t.Errorf("%d keys are left in the table", len(table.slots))
		}
	})
}

func TestCancelledWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table Table
		k := key.Key{1}
		release, err := table.Acquire(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := table.Acquire(ctx, k); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := table.Acquire(ctx, key.Key{2}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that ended lends: %v", err)
		}
		release()
		release()
		if len(table.slots) != 0 {
			t.Errorf("%d keys are left in the table", len(table.slots))
		}
	})
}

// TestKeysBorrowedAtOnceAreWaitedFor checks that a caller waits for a key leased with others, and that all are free after
// the release.
func TestKeysBorrowedAtOnceAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table Table
		a, b := key.Key{1}, key.Key{2}
		leased, release := table.TryAcquire([]key.Key{a, b})
		if !leased[0] || !leased[1] {
			t.Fatalf("of two free keys %v are leased", leased)
		}
		start, waited := time.Now(), make(chan time.Duration, 2)
		for range 2 {
			go func() {
				release, err := table.Acquire(t.Context(), a)
				if err != nil {
					t.Error(err)
					return
				}
				waited <- time.Since(start)
				<-time.After(time.Second)
				release()
			}()
		}
		synctest.Wait()
		if leased, _ := table.TryAcquire([]key.Key{a, b}); leased[0] || leased[1] {
			t.Errorf("%v are leased again", leased)
		}
		<-time.After(time.Second)
		release()
		for i := range 2 {
			if got, want := <-waited, time.Duration(i+1)*time.Second; got != want {
				t.Errorf("waiter %d got the key after %v, want %v", i, got, want)
			}
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if len(table.slots) != 0 {
			t.Errorf("%d keys are left in the table", len(table.slots))
		}
	})
}

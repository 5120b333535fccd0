package dataset

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestCtxMutex checks that waiters get the lock one after another, and leave
// when their context ends.
func TestCtxMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu ctxMutex
		if !mu.tryLock() || mu.tryLock() {
			t.Fatal("it is not locked once")
		}
		start, done := time.Now(), make(chan time.Duration, 3)
		for range 3 {
			go func() {
				if err := mu.lock(t.Context()); err != nil {
					t.Error(err)
				}
				<-time.After(time.Second)
				mu.unlock()
				done <- time.Since(start)
			}()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := mu.lock(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		mu.unlock()
		for i := range 3 {
			if got, want := <-done, time.Second/2+time.Duration(i+1)*time.Second; got != want {
				t.Errorf("owner %d ended after %v, want %v", i, got, want)
			}
		}
		if !mu.tryLock() {
			t.Error("it was not unlocked")
		}
	})
}

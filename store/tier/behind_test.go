package tier_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
	"github.com/larder-data/larder/store/tier"
)

// A distant store answers each request after a second.
type distant struct {
	store.Store
	puts int
}

func (d *distant) Put(ctx context.Context, records ...store.Record) error {
	time.Sleep(time.Second)
	d.puts++
	return d.Store.Put(ctx, records...)
}

func (d *distant) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	time.Sleep(time.Second)
	return d.Store.GetMany(ctx, keys)
}

// TestPutsWaitForNearAlone checks that Put and the end of a lease do not wait for a distant store, that few requests
// store many results there, and that Close waits for them.
func TestPutsWaitForNearAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &distant{Store: memory.New(memory.Options{})}
		s := tier.Share(memory.New(memory.Options{}), far)
		start := time.Now()
		for i := range 1000 {
			release, err := s.Lease(t.Context(), storetest.Key(i))
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, i)
			release()
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("1000 results took %v", took)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); far.puts > 2 || took > 2*time.Second {
			t.Errorf("%d requests and %v to store 1000 results", far.puts, took)
		}
		for i := range 1000 {
			get(t, far.Store, i)
		}
	})
}

// TestLeaseEndsAfterItsResult checks that another machine that gets a lease finds the result, too.
func TestLeaseEndsAfterItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := memory.New(memory.Options{})
		computed := 0
		var mu sync.Mutex
		var machines sync.WaitGroup
		for range 3 {
			s := tier.Share(memory.New(memory.Options{}), &distant{Store: far})
			machines.Go(func() {
				for i := range 20 {
					release, err := s.Lease(t.Context(), storetest.Key(i))
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := s.Get(t.Context(), storetest.Key(i)); errors.Is(err, store.ErrNotFound) {
						mu.Lock()
						computed++
						mu.Unlock()
						put(t, s, i)
					}
					release()
				}
			})
		}
		machines.Wait()
		if computed != 20 {
			t.Errorf("20 results were computed %d times", computed)
		}
	})
}

// TestPutsWaitForBytes checks that at most 64 MiB wait to be stored in far.
func TestPutsWaitForBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tier.Share(memory.New(memory.Options{}), &distant{Store: memory.New(memory.Options{})})
		start, payload := time.Now(), make([]byte, 1<<20)
		for i := range 100 {
			if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: payload}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 0 && i < 63 || took == 0 && i > 64 {
				t.Errorf("%d MiB were put in %v", i+1, took)
			}
		}
		flush(t, s)
	})
}

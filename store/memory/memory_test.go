package memory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
)

func medium(testing.TB) func() store.Store {
	s := memory.New(memory.Options{})
	return func() store.Store { return s }
}

func TestConformance(t *testing.T) { storetest.Run(t, medium) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, medium) }

func TestCapEvictsLeastRecentlyUsed(t *testing.T) {
	s := memory.New(memory.Options{MaxBytes: 100_000})
	ctx := context.Background()
	for i := range 1000 {
		if err := s.Put(ctx, store.Record{Key: storetest.Key(i), Payload: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(ctx, storetest.Key(0)); err != nil {
			t.Fatalf("the record used most was evicted at %d", i)
		}
		if u, _ := s.Usage(ctx); u.Bytes > u.Limit {
			t.Fatalf("%d bytes held, cap %d", u.Bytes, u.Limit)
		}
	}
	if _, err := s.Get(ctx, storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the least recently used record: %v", err)
	}
	if err := s.Put(ctx, store.Record{Key: storetest.Key(5), Payload: make([]byte, 200_000)}); !errors.Is(err, store.ErrFull) {
		t.Errorf("a record over the cap: %v, want ErrFull", err)
	}
}

package storetest

import (
	"errors"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// tiny is the size of a small result: a label, a score, a bounding box.
const tiny = 100

// Bench measures a store on some medium.
func Bench(b *testing.B, medium Medium) {
	b.Run("GetTiny", func(b *testing.B) {
		s := opened(b, medium)
		for i := range 1000 {
			put(b, s, store.Record{Key: Key(i), Payload: Payload(uint64(i), tiny)})
		}
		keys := [4]key.Key{Key(3), Key(300), Key(600), Key(999)}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			get(b, s, keys[i%4])
		}
	})
	b.Run("GetMiss", func(b *testing.B) {
		s := opened(b, medium)
		put(b, s, store.Record{Key: Key(0)})
		absent := Key(1)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Get(b.Context(), absent); !errors.Is(err, store.ErrNotFound) {
				b.Fatal(err)
			}
		}
	})
	many := make([]key.Key, 1000) // of which 900 are stored
	for i := range many {
		many[i] = Key(i * 7919 % 1000)
	}
	for how, get := range map[string]func(*testing.B, store.Records, []key.Key) int{"single": getEach, "many": getMany} {
		b.Run("Get900of1000/"+how, func(b *testing.B) {
			s := opened(b, medium)
			for i := range 900 {
				put(b, s, store.Record{Key: Key(i), Payload: Payload(uint64(i), tiny), Provenance: Payload(2, tiny)})
			}
			b.ReportAllocs()
			for b.Loop() {
				if n := get(b, s, many); n != 900 {
					b.Fatalf("%d records were found, want 900", n)
				}
			}
		})
	}
	b.Run("Get1MiB", func(b *testing.B) {
		s := opened(b, medium)
		k := Key(0)
		put(b, s, store.Record{Key: k, Payload: Payload(1, 1<<20)})
		b.SetBytes(1 << 20)
		b.ReportAllocs()
		for b.Loop() {
			get(b, s, k)
		}
	})
	b.Run("PutTiny", func(b *testing.B) {
		s := opened(b, medium)
		r := store.Record{Payload: Payload(1, tiny), Provenance: Payload(2, tiny)}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.Key = Key(0)
			for j := range 8 { // a new key without the cost of a hash
				r.Key[1+j] = byte(i >> (8 * j))
			}
			put(b, s, r)
		}
	})
	b.Run("Lease", func(b *testing.B) {
		s := opened(b, medium)
		k := Key(0)
		b.ReportAllocs()
		for b.Loop() {
			release, err := s.Lease(b.Context(), k)
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}

func getEach(b *testing.B, s store.Records, keys []key.Key) (found int) {
	for _, k := range keys {
		if _, err := s.Get(b.Context(), k); err == nil {
			found++
		} else if !errors.Is(err, store.ErrNotFound) {
			b.Fatal(err)
		}
	}
	return found
}

func getMany(b *testing.B, s store.Records, keys []key.Key) (found int) {
	records, err := s.GetMany(b.Context(), keys)
	if err != nil {
		b.Fatal(err)
	}
	for i := range records {
		if !records[i].Key.IsZero() {
			found++
		}
	}
	return found
}

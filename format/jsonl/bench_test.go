package jsonl_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/larder-data/larder/format/jsonl"
)

func BenchmarkJSONL(b *testing.B) {
	const n = 1_000_000
	line := []byte("{\"path\":\"images/000000.jpeg\",\"label\":\"cat\",\"box\":[1,2,3,4]}\n")
	path := file(b, "x.jsonl", string(bytes.Repeat(line, n)))
	b.Run("open a million lines", func(b *testing.B) {
		b.SetBytes(n * int64(len(line)))
		b.ReportAllocs()
		for range b.N {
			if ds, err := (jsonl.Source{}).Open(b.Context(), path, nil); err != nil || ds.Len() != n {
				b.Fatal(err)
			}
		}
	})
	b.Run("one at random", func(b *testing.B) {
		ds, err := jsonl.Source{}.Open(b.Context(), path, nil)
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := ds.At(b.Context(), random.IntN(n)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package loader_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
)

// bytesOf returns n samples of one item of bytes in memory.
func bytesOf(n, size int) loader.Data {
	all := make([]byte, n*size)
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewEncoded("bin", []string{"x"}, [][]byte{all[i*size:][:size]}), nil
	})
}

// BenchmarkBatches measures batches of 32 shuffled samples against a plain loop that reads
// the same samples in the same order and copies their bytes together. An operation is a
// batch.
func BenchmarkBatches(b *testing.B) {
	const n, batch = 4096, 32
	for _, size := range []int{1 << 10, 100 << 10} {
		data := bytesOf(min(n, 64<<20/size), size)
		b.Run(fmt.Sprintf("loader/%dKB", size>>10), func(b *testing.B) {
			l, err := loader.New(loader.Options{
				Data: []loader.Data{data}, Fields: []loader.FieldOptions{{Item: "x", Collate: loader.Stack}},
				Plan: loader.PlanOptions{Order: loader.Shuffled, Batch: loader.BatchOptions{Size: batch, LastBatch: loader.DropLastBatch}},
			})
			if err != nil {
				b.Fatal(err)
			}
			r, err := l.Read(b.Context(), loader.ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			b.SetBytes(int64(batch * size))
			b.ReportAllocs()
			consume(b, r, batch)
		})
		b.Run(fmt.Sprintf("loop/%dKB", size>>10), func(b *testing.B) {
			shuffled, err := order.Shuffle(data.Len(), 0, 0)
			if err != nil {
				b.Fatal(err)
			}
			to := make([]byte, batch*size)
			b.SetBytes(int64(batch * size))
			b.ReportAllocs()
			pos := 0
			for b.Loop() {
				for k := range batch {
					s, err := data.At(b.Context(), shuffled.At(pos))
					if err != nil {
						b.Fatal(err)
					}
					v, err := s.Value(b.Context(), "x")
					if err != nil {
						b.Fatal(err)
					}
					copy(to[k*size:], v.([]byte))
					pos = (pos + 1) % shuffled.Len()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "us/sample")
		})
	}
}

// BenchmarkResume measures a reader from a state in the middle of an epoch to its first
// batch.
func BenchmarkResume(b *testing.B) {
	data := bytesOf(4096, 64)
	lengths := make([]int, data.Len())
	for i := range lengths {
		lengths[i] = i % 50
	}
	for name, batching := range map[string]loader.BatchOptions{"number": {Size: 32}, "tokens": {Tokens: 1000}, "rows": {Size: 8, Row: 200}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				l, err := loader.New(loader.Options{
					Data: []loader.Data{data}, Fields: []loader.FieldOptions{{Item: "x"}},
					Plan: loader.PlanOptions{Parts: []loader.Part{{Lengths: lengths}}, Order: loader.Shuffled, Batch: batching},
				})
				if err != nil {
					b.Fatal(err)
				}
				e, err := l.Plan().Epoch(3)
				if err != nil {
					b.Fatal(err)
				}
				from := l.Plan().StartOf(3)
				from.Position = e.Content(0, e.Batches(0)/2).From
				r, err := l.Read(b.Context(), loader.ReadOptions{From: &from, Ahead: 1})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Next(b.Context()); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}

// BenchmarkNormalise measures batches of 32 images of 224 x 224, uint8 arrays in memory,
// that become normalised float32 with channels first. An operation is a batch.
func BenchmarkNormalise(b *testing.B) {
	const size, batch = 224, 32
	a, err := array.New(array.Uint8, []int{size, size, 3}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range a.Data {
		a.Data[i] = byte(i * 7)
	}
	data := dataset.Func(256, func(context.Context, int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "x", Item: dataset.NewItem("npy", a)}), nil
	})
	l, err := loader.New(loader.Options{
		Data:   []loader.Data{data},
		Fields: []loader.FieldOptions{{Item: "x", Planar: true, Scale: 1.0 / 255, Mean: []float64{.485, .456, .406}, Deviation: []float64{.229, .224, .225}}},
		Plan:   loader.PlanOptions{Batch: loader.BatchOptions{Size: batch}},
	})
	if err != nil {
		b.Fatal(err)
	}
	r, err := l.Read(b.Context(), loader.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.SetBytes(batch * size * size * 3)
	b.ReportAllocs()
	consume(b, r, batch)
}

// consume reads b.N batches of a reader.
func consume(b *testing.B, r *loader.Reader, batch int) {
	b.Helper()
	for done := 0; done < b.N; {
		for got, err := range r.Batches(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			got.Release()
			if done++; done == b.N {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "us/sample")
}

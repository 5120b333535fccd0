package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// TestSamplesAreMadeTogether checks that a transform of several samples receives those of a
// batch in any order. Failed samples are skipped, and cached ones are not computed again.
func TestSamplesAreMadeTogether(t *testing.T) {
	const n, together = 24, 6
	var mu sync.Mutex
	var given []int
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "double", Code: key.Version("1"), In: []string{"n"}, Out: []string{"d"}, Formats: []string{"json"}, Batch: together,
		BatchFunc: func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
			mu.Lock()
			given = append(given, len(in))
			mu.Unlock()
			outs, failed := make([]dataset.Sample, len(in)), map[int]error{}
			for i, s := range in {
				v, err := s.Value(ctx, "n")
				if err != nil || v.(int64) == 5 {
					failed[i] = fmt.Errorf("no five: %w", err)
					continue
				}
				outs[i] = dataset.NewSample(dataset.Field{Key: "d", Item: dataset.NewItem("json", 2*v.(int64))})
			}
			if len(failed) > 0 {
				return outs, &dataset.PartialError{Errs: failed}
			}
			return outs, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := larder.Open(larder.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	data := dataset.Map(numbers(n), m, dataset.MapOptions{Larder: store, Keep: true})
	for run := range 2 {
		given = nil
		var skipped []int
		l, err := loader.New(loader.Options{
			Data: []loader.Data{data}, Skip: 1, OnSkip: func(s loader.Skip) { skipped = append(skipped, s.Index) }, Pool: pool.New(1),
			Fields: []loader.FieldOptions{{Item: "n"}, {Item: "d"}}, Plan: loader.PlanOptions{Order: loader.Shuffled, Batch: loader.BatchOptions{Size: together}},
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, b := range read(t, l, loader.ReadOptions{Epochs: 1}) {
			d, err := b.Array("d")
			if err != nil {
				t.Fatal(err)
			}
			doubles, err := array.Values[int64](*d)
			if err != nil {
				t.Fatal(err)
			}
			for k, s := range b.Samples {
				seen++
				if doubles[k] != int64(2*s.Index) {
					t.Errorf("sample %d has %d", s.Index, doubles[k])
				}
			}
		}
		if seen != n-1 || !slices.Equal(skipped, []int{5}) {
			t.Errorf("%d samples, skipped %v", seen, skipped)
		}
		sum := 0
		for _, k := range given {
			sum += k
		}
		if want := []int{n, 1}[run]; sum < want || sum > want+1 || len(given) > 2+n/together {
			t.Errorf("run %d: the transform received %v samples", run, given)
		}
	}
}

// TestEpochsHaveDatasetsOfTheirOwn checks that each epoch has its own random draws, also
// for readers at different epochs.
func TestEpochsHaveDatasetsOfTheirOwn(t *testing.T) {
	of := func(epoch uint64, n int) loader.Data {
		return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
			return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(100*int(epoch)+i))}), nil
		})
	}
	wrong := false
	l, err := loader.New(loader.Options{
		Data: []loader.Data{of(0, 4)}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 4}},
		Epoch: func(_ context.Context, epoch uint64) ([]loader.Data, error) {
			if wrong {
				return []loader.Data{of(epoch, 3)}, nil
			}
			return []loader.Data{of(epoch, 4)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, b := range read(t, l, loader.ReadOptions{Epochs: 3}) {
		a, err := b.Array("n")
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := array.Values[int64](*a); v[0] != int64(100*k) || v[3] != int64(100*k+3) {
			t.Errorf("epoch %d has %v", k, v)
		}
	}
	wrong = true
	r, err := l.Read(t.Context(), loader.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "epoch 0: dataset 0 has 3 samples, and 4 in other epochs") {
		t.Error(err)
	}
}

// TestReadsAreThoseOfTheBatches checks that caches are notified of the reads of the
// batches.
func TestReadsAreThoseOfTheBatches(t *testing.T) {
	lengths := make([]int, 50)
	for i := range lengths {
		lengths[i] = i * 7 % 10
	}
	for _, batch := range []loader.BatchOptions{{Size: 7}, {Size: 7, LastBatch: loader.DropLastBatch}, {Tokens: 20}, {Size: 4, Buckets: []int{3, 6}}, {Size: 2, Row: 15, Window: 3}} {
		even, err := order.Slice(50, nil, nil, ptr(2))
		if err != nil {
			t.Fatal(err)
		}
		p, err := loader.NewPlan(loader.PlanOptions{
			Parts: []loader.Part{{Len: 50, Lengths: lengths, Only: even}, {Len: 50, Lengths: lengths}},
			Order: loader.Shuffled, Batch: batch,
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Epoch(0)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		from := e.Content(0, 2).From
		for k := range e.Batches(from) {
			want = append(want, e.Content(from, k).Samples...)
		}
		reads, ok := e.Reads(from)
		if !ok {
			t.Fatal("not known")
		}
		var got []int
		for pos := range reads.Len() {
			i := reads.At(pos)
			got = append(got, i)
			if at, ok := reads.Next(i, pos-1); !ok || at != pos {
				t.Fatalf("%+v: sample %d is read next at %d %v, not %d", batch, i, at, ok, pos)
			}
		}
		if batch.LastBatch != loader.DropLastBatch && !slices.Equal(got, want) || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%+v: %v\nnot\n%v", batch, got, want)
		}
	}
}

// TestPieces checks that a string is split again into its pieces.
func TestPieces(t *testing.T) {
	b, err := batchOf(t, "txt", loader.FieldOptions{}, "jam", "", "rye")
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := b.Pieces("v")
	if err != nil || fmt.Sprintf("%s", pieces) != "[jam  rye]" {
		t.Errorf("%s %v", pieces, err)
	}
	if _, err := b.Pieces("w"); err == nil || !strings.Contains(err.Error(), `the batch has ["v"]`) {
		t.Error(err)
	}
	text, err := json.Marshal(b.Fields)
	if err != nil {
		t.Fatal(err)
	}
	var back []loader.Field
	if err := json.Unmarshal(text, &back); err != nil || back[0].Collation != loader.Text || back[0].Offsets.Offset != b.Fields[0].Offsets.Offset {
		t.Errorf("%s: %+v %v", text, back, err)
	}
}

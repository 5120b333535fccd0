package loader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// TestSamplesAreMadeTogether: a maker of several samples at once is given those of a
// batch, in whatever order they are drawn; what it cannot make is skipped, and what is
// kept is not made again.
func TestSamplesAreMadeTogether(t *testing.T) {
	const n, together = 24, 6
	var mu sync.Mutex
	var given []int
	m, err := dataset.NewMaker(dataset.MakerFunc{
		Name: "double", Code: key.Version("1"), In: []string{"n"}, Out: []string{"d"}, Formats: []string{"json"}, Batch: together,
		Together: func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
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
			Fields: []loader.FieldOptions{{Item: "n"}, {Item: "d"}}, Plan: loader.PlanOptions{Order: loader.Shuffled, Batch: loader.Batching{Size: together}},
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
			t.Errorf("run %d: the maker was given %v samples", run, given)
		}
	}
}

// TestEpochsHaveDatasetsOfTheirOwn: what is drawn anew is another one in each epoch, for
// readers at different epochs too.
func TestEpochsHaveDatasetsOfTheirOwn(t *testing.T) {
	of := func(epoch uint64, n int) loader.Data {
		return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
			return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(100*int(epoch)+i))}), nil
		})
	}
	wrong := false
	l, err := loader.New(loader.Options{
		Data: []loader.Data{of(0, 4)}, Plan: loader.PlanOptions{Batch: loader.Batching{Size: 4}},
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

// TestReadsAreThoseOfTheBatches: what caches are told is what batches have.
func TestReadsAreThoseOfTheBatches(t *testing.T) {
	lengths := make([]int, 50)
	for i := range lengths {
		lengths[i] = i * 7 % 10
	}
	for _, batch := range []loader.Batching{{Size: 7}, {Size: 7, Rest: loader.Drop}, {Tokens: 20}, {Size: 4, Buckets: []int{3, 6}}, {Size: 2, Row: 15, Window: 3}} {
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
		if batch.Rest != loader.Drop && !slices.Equal(got, want) || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%+v: %v\nnot\n%v", batch, got, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestTheEndComesAgain: after the last epoch there is nothing but the end.
func TestTheEndComesAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	l, err := loader.New(loader.Options{Data: []loader.Data{numbers(5)}, Plan: loader.PlanOptions{Batch: loader.Batching{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 10 {
		b, err := r.Next(t.Context())
		switch {
		case errors.Is(err, io.EOF):
			got = append(got, "end")
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, fmt.Sprint(b.Epoch, ":", b.From))
		}
	}
	if want := "0:0 0:2 0:4 end 1:0 1:2 1:4 end end end"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
	if s := r.State(); s.Epoch != 2 || s.Position != 0 {
		t.Errorf("state %+v", s)
	}
	r.Close()
	r.Close()
}

// TestCloseWhileSomebodyWaits: who waits for a batch is told, and nothing is left.
func TestCloseWhileSomebodyWaits(t *testing.T) {
	defer goleak.VerifyNone(t)
	begun := make(chan struct{})
	var once sync.Once
	data := dataset.Func(4, func(ctx context.Context, i int) (dataset.Sample, error) {
		once.Do(func() { close(begun) })
		<-ctx.Done()
		return dataset.Sample{}, ctx.Err()
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Batch: loader.Batching{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error)
	go func() {
		_, err := r.Next(t.Context())
		told <- err
	}()
	<-begun
	r.Close()
	if err := <-told; !errors.Is(err, loader.ErrClosed) {
		t.Error(err)
	}
}

// TestTooManyRanks: where each round would be dropped, that is an error and no epoch
// without batches for ever.
func TestTooManyRanks(t *testing.T) {
	l, err := loader.New(loader.Options{Data: []loader.Data{numbers(5)}, Plan: loader.PlanOptions{Batch: loader.Batching{Size: 2}, Round: loader.DropRound}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Rank: 1, Ranks: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "3 batches for 4 ranks") {
		t.Error(err)
	}
}

func TestReadersThatCannotBeAreRefused(t *testing.T) {
	l, err := loader.New(loader.Options{Data: []loader.Data{numbers(5)}, Plan: loader.PlanOptions{Batch: loader.Batching{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []loader.ReadOptions{{Rank: 1}, {Rank: -1, Ranks: 2}, {Ranks: -1}, {Ahead: -1}, {AheadBytes: -1}, {Epochs: -1}} {
		if _, err := l.Read(t.Context(), o); err == nil {
			t.Errorf("%+v is not refused", o)
		}
	}
	other := loader.State{Seed: 9}
	_, err = l.Read(t.Context(), loader.ReadOptions{From: &other})
	refused := (*loader.StateError)(nil)
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "here there are 5") || !strings.Contains(err.Error(), "its seed is 9 and not 0") {
		t.Error(err)
	}
}

// TestPieces: text comes apart again.
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
	if err := json.Unmarshal(text, &back); err != nil || back[0].Form != loader.Text || back[0].Offsets.Offset != b.Fields[0].Offsets.Offset {
		t.Errorf("%s: %+v %v", text, back, err)
	}
}

// TestMemoryIsUsedAgain: batches that are released do not take new memory each.
func TestMemoryIsUsedAgain(t *testing.T) {
	var firsts sync.Map
	var n atomic.Int32
	l, err := loader.New(loader.Options{Data: []loader.Data{bytesOf(64, 1<<16)}, Plan: loader.PlanOptions{Batch: loader.Batching{Size: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 20, Ahead: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 20 {
		for b, err := range r.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n.Add(1)
			firsts.Store(&b.Data[0], true)
			b.Release()
			b.Release() // once is enough
		}
	}
	buffers := 0
	firsts.Range(func(any, any) bool { buffers++; return true })
	if int(n.Load()) != 160 || buffers > 80 {
		t.Errorf("%d batches in %d buffers", n.Load(), buffers)
	}
}

// TestLittleMemoryIsEnough: readers that share samples, and a pool of fewer bytes than
// one of them takes, come to the end.
func TestLittleMemoryIsEnough(t *testing.T) {
	const n, size = 24, 100 << 10
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".bin")), bytes.Repeat([]byte{byte(i)}, size), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "x", Item: dataset.File(filepath.Join(dir, fmt.Sprint(i, ".bin")), nil)}), nil
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Pool: pool.NewBounded(2, size/2), Plan: loader.PlanOptions{Order: loader.Shuffled, Batch: loader.Batching{Size: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 2, AheadBytes: 1})
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for range 2 {
				seen := 0
				for b, err := range r.Batches(t.Context()) {
					if err != nil {
						t.Error(err)
						return
					}
					pieces, err := b.Pieces("x")
					if err != nil {
						t.Error(err)
						return
					}
					for k, s := range b.Samples {
						if seen++; len(pieces[k]) != size || pieces[k][size-1] != byte(s.Index) {
							t.Errorf("sample %d has %d bytes, the last one %d", s.Index, len(pieces[k]), pieces[k][size-1])
						}
					}
					b.Release()
				}
				if seen != n {
					t.Errorf("%d samples", seen)
				}
			}
		})
	}
	readers.Wait()
}

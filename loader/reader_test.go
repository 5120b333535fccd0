package loader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// counted is a dataset of n samples that counts the requests of each. Item x is an array
// with the sample's length, n its number, t a string.
func counted(n int, lengths []int) (loader.Data, []atomic.Int32) {
	asked := make([]atomic.Int32, n)
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		asked[i].Add(1)
		return sampleOf(i, lengths[i]), nil
	}), asked
}

func sampleOf(i, length int) dataset.Sample {
	x, _ := array.New(array.Uint8, []int{length}, bytes.Repeat([]byte{byte(i)}, length))
	return dataset.NewSample(
		dataset.Field{Key: "x", Item: dataset.NewItem("npy", x)},
		dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))},
		dataset.Field{Key: "t", Item: dataset.NewItem("txt", strings.Repeat("t", i%5))},
	)
}

// anyOptions draws options of a loader.
func anyOptions(r *rand.Rand) (o loader.Options, asked [][]atomic.Int32) {
	for k := range 1 + r.IntN(2) {
		part := loader.Part{Name: fmt.Sprint("part", k), Len: 8 + r.IntN(60), Weight: float64(1 + r.IntN(3))}
		for range part.Len {
			part.Lengths = append(part.Lengths, r.IntN(10))
		}
		data, counts := counted(part.Len, part.Lengths)
		o.Data, o.Plan.Parts, asked = append(o.Data, data), append(o.Plan.Parts, part), append(asked, counts)
	}
	o.Plan.Seed, o.Plan.Order, o.Plan.LastStep = r.Uint64(), loader.Kind(r.IntN(4)), loader.UnevenLastStep
	if o.Plan.Order == loader.Mixed {
		o.Plan.Stop = order.FirstEnds + order.Stop(r.IntN(2))
	}
	b := loader.BatchOptions{Size: 1 + r.IntN(7), LastBatch: []loader.LastBatch{loader.KeepLastBatch, loader.PadLastBatch}[r.IntN(2)]}
	x := loader.FieldOptions{Item: "x", Collate: loader.Pad, Multiple: r.IntN(4)}
	switch r.IntN(5) {
	case 0:
		b = loader.BatchOptions{Tokens: 12 + r.IntN(20)}
	case 1:
		b.Buckets = []int{3, 6}
	case 2:
		b.Row, x = 9+r.IntN(9), loader.FieldOptions{Item: "x"}
	case 3:
		b.Row, b.Split, x = 3+r.IntN(9), true, loader.FieldOptions{Item: "x"}
	}
	o.Plan.Batch = b
	o.Fields = []loader.FieldOptions{x, {Item: "n"}, {Item: "t"}, {Item: "n", Name: "json", Collate: loader.JSON}, {Item: "x", Name: "list", Collate: loader.List, DType: array.Int32}}
	return o, asked
}

// read returns the batches of a reader up to the end of its last epoch, with copies of
// their memory.
func read(t *testing.T, l *loader.Loader, o loader.ReadOptions) (all []*loader.Batch) {
	t.Helper()
	r, err := l.Read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n := 0; n < max(o.Epochs, 1); {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			n++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, taken(b))
	}
	return all
}

// taken is a batch with its own memory.
func taken(b *loader.Batch) *loader.Batch {
	c := *b
	c.Data = bytes.Clone(b.Data)
	b.Release()
	return &c
}

func sameBatches(got, want []*loader.Batch) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d batches, not %d", len(got), len(want))
	}
	for i := range got {
		a, b := *got[i], *want[i]
		if !bytes.Equal(a.Data, b.Data) {
			return fmt.Errorf("batch %d has other bytes", i)
		}
		a.Data, b.Data = nil, nil
		if fmt.Sprintf("%+v", a.Samples) != fmt.Sprintf("%+v", b.Samples) || a.From != b.From || a.Padding != b.Padding || !reflect.DeepEqual(a.Fields, b.Fields) || !reflect.DeepEqual(a.Rows, b.Rows) {
			return fmt.Errorf("batch %d is %+v, not %+v", i, a, b)
		}
	}
	return nil
}

// TestBatchesAreTheSame checks that batches are equal to the byte for any concurrency,
// prefetch, memory and number of ranks, also after a resume.
func TestBatchesAreTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := testrand.New(t)
	for range testrand.Rounds(60, 1000) {
		o, _ := anyOptions(r)
		make := func(workers int) *loader.Loader {
			o.Pool = pool.New(workers)
			l, err := loader.New(o)
			if err != nil {
				t.Fatalf("%+v: %v", o.Plan, err)
			}
			return l
		}
		want := read(t, make(1), loader.ReadOptions{Epochs: 2, Ahead: 1})
		for _, workers := range []int{2, 8} {
			got := read(t, make(workers), loader.ReadOptions{Epochs: 2, Ahead: 1 + r.IntN(20), AheadBytes: r.Int64N(5000)})
			if err := sameBatches(got, want); err != nil {
				t.Fatalf("%d workers: %v\n%+v", workers, err, o.Plan)
			}
		}
		l := make(3)
		var got []*loader.Batch
		for from := l.Plan().Start(); from.Epoch < 2; {
			var more []*loader.Batch
			more, from = someRounds(t, l, from, []int{1, 2, 3, 4, 8}[r.IntN(5)], 1+r.IntN(3))
			got = append(got, more...)
		}
		if err := sameBatches(got, want); err != nil {
			t.Fatalf("ranks: %v\n%+v", err, o.Plan)
		}
	}
}

// someRounds returns some rounds of ranks, each with its own reader, and the state at their
// end.
func someRounds(t *testing.T, l *loader.Loader, from loader.State, ranks, rounds int) (all []*loader.Batch, next loader.State) {
	t.Helper()
	readers := make([]*loader.Reader, ranks)
	for rank := range readers {
		var err error
		if readers[rank], err = l.Read(t.Context(), loader.ReadOptions{Rank: rank, WorldSize: ranks, From: &from, Epochs: 1}); err != nil {
			t.Fatal(err)
		}
		defer readers[rank].Close()
	}
	for ; rounds > 0; rounds-- {
		next = from
		for _, r := range readers {
			b, err := r.Next(t.Context())
			if err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if b != nil {
				all = append(all, taken(b))
			}
			next = r.State()
		}
		if next.Epoch != from.Epoch {
			break
		}
	}
	return all, next
}

// TestEachSampleIsReadOnce checks that all ranks together request each sample of an epoch
// once.
func TestEachSampleIsReadOnce(t *testing.T) {
	const n, ranks = 500, 3
	data, asked := counted(n, make([]int, n))
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Order: loader.Shuffled, Batch: loader.BatchOptions{Size: 7}}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[loader.Key]int{}
	for rank := range ranks {
		for _, b := range read(t, l, loader.ReadOptions{Rank: rank, WorldSize: ranks, Epochs: 1}) {
			for _, k := range b.Samples[:len(b.Samples)-b.Padding] {
				seen[k]++
			}
		}
	}
	for i := range asked {
		if times := asked[i].Load(); times != 1 || seen[loader.Key{Index: i}] != 1 {
			t.Errorf("sample %d is requested %d times and returned %d times", i, times, seen[loader.Key{Index: i}])
		}
	}
}

// TestReadersShareSamples checks that two readers that need one sample at the same time
// read it once.
func TestReadersShareSamples(t *testing.T) {
	const n = 8
	var asked atomic.Int32
	both := make(chan struct{})
	data := dataset.Func(n, func(ctx context.Context, i int) (dataset.Sample, error) {
		asked.Add(1)
		select {
		case <-both:
		case <-ctx.Done():
		}
		return sampleOf(i, 3), nil
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Pool: pool.New(64), Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: n}}})
	if err != nil {
		t.Fatal(err)
	}
	var readers [2]*loader.Reader
	for k := range readers {
		if readers[k], err = l.Read(t.Context(), loader.ReadOptions{Epochs: 1}); err != nil {
			t.Fatal(err)
		}
		defer readers[k].Close()
	}
	loader.AwaitUsers(l, 0, 2)
	close(both)
	for _, r := range readers {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Samples) != n {
			t.Error(b.Samples)
		}
	}
	// Samples that one reader released before the other needed them are read again.
	if times := asked.Load(); times >= 2*n {
		t.Errorf("%d samples are read %d times", n, times)
	}
}

// countingAllocator counts the bytes and batches in use.
type countingAllocator struct {
	mu      sync.Mutex
	out     int64
	batches int
}

func (c *countingAllocator) held() (bytes int64, batches int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out, c.batches
}

func (c *countingAllocator) Allocate(_ context.Context, n int64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out, c.batches = c.out+n, c.batches+1
	return make([]byte, n), nil
}

func (c *countingAllocator) Free(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out, c.batches = c.out-int64(len(b)), c.batches-1
}

// TestAheadIsBounded checks that a prefetch stays within its bounds in bytes and batches.
// The consumer returns each batch immediately, then waits until no more arrives.
func TestAheadIsBounded(t *testing.T) {
	const n = 400
	mixed, growing := make([]int, n), make([]int, n)
	for i := range n {
		mixed[i], growing[i] = 1+i*7919%300, 1
		if i > n/2 {
			growing[i] = 3000 // more than the batches before predict
		}
	}
	for _, c := range []struct {
		lengths []int
		ahead   int
		bytes   int64
	}{{mixed, 4, 1 << 20}, {mixed, 100, 8000}, {mixed, 100, 1}, {growing, 4, 1 << 20}, {growing, 30, 8000}} {
		synctest.Test(t, func(t *testing.T) { boundAhead(t, c.lengths, c.ahead, c.bytes) })
	}
}

// boundAhead reads samples of the given lengths with a bounded prefetch, in batches or
// bytes.
func boundAhead(t *testing.T, lengths []int, ahead int, bytes int64) {
	data, _ := counted(len(lengths), lengths)
	l, err := loader.New(loader.Options{
		Data: []loader.Data{data}, Pool: pool.New(8), Fields: []loader.FieldOptions{{Item: "x", Collate: loader.Pad}},
		Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	allocator := &countingAllocator{}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 1, Ahead: ahead, AheadBytes: bytes, Allocator: allocator})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for most := 0; ; {
		synctest.Wait()
		out, batches := allocator.held()
		most = max(most, batches)
		// The next batch gets memory whatever its size.
		if batches > ahead || batches > 1 && out > bytes {
			t.Fatalf("ahead %d, %d bytes: %d batches and %d bytes are out", ahead, bytes, batches, out)
		}
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			if out != 0 || most == 0 {
				t.Errorf("ahead %d, %d bytes: at the end %d bytes are out; %d batches were", ahead, bytes, out, most)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
}

// TestCloseGivesAllBack checks that closing a reader in the middle ends its work and
// returns its memory.
func TestCloseGivesAllBack(t *testing.T) {
	defer goleak.VerifyNone(t)
	for leave := range 20 {
		data, _ := counted(300, make([]int, 300))
		l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		allocator := &countingAllocator{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := l.Read(ctx, loader.ReadOptions{Allocator: allocator})
		if err != nil {
			t.Fatal(err)
		}
		for range leave {
			b, err := r.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		if leave%2 == 0 {
			cancel()
			if _, err := r.Next(t.Context()); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end of its context: %v", err)
			}
		}
		r.Close()
		if allocator.out != 0 {
			t.Errorf("%d bytes are not given back", allocator.out)
		}
		if _, err := r.Next(t.Context()); err == nil {
			t.Error("a closed reader has batches")
		}
	}
}

// TestWhoStopsWaitingFindsTheBatchAgain checks that no batch is lost when the context of
// Next ends.
func TestWhoStopsWaitingFindsTheBatchAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	open := make(chan struct{})
	data := dataset.Func(4, func(ctx context.Context, i int) (dataset.Sample, error) {
		select {
		case <-open:
			return sampleOf(i, 1), nil
		case <-ctx.Done():
			return dataset.Sample{}, ctx.Err()
		}
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		short, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Next(short); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	close(open)
	b, err := r.Next(t.Context())
	if err != nil || b.From != 0 {
		t.Fatal(b, err)
	}
}

// broken is n samples of which some cannot be read.
func broken(n int, bad ...int) loader.Data {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		if slices.Contains(bad, i) {
			return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewBytes("json", []byte("{"))}), nil
		}
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))}), nil
	})
}

// TestTheFirstErrorEnds checks that without skips, the batch of a bad sample is an error
// that names it, after the earlier batches. The state says where to try again.
func TestTheFirstErrorEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 20 {
		l, err := loader.New(loader.Options{Data: []loader.Data{broken(40, 13, 14, 30)}, Plan: loader.PlanOptions{Parts: []loader.Part{{Name: "numbers"}}, Batch: loader.BatchOptions{Size: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), loader.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b, berr := range r.Batches(t.Context()) {
			if err = berr; b != nil {
				n++
			}
		}
		if n != 3 || err == nil || !strings.Contains(err.Error(), "epoch 0, batch from position 12: sample 13 of numbers: item n: ") {
			t.Errorf("%d batches, then %v", n, err)
		}
		if s := r.State(); s.Position != 12 {
			t.Errorf("state %+v", s)
		}
		if _, again := r.Next(t.Context()); !errors.Is(again, err) {
			t.Errorf("then %v", again)
		}
		r.Close()
	}
}

// TestSkips checks that unreadable samples are left out of their batches and reported, up
// to the allowed number per epoch.
func TestSkips(t *testing.T) {
	for _, c := range []struct {
		skip  int
		rest  loader.LastBatch
		sizes []int
		last  string
	}{
		{3, loader.KeepLastBatch, []int{3, 4, 2, 4, 3, 4, 2, 4}, ""},
		{3, loader.PadLastBatch, []int{4, 4, 4, 4, 4, 4, 4, 4}, ""},
		{2, loader.KeepLastBatch, []int{3, 4}, "3 of epoch 0, and 2 are allowed"},
	} {
		var reported []string
		l, err := loader.New(loader.Options{
			Data: []loader.Data{broken(16, 2, 8, 9)}, Skip: c.skip,
			OnSkip: func(s loader.Skip) { reported = append(reported, fmt.Sprint(s.Epoch, ":", s.Position, ":", s.Index)) },
			Plan:   loader.PlanOptions{Batch: loader.BatchOptions{Size: 4, LastBatch: c.rest}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 2})
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		var last error
		for range 2 {
			for b, err := range r.Batches(t.Context()) {
				if last = err; err != nil {
					break
				}
				sizes = append(sizes, len(b.Samples))
				a, err := b.Array("n")
				if err != nil {
					t.Fatal(err)
				}
				numbers, err := array.Values[int64](*a)
				if err != nil {
					t.Fatal(err)
				}
				for k, key := range b.Samples {
					if int(numbers[k]) != key.Index {
						t.Errorf("sample %d has %d", key.Index, numbers[k])
					}
				}
			}
		}
		r.Close()
		if !slices.Equal(sizes, c.sizes) || c.last == "" && last != nil {
			t.Errorf("%+v: sizes %v, then %v", c, sizes, last)
		}
		if c.last != "" {
			if !errors.Is(last, loader.ErrTooManySkipped) || !strings.Contains(last.Error(), c.last) {
				t.Errorf("%+v: %v", c, last)
			}
		} else if want := []string{"0:2:2", "0:8:8", "0:9:9", "1:2:2", "1:8:8", "1:9:9"}; !slices.Equal(reported, want) {
			t.Errorf("reported %v", reported)
		}
	}
}

// TestABatchOfNothingIsAnError checks that a batch without a readable sample is an error,
// also with skips.
func TestABatchOfNothingIsAnError(t *testing.T) {
	l, err := loader.New(loader.Options{Data: []loader.Data{broken(4, 2, 3)}, Skip: 4, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err = r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err = r.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "no sample of the batch can be read") {
		t.Error(err)
	}
}

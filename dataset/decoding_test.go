package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// counted is an item of an image of a megapixel that counts its reads.
type counted struct {
	encoded
	reads atomic.Int64
	wait  chan struct{} // if not nil, reads wait for it
}

func (c *counted) Bytes(ctx context.Context) ([]byte, error) {
	c.reads.Add(1)
	if c.wait != nil {
		<-c.wait
	}
	return c.encoded.Bytes(ctx)
}

const megapixel = 4 << 20 // bytes of a counted image

var megapixelPNG = sync.OnceValues(func() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 1024, 1024)))
	return b.Bytes(), err
})

func countedItem(t *testing.T) (*Item, *counted) {
	t.Helper()
	b, err := megapixelPNG()
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{encoded: encoded{ext: "png", bytes: b}}
	return ItemFrom(c), c
}

// reader makes an item ok after it has read all others, in order of their names, and has
// called within.
func reader(t *testing.T, names []string, within func()) Transform {
	t.Helper()
	m, err := NewTransform(TransformFunc{
		Name: "read", Code: key.Version("1"), In: names, Out: []string{"ok"},
		Func: func(ctx context.Context, s Sample) (Sample, error) {
			for _, k := range names {
				if _, err := s.Value(ctx, k); err != nil {
					return Sample{}, err
				}
			}
			within()
			return NewSample(Field{Key: "ok", Item: NewItem("json", true)}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func makeAll(t *testing.T, ds Dataset[Sample], p *pool.Pool) {
	t.Helper()
	err := p.Each(t.Context(), ds.Len(), func(ctx context.Context, i int) error {
		s, err := ds.At(ctx, i)
		if err != nil {
			return err
		}
		v, err := s.Value(ctx, "ok")
		if err == nil && v != true {
			err = fmt.Errorf("sample %d is %v", i, v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if collecting.users != 0 {
		t.Errorf("%d have large values after the end", collecting.users)
	}
}

// bounded returns a pool, and a function that fails if not all of its bytes have been
// returned.
func bounded(t *testing.T, workers int, bytes int64) (p *pool.Pool, given func()) {
	p = pool.NewBounded(workers, bytes)
	return p, func() {
		ended, cancel := context.WithCancel(p.Context(t.Context()))
		cancel() // waiting is now an error
		if _, err := pool.Reserve(ended, bytes); err != nil {
			t.Errorf("some bytes are still in use: %v", err)
		}
	}
}

// TestDecodedAtOnceIsBounded checks that the values decoded and in use by any number of
// workers stay within the byte bound.
func TestDecodedAtOnceIsBounded(t *testing.T) {
	p, given := bounded(t, 8, 2*megapixel+megapixel/2)
	defer given()
	var now, most atomic.Int64
	all := make([]Sample, 24)
	for i := range all {
		item, _ := countedItem(t)
		all[i] = NewSample(Field{Key: "image", Item: item})
	}
	within := func() {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		for range 1000 {
			runtime.Gosched() // others could start here if they were allowed
		}
		now.Add(-1)
	}
	makeAll(t, Map(List(all...), reader(t, []string{"image"}, within), MapOptions{}), p)
	if most.Load() > 2 {
		t.Errorf("%d images of 4 MiB were in use, where 8 MiB are allowed", most.Load())
	}
}

// TestDecodingNeverWaitsForItself checks that executions whose images do not fit together,
// and that wait for each other's, finish.
func TestDecodingNeverWaitsForItself(t *testing.T) {
	p, given := bounded(t, 6, 1)
	defer given()
	first, _ := countedItem(t)
	second, _ := countedItem(t)
	all := make([]Sample, 12)
	for i := range all {
		own, _ := countedItem(t)
		a, b := first, second
		if i%2 == 0 {
			a, b = b, a
		}
		all[i] = NewSample(Field{Key: "own", Item: own}, Field{Key: "a", Item: a}, Field{Key: "b", Item: b})
	}
	inner := Map(List(all...), reader(t, []string{"own", "a"}, func() {}), MapOptions{})
	outer := Map(inner, reader(t, []string{"b", "ok", "a"}, runtime.Gosched), MapOptions{})
	makeAll(t, outer, p)
}

// TestDecodingWaitsForNoCallerWhoWaits checks that executions that wait for each other's
// results or reads do not wait for each other's memory.
func TestDecodingWaitsForNoCallerWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, given := bounded(t, 1, 1)
		defer given()
		item, of := countedItem(t)
		of.wait = make(chan struct{})
		ctx, done := using(p.Context(t.Context()), Sample{})
		defer done()
		if _, err := takeIn(ctx, smallValue); err != nil {
			t.Fatal(err)
		}
		decoded := 0
		read := func(ctx context.Context, it *Item) {
			if _, err := it.Value(ctx); err != nil {
				t.Error(err)
			}
			decoded++
		}
		other, _ := countedItem(t)
		go read(p.Context(t.Context()), other)
		go read(p.Context(t.Context()), item) // it has started
		synctest.Wait()
		if decoded != 0 {
			t.Fatal("it did not wait for the one that works")
		}
		read = func(ctx context.Context, it *Item) { _, _ = it.Value(ctx) }
		go read(ctx, item) // a worker waits for the read of another
		synctest.Wait()
		if decoded != 1 {
			t.Error("it waits for one that waits")
		}
		close(of.wait)
		synctest.Wait()
		if decoded != 2 {
			t.Error("a wait for bytes and a wait for its holder block each other")
		}
	})
}

// TestFilesAreReadWithinTheBound checks that a file is counted before it is read, and that
// the read waits.
func TestFilesAreReadWithinTheBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bin")
	if err := os.WriteFile(path, make([]byte, smallValue), 0o600); err != nil {
		t.Fatal(err)
	}
	p, given := bounded(t, 1, smallValue)
	defer given()
	ended, cancel := context.WithCancel(p.Context(t.Context()))
	cancel() // waiting is now an error
	item := File(path, nil)
	if _, err := item.Bytes(ended); err != nil {
		t.Fatal(err)
	}
	ctx, done := using(ended, Sample{})
	defer done()
	if _, err := item.Bytes(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := item.Bytes(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it was read in addition to as much as is allowed, with error %v", err)
	}
}

// TestLargeValuesAreLetGo checks that a large value is read again for the next transform unless
// it is retained, and that the memory limit is restored.
func TestLargeValuesAreLetGo(t *testing.T) {
	largeValue = megapixel
	defer func() { largeValue = 128 << 20 }()
	defer TidyMemory.Store(false)
	for _, held := range []bool{false, true} {
		TidyMemory.Store(held) // without the option, the program's memory has no limit
		within := func() {
			if limited := debug.SetMemoryLimit(-1) != math.MaxInt64; limited && !held {
				t.Error("the memory of the program is limited")
			}
		}
		item, c := countedItem(t)
		if held {
			item.Retain()
		}
		ds := List(NewSample(Field{Key: "image", Item: item}))
		for range 2 {
			makeAll(t, Map(ds, reader(t, []string{"image"}, within), MapOptions{}), pool.New(1))
		}
		want := int64(2)
		if held {
			want = 1
		}
		if got := c.reads.Load(); got != want {
			t.Errorf("held %v: it was read %d times, want %d", held, got, want)
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("the limit on memory is %d", limit)
	}
}

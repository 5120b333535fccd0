package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// counted is an item of an image of a megapixel, that counts how often it is read.
type counted struct {
	encoded
	reads atomic.Int64
}

func (c *counted) Bytes(ctx context.Context) ([]byte, error) {
	c.reads.Add(1)
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

// reader makes an item ok after it has read all others, in the order of their names,
// and within has been called.
func reader(t *testing.T, names []string, within func()) Maker {
	t.Helper()
	m, err := NewMaker(MakerFunc{
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

func makeAll(t *testing.T, ds Dataset[Sample], workers int) {
	t.Helper()
	err := pool.New(workers).Each(t.Context(), ds.Len(), func(ctx context.Context, i int) error {
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
	if n := len(decoding.uses); n != 0 {
		t.Errorf("%d executions are in use after the end", n)
	}
}

// TestDecodedAtOnceIsBounded: however many workers there are, what they have decoded
// and work on takes no more bytes than allowed.
func TestDecodedAtOnceIsBounded(t *testing.T) {
	MaxDecoded.Store(2*megapixel + 1)
	defer MaxDecoded.Store(0)
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
			runtime.Gosched() // so that others would come, if they might
		}
		now.Add(-1)
	}
	makeAll(t, Map(List(all...), reader(t, []string{"image"}, within), MapOptions{}), 8)
	if most.Load() > 2 {
		t.Errorf("%d images of 4 MiB were in use, where 8 MiB are allowed", most.Load())
	}
}

// TestDecodingNeverWaitsForItself: executions whose images do not fit together, and
// that wait for each other's, come to an end.
func TestDecodingNeverWaitsForItself(t *testing.T) {
	MaxDecoded.Store(1)
	defer MaxDecoded.Store(0)
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
	makeAll(t, outer, 6)
}

// TestDecodingWaitsForNobodyWhoWaits: an execution that waits for others may wait
// for who would wait for it.
func TestDecodingWaitsForNobodyWhoWaits(t *testing.T) {
	MaxDecoded.Store(1)
	defer MaxDecoded.Store(0)
	ctx, done := using(t.Context(), Sample{})
	defer done()
	if _, err := takeIn(ctx, smallValue); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that waiting is an error
	answered := ask(ctx)
	end, err := takeIn(ended, smallValue)
	if err != nil {
		t.Fatalf("it waited: %v", err)
	}
	end()
	answered()
	if _, err := takeIn(ended, smallValue); err == nil {
		t.Error("it did not wait for who works")
	}
	came := make(chan error)
	go func() {
		end, err := takeIn(t.Context(), smallValue)
		if err == nil {
			end()
		}
		came <- err
	}()
	defer ask(ctx)() // which wakes whoever came before
	if err := <-came; err != nil {
		t.Error(err)
	}
}

// TestDecodingThatWaitsCanEnd: who waits for room stops with its context.
func TestDecodingThatWaitsCanEnd(t *testing.T) {
	MaxDecoded.Store(1)
	defer MaxDecoded.Store(0)
	ctx, done := using(t.Context(), Sample{})
	if _, err := takeIn(ctx, smallValue); err != nil {
		t.Fatal(err)
	}
	other, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := takeIn(other, smallValue); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	done()
	end, err := takeIn(t.Context(), smallValue)
	if err != nil {
		t.Fatal(err)
	}
	end()
}

// TestLargeValuesAreLetGo: a large value is read again for the next maker, unless it
// is held, and the limit on memory is what it was.
func TestLargeValuesAreLetGo(t *testing.T) {
	largeValue = megapixel
	defer func() { largeValue = 128 << 20 }()
	defer TidyMemory.Store(false)
	for _, held := range []bool{false, true} {
		TidyMemory.Store(held) // the memory of a program that does not ask for it has no limit
		within := func() {
			if limited := debug.SetMemoryLimit(-1) != math.MaxInt64; limited && !held {
				t.Error("the memory of the program is limited")
			}
		}
		item, c := countedItem(t)
		if held {
			item.Hold()
		}
		ds := List(NewSample(Field{Key: "image", Item: item}))
		for range 2 {
			makeAll(t, Map(ds, reader(t, []string{"image"}, within), MapOptions{}), 1)
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

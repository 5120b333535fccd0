package dataset

import (
	"context"
	"fmt"
	"testing"

	"github.com/larder-data/larder/cache"
)

// sharing is a dataset of samples that share one item without readers.
type sharing struct{ item *Item }

func (s sharing) Len() int { return 1 << 20 }

func (s sharing) At(_ context.Context, i int) (Sample, error) {
	return NewSample(Field{Key: "label", Item: s.item, Shared: true}, Field{Key: "n", Item: NewItem("json", fmt.Sprint(i))}), nil
}

// TestWatchersEndWithTheirSamples checks that an item is watched only for the samples that
// are held.
func TestWatchersEndWithTheirSamples(t *testing.T) {
	const held, reads = 10, 5000
	ds := sharing{ItemFrom(&memory{ext: "json", given: map[string]any{"a": 1.0}})}
	c, err := Cached(ds, cache.Options{Policy: "lru", Size: held}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range reads {
		if _, err := c.At(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		if n := len(ds.item.others.watchers); n > 2*(held+1) {
			t.Fatalf("%d watchers on one item after %d samples, of which %d are held", n, i+1, held)
		}
	}
	before := c.cache.Stats().Bytes
	if _, err := ds.item.Value(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, _ := ds.item.Value(t.Context())
	if got, want := c.cache.Stats().Bytes-before, held*BytesHeld(v); got != want {
		t.Errorf("reading the item that %d samples share counts %d bytes, want %d", held, got, want)
	}
}

// TestDroppedSamplesAreNotCounted checks that reads of a dropped sample do not count for
// its replacement.
func TestDroppedSamplesAreNotCounted(t *testing.T) {
	ds := sharing{NewItem("json", "x")}
	c, err := Cached(ds, cache.Options{Policy: "lru", Size: 1}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{1, 0} {
		if _, err := c.At(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	before := c.cache.Stats().Bytes
	if _, err := first.Value(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	if after := c.cache.Stats().Bytes; after != before {
		t.Errorf("%d bytes are counted after a dropped sample was read, %d before", after, before)
	}
}

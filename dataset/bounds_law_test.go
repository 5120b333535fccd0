package dataset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
)

// TestCacheBytesFollowReads checks that a byte bound counts values that are read after
// their sample was cached.
func TestCacheBytesFollowReads(t *testing.T) {
	ds := dataset.Func(10, func(_ context.Context, i int) (dataset.Sample, error) {
		text := strings.Repeat(fmt.Sprint(i), 10_000)
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", []byte(text))}), nil
	})
	c, err := dataset.Cached(ds, cache.Options{Policy: "lru", Bytes: 35_000}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if values(t, c, "a"); !c.Held(9) {
		t.Error("the last sample is not in memory")
	}
	held := 0
	for i := range 10 {
		if c.Held(i) {
			held++
		}
	}
	if held != 3 {
		t.Errorf("%d values of 10 000 bytes are held in 35 000", held)
	}
}

package flow_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/lint"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store/memory"
)

// TestBranchesThatJoinAgain reads a source below fifty levels of two branches that are
// joined, with too many paths to follow each. Each branch of the lowest level reads each
// sample once.
func TestBranchesThatJoinAgain(t *testing.T) {
	const samples, levels = 3, 50
	var reads atomic.Int64
	source := dataset.Func(samples, func(context.Context, int) (dataset.Sample, error) {
		reads.Add(1)
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(1))}), nil
	})
	b := flow.NewBuilder("diamonds", t.TempDir())
	before := b.Add("in", source)
	for i := range levels {
		left := b.Add("", op.Reverse{}, before)
		right := b.Add("", op.Reverse{}, before)
		right = b.Add("", mapper.KeepKeys{Keys: []string{"n"}}, right)
		right = b.Add("", mapper.Rename{Names: map[string]string{"n": fmt.Sprint("n", i)}}, right)
		before = b.Add("", op.Zip{}, left, right)
	}
	last := b.Add("last", mapper.Hash{}, before).With(flow.Options{Keep: true})
	b.Add("hashed", mapper.Hash{Into: "other"}, last).With(flow.Options{Auto: true})
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	lint.Check(t.Context(), f, lint.Options{})
	l := newLarder(t, memory.New(memory.Options{}))
	if _, err := f.Plan(t.Context(), flow.RunOptions{Larder: l, Only: []string{"hashed"}}); err != nil {
		t.Fatal(err)
	}
	reads.Store(0)
	if _, err := f.Run(t.Context(), flow.RunOptions{Larder: l, Only: []string{"hashed"}}); err != nil {
		t.Fatal(err)
	}
	if n := reads.Load(); n > 8*samples {
		t.Errorf("the source was read %d times for %d samples", n, samples)
	}
}

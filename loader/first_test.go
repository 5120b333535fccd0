package loader_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/pool"
)

// begun returns the samples that readers with two workers and a given batch size have
// requested when they wait for those of the first batch.
func begun(t *testing.T, batch int) (asked []int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		gate := make(chan struct{})
		data := dataset.Func(40, func(ctx context.Context, i int) (dataset.Sample, error) {
			mu.Lock()
			asked = append(asked, i)
			mu.Unlock()
			if i < batch {
				<-gate
			}
			return dataset.NewEncoded("bin", []string{"x"}, [][]byte{{byte(i)}}), nil
		})
		l, err := loader.New(loader.Options{Data: []loader.Data{data}, Pool: pool.New(2), Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: batch}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		synctest.Wait()
		mu.Lock()
		asked = slices.Clone(asked)
		mu.Unlock()
		slices.Sort(asked)
		before := asked
		close(gate)
		n := 0
		for b, err := range r.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n += len(b.Samples)
		}
		if n != 40 {
			t.Errorf("%d samples came", n)
		}
		asked = before
	})
	return asked
}

// TestFirstBatchIsMadeAlone checks that a first batch with samples for all workers is
// computed before another one begins. Several smaller batches begin together.
func TestFirstBatchIsMadeAlone(t *testing.T) {
	if asked := begun(t, 4); len(asked) == 0 || slices.Max(asked) >= 4 {
		t.Errorf("batches of 4: %v were requested before the first was made", asked)
	}
	if asked := begun(t, 1); slices.Max(asked) == 0 {
		t.Errorf("batches of 1: only %v were requested", asked)
	}
}

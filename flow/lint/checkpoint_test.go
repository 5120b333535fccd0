package lint_test

import (
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/lint"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// TestCheckpointsThatNeverPay checks the warning, which needs the costs of a checkpoint
// that was stored.
func TestCheckpointsThatNeverPay(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{}), MemoryBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := flow.Parse("flow.yaml", []byte(letters+"  stats: {map: image-stats, from: in, checkpoint: true}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := func() int {
		t.Helper()
		return len(lint.Check(t.Context(), f, lint.Options{Larder: l}))
	}
	if n := found(); n != 0 {
		t.Errorf("%d warnings before the first run", n)
	}
	if _, err := f.Run(t.Context(), flow.RunOptions{Larder: l}); err != nil {
		t.Fatal(err)
	}
	for cost, want := range map[time.Duration]int{time.Hour: 0, 1: 1} {
		setCosts(t, l.Store(), cost)
		if n := found(); n != want {
			t.Errorf("of results that took %v: %d warnings, want %d", cost, n, want)
		}
	}
}

// setCosts sets the time of all results in manifests.
func setCosts(t *testing.T, s store.Store, cost time.Duration) {
	t.Helper()
	for m, err := range s.Manifests(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if m, err = s.Manifest(t.Context(), m.Name); err != nil {
			t.Fatal(err)
		}
		for _, k := range m.Keys {
			r, err := s.Get(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			r.Cost = cost
			if err := s.Put(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

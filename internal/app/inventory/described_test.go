package inventory_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// computed returns a store with results of two operations.
func computed(t *testing.T) (store.Store, *key.Action) {
	t.Helper()
	s := memory.New(memory.Options{})
	l, err := larder.Open(larder.Options{Store: s, MemoryBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	var a *key.Action
	for _, name := range []string{"first", "second"} {
		if a, err = key.NewAction(name, key.Version("1"), 5); err != nil {
			t.Fatal(err)
		}
		if _, err := larder.Do(t.Context(), l, a, func(context.Context) (string, error) { return name, nil }); err != nil {
			t.Fatal(err)
		}
	}
	return s, a
}

// explained reports whether the provenance of a result in s can be read.
func explained(t *testing.T, s store.Records, a *key.Action) bool {
	t.Helper()
	reader := records.ProvenanceReader{Store: s}
	parts, err := reader.Parts(t.Context(), a.Key())
	return err == nil && slices.Equal(parts, a.Parts())
}

// TestExportedResultsAreExplained checks that descriptions of operations are exported with
// the results that refer to them, and no others.
func TestExportedResultsAreExplained(t *testing.T) {
	s, a := computed(t)
	sel, err := inventory.Select(t.Context(), s, "second")
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	if n, err := inventory.Export(t.Context(), s, sel, &stream); err != nil || n.Records != 2 || n.Lost != 0 {
		t.Fatalf("exported %+v, %v", n, err)
	}
	there := memory.New(memory.Options{})
	if _, err := inventory.Import(t.Context(), there, &stream); err != nil {
		t.Fatal(err)
	}
	if !explained(t, there, a) {
		t.Error("an imported result is not explained")
	}
	if err := s.Delete(t.Context(), a.Description().Key); err != nil {
		t.Fatal(err)
	}
	if n, err := inventory.Export(t.Context(), s, inventory.Selection{}, &stream); err != nil || n.Lost != 0 || n.Records != 3 {
		t.Errorf("without a description: exported %+v, %v", n, err)
	}
}

// TestOldDescriptionsStay checks that the age of a description, which the use of results
// does not change, never causes its removal.
func TestOldDescriptionsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := computed(t)
		<-time.After(48 * time.Hour)
		if _, err := s.Get(t.Context(), a.Key()); err != nil {
			t.Fatal(err)
		}
		if _, err := inventory.Collect(t.Context(), s, inventory.Waste{OlderThan: 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		if !explained(t, s, a) {
			t.Error("a result in use is no longer explained")
		}
	})
}

package inventory_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// TestRecordedInputsAreNoResults checks that the list of dependencies of a result does not
// count as a result.
func TestRecordedInputsAreNoResults(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := key.NewAction("reader", key.Version("1"), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := larder.Do(t.Context(), l, a, func(ctx context.Context) ([]byte, error) { return larder.ReadFile(ctx, path) }); err != nil {
		t.Fatal(err)
	}
	kinds := map[inventory.Kind]int{}
	for r, err := range inventory.Records(t.Context(), l.Store(), inventory.Selection{}) {
		if err != nil || r.Node != "reader" && r.Node != inventory.OperationsNode {
			t.Errorf("record of %s, %v", r.Node, err)
		}
		kinds[r.Kind]++
	}
	if kinds[inventory.Value] != 1 || kinds[inventory.RecordedInputs] != 1 || kinds[inventory.Operation] != 1 || len(kinds) != 3 {
		t.Errorf("kinds: %v", kinds)
	}
	nodes, err := inventory.Nodes(t.Context(), l.Store(), inventory.Selection{})
	if err != nil || len(nodes) != 2 || nodes[0].Records != 1 || nodes[0].Links != 1 || nodes[1].Name != inventory.OperationsNode || nodes[1].Cost != 0 {
		t.Errorf("nodes: %+v, %v", nodes, err)
	}
}

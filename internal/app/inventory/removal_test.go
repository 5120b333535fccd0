package inventory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// left returns the number of records of each node.
func left(t testing.TB, s store.Store) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, r := range all(t, s) {
		n[r.Node]++
	}
	return n
}

// summary shows the deleted records.
func summary(r inventory.Removed) (text string) {
	for _, n := range r.Nodes {
		text += fmt.Sprintf("%s %d+%d; ", n.Name, n.Records, n.Links)
	}
	return text + fmt.Sprint(r.Manifests)
}

func TestClear(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		filled(t, s)
		sel, err := inventory.SelectNodes(t.Context(), s, "add")
		if err != nil {
			t.Fatal(err)
		}
		removed, err := inventory.Clear(t.Context(), s, sel)
		if err != nil || summary(removed) != "add 3+1; []" {
			t.Errorf("%s, %v", summary(removed), err)
		}
		if records, pinned, bytes := removed.Records(); records != 4 || pinned != 2 || bytes != 10 || removed.Freed == 0 {
			t.Errorf("%d records, %d pinned, %d bytes, %d freed", records, pinned, bytes, removed.Freed)
		}
		if n := left(t, s); len(n) != 3 || n["mul"] != 1 {
			t.Errorf("left: %v", n)
		}
		if m, err := inventory.Manifests(t.Context(), s); err != nil || len(m) != 1 {
			t.Errorf("manifests: %v, %v", m, err)
		}
	})
}

func TestClearAll(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		filled(t, s)
		removed, err := inventory.ClearAll(t.Context(), s)
		if records, _, _ := removed.Records(); err != nil || records != 7 || len(removed.Manifests) != 1 {
			t.Errorf("%+v, %v", removed, err)
		}
		if n := left(t, s); len(n) != 0 {
			t.Errorf("left: %v", n)
		}
		if m, err := inventory.Manifests(t.Context(), s); err != nil || len(m) != 0 {
			t.Errorf("manifests: %v, %v", m, err)
		}
		if u, err := s.Usage(t.Context()); err != nil || u.Bytes != 0 {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

// TestClearManifest deletes the records that a node of a flow used, through links, and no
// others.
func TestClearManifest(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		filled(t, s)
		pin(t, s, "/flows/letters#parts.train", record(t, "mul", 0, 0).Key)
		pin(t, s, "/flows/letters#parts.test")
		pin(t, s, "/flows/letters.old#stats")
		names, err := inventory.ManifestsOf(t.Context(), s, "/flows/letters", "stats")
		if err != nil || !slices.Equal(names, []string{"/flows/letters#stats"}) {
			t.Fatalf("%q, %v", names, err)
		}
		removed, err := inventory.ClearManifests(t.Context(), s, names...)
		if err != nil || summary(removed) != "add 1+1; [/flows/letters#stats]" {
			t.Errorf("%s, %v", summary(removed), err)
		}
		if n := left(t, s); n["add"] != 2 || n["mul"] != 1 {
			t.Errorf("left: %v", n)
		}
		names, err = inventory.ManifestsOf(t.Context(), s, "/flows/letters", "parts")
		if err != nil || len(names) != 2 {
			t.Errorf("%q, %v", names, err)
		}
		_, err = inventory.ManifestsOf(t.Context(), s, "/flows/letters", "part")
		if unknown := (*inventory.UnknownError)(nil); !errors.As(err, &unknown) || len(unknown.Nodes) != 2 {
			t.Errorf("%v", err)
		}
	})
}

func TestCollectByNode(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		filled(t, s)
		sel, err := inventory.SelectNodes(t.Context(), s, "add", inventory.FileDigestNode)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			waste   inventory.Waste
			removed string
			left    int
		}{
			{inventory.Waste{}, "[]", 7},
			{inventory.Waste{Nodes: sel, OlderThan: time.Hour}, "[]", 7},
			{inventory.Waste{Nodes: sel, DryRun: true, Pinned: true}, "add 3+1; (file digests) 1+0; []", 7},
			{inventory.Waste{Nodes: sel, DryRun: true}, "add 2+0; (file digests) 1+0; []", 7},
			{inventory.Waste{Nodes: sel}, "add 2+0; (file digests) 1+0; []", 4},
			{inventory.Waste{Nodes: sel, Pinned: true}, "add 1+1; []", 2},
		} {
			removed, err := inventory.Collect(t.Context(), s, tt.waste)
			if err != nil || summary(removed) != tt.removed {
				t.Errorf("%+v: removed %s, %v", tt.waste, summary(removed), err)
			}
			if n := len(all(t, s)); n != tt.left {
				t.Errorf("%+v: %d records are left", tt.waste, n)
			}
		}
	})
}

func TestCollectByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		first, linked := filled(t, s)
		<-time.After(40 * 24 * time.Hour)
		put(t, s, record(t, "add", 50, "new"))
		if _, err := s.Get(t.Context(), record(t, "mul", 0, 0).Key); err != nil { // a use
			t.Fatal(err)
		}
		removed, err := inventory.Collect(t.Context(), s, inventory.Waste{OlderThan: 30 * 24 * time.Hour})
		if err != nil || summary(removed) != "add 2+0; (file digests) 1+0; (unexplained) 1+0; []" {
			t.Errorf("removed %s, %v", summary(removed), err)
		}
		records := all(t, s)
		for _, k := range []key.Key{first.Key, linked.Key} {
			if _, ok := records[k]; !ok {
				t.Errorf("%s was pinned and is gone", k)
			}
		}
		if n := left(t, s); n["add"] != 3 || n["mul"] != 1 || len(n) != 2 {
			t.Errorf("left: %v", n)
		}
	})
}

func TestCollectBySize(t *testing.T) {
	const n, each = 20, 100 << 10
	onStores(t, func(t *testing.T, s store.Store) {
		var keys []key.Key
		for i := range n {
			r := record(t, "big", i, make([]byte, each))
			put(t, s, r)
			keys = append(keys, r.Key)
		}
		pin(t, s, "/flows/x#node", keys[:10]...)
		const limit = n * each / 4 // less than the pinned records
		estimate, err := inventory.Collect(t.Context(), s, inventory.Waste{MaxBytes: limit, DryRun: true})
		if err != nil || summary(estimate) != "big 10+0; []" || len(all(t, s)) != n {
			t.Errorf("would remove %s, %v", summary(estimate), err)
		}
		removed, err := inventory.Collect(t.Context(), s, inventory.Waste{MaxBytes: limit})
		if err != nil || summary(removed) != "big 10+0; []" || removed.Freed < 10*each {
			t.Errorf("removed %s, freed %d, %v", summary(removed), removed.Freed, err)
		}
		records := all(t, s)
		for _, k := range keys[:10] {
			if _, ok := records[k]; !ok {
				t.Errorf("%s was pinned and is gone", k)
			}
		}
		removed, err = inventory.Collect(t.Context(), s, inventory.Waste{MaxBytes: limit, Pinned: true})
		if _, pinned, _ := removed.Records(); err != nil || pinned < 5 || pinned > 6 {
			t.Errorf("removed %s, %d pinned, %v", summary(removed), pinned, err)
		}
		if u, err := s.Usage(t.Context()); err != nil || u.Bytes > limit {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

// TestAbandonedManifests checks that they are those of deleted flow files, and no others.
func TestAbandonedManifests(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		dir := t.TempDir()
		there := filepath.Join(dir, "there#1.yaml")
		if err := os.WriteFile(there, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		r := record(t, "add", 0, "zero")
		put(t, s, r)
		gone := filepath.Join(dir, "gone.yaml") + "#node"
		stay := []string{there + "#node", filepath.Join(dir, "built-in-go") + "#node", "relative.yaml#node", "no flow at all", ""}
		for _, name := range stay {
			pin(t, s, name)
		}
		pin(t, s, gone, r.Key)
		sel, err := inventory.Select(t.Context(), s, "add")
		if err != nil {
			t.Fatal(err)
		}
		for _, dry := range []bool{true, false} {
			removed, err := inventory.Collect(t.Context(), s, inventory.Waste{Nodes: sel, DryRun: dry})
			if err != nil || summary(removed) != "add 1+0; ["+gone+"]" {
				t.Errorf("dry run %v: %s, %v", dry, summary(removed), err)
			}
		}
		slices.Sort(stay)
		if names, err := inventory.Manifests(t.Context(), s); err != nil || !slices.Equal(names, stay) {
			t.Errorf("%q stay, %v", names, err)
		}
		if n := len(all(t, s)); n != 0 {
			t.Errorf("%d records are left", n)
		}
	})
}

package inventory_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

func TestNodes(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		filled(t, s)
		list, err := inventory.Nodes(t.Context(), s, inventory.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range list {
			got = append(got, fmt.Sprintf("%s: %d + %d links, %d pinned, %d bytes, %v, %v", n.Name, n.Records, n.Links, n.Pinned, n.Bytes, n.Cost, n.IsBookkeeping()))
			if n.Oldest.IsZero() || n.Newest.Before(n.Oldest) || n.Used.Before(n.Oldest.Truncate(0)) {
				t.Errorf("%s: from %v to %v, used %v", n.Name, n.Oldest, n.Newest, n.Used)
			}
		}
		want := []string{
			"add: 3 + 1 links, 2 pinned, 10 bytes, 3s, false",
			"mul: 1 + 0 links, 0 pinned, 8 bytes, 1s, false",
			"(file digests): 1 + 0 links, 0 pinned, 33 bytes, 0s, true",
			"(unexplained): 1 + 0 links, 0 pinned, 11 bytes, 1s, true",
		}
		slices.Sort(got[2:])
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestTotals(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		filled(t, s)
		total, err := inventory.Totals(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range total.Kinds {
			got = append(got, fmt.Sprint(k.Kind, " ", k.Records, " ", k.Bytes, " ", k.Cost))
		}
		if want := []string{"value 4 18 4s", "link 1 0 0s", "file digest 1 33 0s", "unexplained 1 11 1s"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if total.Usage.Records != 7 || total.Pinned != 2 || total.Manifests != 1 || total.Cost.Seconds() != 5 {
			t.Errorf("%+v", total)
		}
	})
}

func TestSelect(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		first, linked := filled(t, s)
		digits := strings.TrimPrefix(first.Key.String(), "k1-")
		for _, tt := range []struct {
			names []string
			want  int
		}{
			{nil, 7},
			{[]string{"add"}, 4}, // also hexadecimal digits, but the node is meant
			{[]string{"mul", "add"}, 5},
			{[]string{inventory.FileDigestNode}, 1},
			{[]string{inventory.UnexplainedNode}, 1},
			{[]string{first.Key.String()}, 1},
			{[]string{digits[:10]}, 1},
			{[]string{"k1-"}, 7},
			{[]string{linked.Key.String()[:12], "mul"}, 2},
		} {
			sel, err := inventory.Select(t.Context(), s, tt.names...)
			if err != nil {
				t.Errorf("%q: %v", tt.names, err)
				continue
			}
			n := 0
			for _, err := range inventory.Records(t.Context(), s, sel) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != tt.want {
				t.Errorf("%q selects %d records, want %d", tt.names, n, tt.want)
			}
		}
		_, err := inventory.Select(t.Context(), s, "add", "mull")
		if unknown := (*inventory.UnknownError)(nil); !errors.As(err, &unknown) || unknown.Name != "mull" || len(unknown.Nodes) != 4 {
			t.Errorf("error %v", err)
		}
		if _, err := inventory.SelectNodes(t.Context(), s, digits[:10]); err == nil {
			t.Error("SelectNodes takes the beginning of a key")
		}
		if _, err := inventory.Select(t.Context(), s, ""); err == nil {
			t.Error("an empty name selects something")
		}
	})
}

func TestFind(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		var keys []key.Key
		for i := range 30 {
			r := record(t, "many", i, i)
			r.Key = key.Key{1, 0xab, byte(i)}
			put(t, s, r)
			keys = append(keys, r.Key)
		}
		r, err := inventory.Find(t.Context(), s, keys[7].String()[:len("k1-ab07")])
		if err != nil || r.Key != keys[7] || r.Node != "many" {
			t.Errorf("found %v, %v", r.Key, err)
		}
		_, err = inventory.Find(t.Context(), s, "ab")
		ambiguous := (*inventory.AmbiguousError)(nil)
		if !errors.As(err, &ambiguous) || len(ambiguous.Candidates) != 20 || ambiguous.More != 10 {
			t.Fatalf("error %v", err)
		}
		for _, part := range []string{"30 keys", "and 10 more", "many (value)"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error should say %q: %v", part, err)
			}
		}
		if unknown := (*inventory.UnknownError)(nil); !errors.As(second(inventory.Find(t.Context(), s, "ff")), &unknown) {
			t.Error("a key was found that is not there")
		}
	})
}

// TestNodesCanBeShown checks names of operations that may come from an import.
func TestNodesCanBeShown(t *testing.T) {
	s := memory.New(memory.Options{})
	put(t, s, record(t, "red\x1b[31m\nname", 0, 0))
	for _, r := range all(t, s) {
		if r.Node != "red\uFFFD[31m\uFFFDname" {
			t.Errorf("node %q", r.Node)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

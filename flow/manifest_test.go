package flow

import (
	"cmp"
	"maps"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// TestManifestsComeBack checks that a manifest is read as written, without damaged entries.
func TestManifestsComeBack(t *testing.T) {
	k := func(b byte) key.Key { return key.Key(key.DigestOf([]byte{b})) }
	m, want := &manifest{name: "x"}, map[int]use{1: {record: k(2), action: k(3)}, 1 << 40: {record: k(4)}, 0: {record: k(1)}}
	m.add(0, k(9), k(8)) // differs from the last entry
	for i, u := range want {
		m.add(i, u.record, cmp.Or(u.action, u.record))
	}
	encoded := m.encode(m.with(moved(store.Manifest{}, nil)), 4)
	if got := usesOf(encoded); !maps.Equal(got, want) {
		t.Errorf("%v came back as %v", want, got)
	}
	if len(encoded.Keys) != 4 {
		t.Errorf("%d keys, want one a record and one more", len(encoded.Keys))
	}
	for cut := range len(encoded.Note) {
		damaged := encoded
		damaged.Note = encoded.Note[:cut]
		for i, u := range usesOf(damaged) {
			if u != want[i] {
				t.Errorf("of a note of %d bytes sample %d is %v", cut, i, u)
			}
		}
	}
	encoded.Keys = encoded.Keys[:2]
	if got := usesOf(encoded); len(got) != 1 {
		t.Errorf("of two keys came %v", got)
	}
}

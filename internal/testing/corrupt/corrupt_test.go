package corrupt

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestEachHarmIsUndone checks that a harm changes only one file of its kind, reaches each
// part of it, and that the saved content is restored.
func TestEachHarmIsUndone(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"packs/0123456789abcdef.pack": strings.Repeat("a", 80), "packs/0123456789abcdee.pack": strings.Repeat("b", 80), "MARK": "short", "lock": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "packs/0123456789abcdee.pack"), 0o444); err != nil {
		t.Fatal(err)
	}
	before := Remember(t, dir)
	all := Each(t, dir)
	const kinds, full = 4, 3 // one of them is empty
	if want := kinds*3 + full*(flips+cuts); len(all) != want {
		t.Errorf("%d harms, want %d", len(all), want)
	}
	random := rand.New(rand.NewPCG(1, 2))
	flipped := map[int]bool{}
	for _, h := range all {
		what := h.Do(t, dir, random)
		name, _, _ := strings.Cut(what, ": ")
		if kind := kindOf(name, before.files[name].mode); kind != h.kind {
			t.Errorf("%s is %s, want %s", what, kind, h.kind)
		}
		after := Remember(t, dir)
		for other, was := range before.files {
			if now := after.files[other]; reflect.DeepEqual(now, was) != (other != name) {
				t.Errorf("%s: %s has %d bytes, had %d", what, other, len(now.content), len(was.content))
			}
		}
		if now, was := after.files[name].content, before.files[name].content; len(now) == len(was) && len(was) == 80 {
			for i := range now {
				if now[i] != was[i] {
					flipped[i*flips/len(was)] = true
				}
			}
		}
		before.Restore(t)
		if now := Remember(t, dir); !reflect.DeepEqual(now, before) {
			t.Fatalf("%s: not undone: %+v", what, now)
		}
	}
	if len(flipped) != flips {
		t.Errorf("bits are flipped in %d of %d parts", len(flipped), flips)
	}
}

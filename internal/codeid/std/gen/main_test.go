package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestFilesAreUpToDate checks that the embedded files match the sources and the corrections.
func TestFilesAreUpToDate(t *testing.T) {
	testrand.Long(t)
	version, _, _ := strings.Cut(runtime.Version(), " ")
	made, err := os.ReadFile("../version.txt")
	if err != nil {
		t.Fatal(err)
	}
	if version != strings.TrimSpace(string(made)) {
		t.Skipf("the files are made by %s from its sources, this is %s", strings.TrimSpace(string(made)), version)
	}
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go generate writes (%v)", name, err)
		}
	}
	facts := strings.Split(strings.TrimSuffix(string(files["facts.txt"]), "\n"), "\n")
	if len(facts) < 5000 || !slices.IsSorted(facts) {
		t.Errorf("%d facts, sorted: %v", len(facts), slices.IsSorted(facts))
	}
}

func TestCorrections(t *testing.T) {
	cs, err := parseCorrections([]byte("# all\na.* pure reads\na.b ; the clock # why\na.b* writes\n\na.c unknown\na.d local; its place\nz pure\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.x": "|reads", "a.b": "the clock|writes", "a.bc": "|writes", "a.c": "?|reads", "a.d": "its place|reads"} {
		label, _ := cs.outside(name)
		effect, _ := cs.effect(name)
		if got := label + "|" + effect; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if _, ok := cs.outside("b.x"); ok {
		t.Error("b.x is known")
	}
	if got := cs.unused(); !slices.Equal(got, []string{"z"}) {
		t.Errorf("unused: %v", got)
	}
	if _, err := parseCorrections([]byte("a.b pur\n")); err == nil || !strings.Contains(err.Error(), `corrections.txt:1: unknown word "pur"`) {
		t.Errorf("a misspelt word: %v", err)
	}
}

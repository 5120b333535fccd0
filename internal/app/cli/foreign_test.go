package cli_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestForeignDirectoriesAreNoCache checks that a directory with names like those of a cache is
// refused by every command that would create, sweep or clear one there.
func TestForeignDirectoriesAreNoCache(t *testing.T) {
	b := newBench(t)
	old := time.Now().Add(-9 * 24 * time.Hour)
	for _, name := range []string{"packs", "tmp", "trash", "quarantine", "blobs"} {
		b.write("m/"+name+"/mine.txt", name)
		if err := os.Chtimes(b.path("m/"+name+"/mine.txt"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	b.write("m/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# of something else\n")
	before := tree(t, b.dir)
	for _, args := range []string{"gc", "gc --max-size 1KiB", "clear --all", "ls", "op clone -i " + b.path("data") + " -o " + b.path("out")} {
		r := inProcess(t, b.path("m"), strings.Fields(args)...)
		if r.status != 2 {
			t.Errorf("%s: status %d, want 2: %s", args, r.status, r.stderr)
		}
		mustContain(t, args, r.stderr, "the directory holds CACHEDIR.TAG", "and is not a cache")
		sameTree(t, args, tree(t, b.dir), before)
	}
}

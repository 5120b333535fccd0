package cli_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestKilledWhileWriting checks that a program killed while it replaces an output leaves
// the old one or the new one as a whole, and its inputs unchanged. The next run completes
// the work and cleans up.
func TestKilledWhileWriting(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	for i := range 300 {
		b.write(fmt.Sprintf("many/data/%03d_a.txt", i), fmt.Sprint(i))
	}
	if r := b.larder("op", "clone", "-i", "many", "-o", "links,copy=symbolic-link"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	many := tree(t, b.path("many"))
	for _, to := range []string{"underfolder:out", "csv:table.csv", "jsonl:lines.jsonl"} {
		_, path, _ := strings.Cut(to, ":")
		write := func(i int) []string {
			return []string{"op", []string{"reverse", "clone"}[i%2], "-i", "links", "-o", to + ",overwrite=replace", "--report", "report.json"}
		}
		var whole []map[string]string
		var took time.Duration
		for i := range 2 {
			start := time.Now()
			if r := b.larder(write(i)...); r.status != 0 {
				t.Fatal(r.stderr)
			}
			took = time.Since(start)
			whole = append(whole, tree(t, b.path(path)))
		}
		for i := range testrand.Rounds(8, 25) {
			c := b.command(write(i)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(rand.N(took), func() { _ = c.Process.Kill() }) // it may have ended
			_ = c.Wait()
			kill.Stop()
			if got := tree(t, b.path(path)); !maps.Equal(got, whole[0]) && !maps.Equal(got, whole[1]) {
				t.Fatalf("%s is neither the old nor the new: %d files", path, len(got))
			}
		}
		sameTree(t, "what was read", tree(t, b.path("many")), many)
		if r := b.larder(write(0)...); r.status != 0 {
			t.Fatal(r.stderr)
		}
		if r := b.larder(write(1)...); r.status != 0 {
			t.Fatal(r.stderr)
		}
		sameTree(t, path, tree(t, b.path(path)), whole[1])
	}
	left, err := filepath.Glob(b.path(".*.larder-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("killed writers left %q, %v", left, err)
	}
	if _, err := os.Stat(b.path("links/data/000_a.txt")); err != nil {
		t.Error(err)
	}
}

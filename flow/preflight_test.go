package flow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/csv"
)

// TestSinksLookAhead checks that a sink that cannot hold its input fails before the
// checkpoints above it are computed. A valid sink counts nothing twice.
func TestSinksLookAhead(t *testing.T) {
	for _, c := range []struct{ sink, want string }{
		{`{map: keep-keys, from: small, with: {keys: [stats]}}, {sink: csv, with: {path: out.csv}}`, "item stats: a mapping cannot be written to a field"},
		{`{map: keep-keys, from: small, with: {keys: [image]}}, {sink: jsonl, with: {path: out.jsonl}}`, "cannot be written to JSON"},
		{`{map: keep-keys, from: small, with: {keys: [image]}}, {sink: jsonl, with: {path: out.jsonl, files: {image: file}}}`, "the item is not a file"},
		{`{map: keep-keys, from: small, with: {keys: [image, metadata]}}, {sink: jsonl, with: {path: out.jsonl, files: {image: metadata}}}`, `two items map to field "metadata"`},
		{`{map: keep-keys, from: small, with: {keys: [image, stats]}}, {sink: csv, with: {path: out.csv, files: {image: stats}}}`, `two items map to column "stats"`},
		{`{map: keep-keys, from: small, with: {keys: [stats]}}, {sink: jsonl, with: {path: out.jsonl}}`, ""},
	} {
		middle, sink, _ := strings.Cut(c.sink, "}}, ")
		f := letters(t, `
  stats: {map: image-stats, from: letters, checkpoint: true}
  small: {map: image-resize, from: stats, with: {width: 8}, checkpoint: true}
  cached: `+middle+`}}
  out: `+strings.Replace(sink, "with:", "from: cached, with:", 1)+`
`)
		r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Pool: pool.New(1)})
		computed := node(t, r, "stats").Computed
		if c.want == "" {
			if err != nil || computed != 26 || node(t, r, "small").Computed != 26 {
				t.Errorf("%s: %v, %d computed", c.sink, err, computed)
			}
			continue
		}
		if !errors.Is(err, component.ErrUnfit) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "node out") {
			t.Errorf("%s: %v, want %s", c.sink, err, c.want)
		}
		if computed > 1 {
			t.Errorf("%s: %d computed before", c.sink, computed)
		}
	}
}

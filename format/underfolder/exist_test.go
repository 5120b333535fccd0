package underfolder_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/csv"
	"github.com/larder-data/larder/format/jsonl"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/pool"
)

// TestWhatIsThereIsReportedAlike checks that all sinks report existing outputs in the same way.
func TestWhatIsThereIsReportedAlike(t *testing.T) {
	for name, sink := range map[string]func(path component.Path) any{
		"underfolder":           func(p component.Path) any { return underfolder.Sink{Path: p, Overwrite: output.Forbid} },
		"underfolder if-empty":  func(p component.Path) any { return underfolder.Sink{Path: p, Overwrite: output.IfEmpty} },
		"underfolder new-files": func(p component.Path) any { return underfolder.Sink{Path: p, Overwrite: output.NewFiles} },
		"jsonl":                 func(p component.Path) any { return jsonl.Sink{Path: p, Overwrite: "forbid"} },
		"csv":                   func(p component.Path) any { return csv.Sink{Path: p, Overwrite: "forbid"} },
	} {
		path := filepath.Join(t.TempDir(), "out")
		c, params, err := component.Of(sink(component.Path(path)))
		if err != nil {
			t.Fatal(err)
		}
		write := func(text string) error {
			in := component.One(dataset.List(dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("txt", text)})))
			return c.Write(context.Background(), &component.Env{Node: "out", Pool: pool.New(1), Stats: &dataset.NodeStats{}}, params, in)
		}
		if err := write("one"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := write("two"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

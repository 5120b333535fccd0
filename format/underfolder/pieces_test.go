package underfolder_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/key"
)

// TestFilesThatAreEditedWhileTheyStand checks that an edit of a reused file during a run is
// not mistaken for its output. Writing one file edits in place, and writing several links
// the reused ones to a new directory.
func TestFilesThatAreEditedWhileTheyStand(t *testing.T) {
	for _, others := range []int{1, 2} {
		for _, edited := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "out")
			of := make([]dataset.Chunk, 4) // inputs of the samples
			for i := range of {
				of[i] = dataset.Chunk{Samples: 1, Digest: key.DigestOf([]byte{byte(i)})}
			}
			var before component.Layout
			run := func(during func() error) (p *component.OutputChunks, sealed bool) {
				t.Helper()
				p = &component.OutputChunks{Chunks: of, Before: before}
				env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pieces: p}
				ds := dataset.Func(len(of), func(_ context.Context, i int) (dataset.Sample, error) {
					return dataset.NewSample(text("a", of[i].Digest.String(), false)), during()
				})
				if err := (underfolder.Sink{Path: component.Path(path), Overwrite: output.Replace}).Write(t.Context(), env, component.One(ds)); err != nil {
					t.Fatal(err)
				}
				s, err := filestate.Of(t.Context(), []filestate.Root{{Path: path}})
				if err != nil {
					t.Fatal(err)
				}
				return p, p.Seal(s.Files())
			}
			p, sealed := run(func() error { return nil })
			if !sealed || len(p.Copied) > 0 {
				t.Fatalf("the first time: %v, %+v", sealed, p.Copied)
			}
			before = p.After
			for i := range others {
				of[i].Digest = key.DigestOf([]byte{byte(i), 1})
			}
			p, sealed = run(func() error {
				if !edited {
					return nil
				}
				file := filepath.Join(path, "data/3_a.txt")
				at := time.Now().Add(time.Hour) // another time than one tick before
				return errors.Join(os.WriteFile(file, []byte("edited"), 0o666), os.Chtimes(file, at, at))
			})
			if want := []component.Copy{{Was: others, Now: others, Samples: 4 - others}}; len(p.Copied) != 1 || p.Copied[0] != want[0] {
				t.Errorf("%+v is taken over, want %+v", p.Copied, want)
			}
			if sealed == edited {
				t.Errorf("%d others written, edited %v: it is relied on: %v", others, edited, sealed)
			}
		}
	}
}

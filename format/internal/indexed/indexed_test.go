package indexed_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/store/memory"
)

// TestIndexIsCached checks that a file is scanned once while its state is unchanged, and that
// another question needs another index.
func TestIndexIsCached(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "a.records")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	open := func(about string) string {
		t.Helper()
		f, err := indexed.Open(t.Context(), path, l, indexed.Scan{
			Name: "index", About: []any{about},
			Func: func(_ context.Context, _ string, from io.ReaderAt, size int64) ([]byte, error) {
				runs++
				return io.ReadAll(io.NewSectionReader(from, 0, size))
			},
			Check: func([]byte) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(f.Index)
	}
	write("one")
	for want := range 3 {
		if got := open("x"); got != "one" || runs != want+1 {
			t.Errorf("%q after %d runs: a file that was written just now may be changed with the same time", got, runs)
		}
	}
	indexed.Later(t, time.Hour)
	for i, c := range []struct {
		about, write string
		runs         int
	}{{"x", "", 4}, {"x", "", 4}, {"y", "", 5}, {"x", "two", 6}, {"x", "", 6}} {
		if c.write != "" {
			write(c.write)
		}
		want := "one"
		if i >= 3 {
			want = "two"
		}
		if got := open(c.about); got != want || runs != c.runs {
			t.Errorf("%d: %q after %d runs, want %q after %d", i, got, runs, want, c.runs)
		}
	}
}

// TestUnsettledFiles checks files whose state may hide a change: a read returns the content
// of the digest, or an error.
func TestUnsettledFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.records")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := indexed.Open(t.Context(), path, nil, indexed.Scan{Func: func(context.Context, string, io.ReaderAt, int64) ([]byte, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	p := f.Part("part", "txt", 0, 3)
	if _, err := p.Digest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, []byte("two"), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if b, err := p.Bytes(t.Context()); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%q, %v", b, err)
	}
}

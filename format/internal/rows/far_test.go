package rows_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/store/memory"
)

// TestFarRows checks that the starts of rows of a file at a URL are found once per version
// and method, and that a row has the opened version.
func TestFarRows(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := objectstoretest.Serve(t)
	runs := 0
	open := func(url string, l *larder.Larder, about string) *rows.Index {
		t.Helper()
		x := &rows.Index{Keeping: rows.Keeping{Larder: l, About: []any{about}}}
		err := x.Add(t.Context(), url, func(r io.Reader, add func(int64)) error {
			runs++
			return pairs(r, add)
		})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	content := bytes.Repeat([]byte("ab"), 50_000)
	url := s.Put("a.rows", content)
	for i, c := range []struct {
		about string
		runs  int
	}{{"x", 1}, {"x", 1}, {"y", 2}} {
		x := open(url, l, c.about)
		if r, err := x.Row(t.Context(), x.Len()-1); err != nil || runs != c.runs || x.Len() != 50_000 || string(r.Text) != "ab" || r.Path != url {
			t.Errorf("%d: %d rows after %d runs, %q, %v", i, x.Len(), runs, r.Text, err)
		}
	}
	alone := open(url, nil, "x")
	s.Put("a.rows", bytes.Repeat([]byte("cd"), 50_000))
	if r, err := alone.Row(t.Context(), 3); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%q, %v", r.Text, err)
	}
	x := open(url, l, "x")
	if r, err := x.Row(context.WithoutCancel(t.Context()), 3); err != nil || string(r.Text) != "cd" || runs != 4 {
		t.Errorf("%q after %d runs, %v", r.Text, runs, err)
	}
}

// FuzzStarts checks that starts lie in the file, and increase.
func FuzzStarts(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}, int64(10))
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		starts, err := rows.StartsOf(b, size)
		last := int64(-1)
		for _, s := range starts {
			if err == nil && (s <= last || s >= size) {
				t.Errorf("%v in %d bytes", starts, size)
			}
			last = s
		}
	})
}

// TestFarCompressed checks that compressed data at a URL, recognised by its name or its
// first bytes, has the rows of the local file, with and without a store.
func TestFarCompressed(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := objectstoretest.Serve(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(bytes.Repeat([]byte("ab"), 50_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.rows.gz", "a.rows"} {
		url := s.Put(name, packed.Bytes())
		for _, l := range []*larder.Larder{nil, l, l} {
			x := &rows.Index{Keeping: rows.Keeping{Larder: l, About: []any{"x"}}}
			if err := x.Add(t.Context(), url, pairs); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if r, err := x.Row(t.Context(), x.Len()-1); err != nil || x.Len() != 50_000 || string(r.Text) != "ab" {
				t.Errorf("%s: %d rows, %q, %v", name, x.Len(), r.Text, err)
			}
		}
		x := &rows.Index{}
		cut := s.Put(name, packed.Bytes()[:packed.Len()/2])
		if err := x.Add(t.Context(), cut, pairs); err == nil || !strings.Contains(err.Error(), cut) {
			t.Errorf("%s: cut off: %d rows, %v", name, x.Len(), err)
		}
	}
}

package indexed_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/store/memory"
)

// firstBytes is an index: the first bytes of a file.
func firstBytes(runs *int) indexed.Scan {
	return indexed.Scan{
		Name: "first bytes",
		Func: func(_ context.Context, _ string, from io.ReaderAt, _ int64) ([]byte, error) {
			*runs++
			b := make([]byte, 3)
			_, err := from.ReadAt(b, 0)
			return b, err
		},
		Check: func([]byte) error { return nil },
	}
}

func openMemory(t *testing.T) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestFarFile checks that a file at a URL is scanned once per version. A part has an
// identity without a fetch, and never belongs to another version.
func TestFarFile(t *testing.T) {
	l := openMemory(t)
	s := objectstoretest.Serve(t)
	runs := 0
	open := func(url string) *indexed.File {
		t.Helper()
		f, err := indexed.Open(t.Context(), url, l, firstBytes(&runs))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	url := s.Put("a", bytes.Repeat([]byte("one two "), 100))
	f := open(url)
	again := open(url + "?token=of-today")
	if runs != 1 || string(again.Index) != "one" || f.Path != url || again.Path != url {
		t.Errorf("gone through %d times: %q, %s", runs, again.Index, again.Path)
	}
	s.Requests()
	p, q := f.Part("part", "txt", 4, 3), again.Part("part", "txt", 4, 3)
	ref, err := p.Ref(t.Context())
	same, serr := q.Ref(t.Context())
	if err != nil || serr != nil || ref != same || ref.IsContent() || len(s.Requests()) != 0 {
		t.Errorf("%v, %v, %v, %v", ref, same, err, serr)
	}
	for _, q := range []*indexed.Part{f.Part("part", "txt", 4, 4), f.Part("part", "txt", 5, 3), f.Part("part", "bin", 4, 3)} {
		if other, err := q.Ref(t.Context()); err != nil || other == ref {
			t.Errorf("another part has the same name: %v", err)
		}
	}
	d, err := p.Digest(t.Context())
	b, berr := q.Bytes(t.Context())
	if err != nil || berr != nil || string(b) != "two" || d.IsZero() || len(s.Requests()) != 1 {
		t.Errorf("%q, %v, %v", b, err, berr)
	}
	s.Put("a", bytes.Repeat([]byte("six ten "), 100))
	changed := open(url)
	if runs != 2 || string(changed.Index) != "six" {
		t.Errorf("gone through %d times: %q", runs, changed.Index)
	}
	if other, err := changed.Part("part", "txt", 4, 3).Ref(t.Context()); err != nil || other == ref {
		t.Errorf("a part of another version has the same name: %v", err)
	}
	if b, err := changed.Part("part", "txt", 4, 3).Bytes(t.Context()); err != nil || string(b) != "ten" {
		t.Errorf("%q, %v", b, err)
	}
	alone, err := indexed.Open(t.Context(), url, nil, firstBytes(&runs))
	if err != nil {
		t.Fatal(err)
	}
	s.Put("a", make([]byte, 800))
	if b, err := alone.Part("part", "txt", 4, 3).Bytes(t.Context()); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := q.Bytes(t.Context()); err != nil || string(b) != "two" {
		t.Errorf("what is cached is of the version that was opened: %q, %v", b, err)
	}
}

// TestFarUncertain checks that nothing is stored for a version that may hide a change, and
// that parts have the scanned content.
func TestFarUncertain(t *testing.T) {
	l := openMemory(t)
	s := objectstoretest.Serve(t)
	runs := 0
	now := time.Now()
	url := s.PutAs("a", []byte("one two"), "", now)
	for want := range 2 {
		if _, err := indexed.Open(t.Context(), url, l, firstBytes(&runs)); err != nil || runs != want+1 {
			t.Errorf("%d, %v", runs, err)
		}
	}
	f, err := indexed.Open(t.Context(), url, l, firstBytes(&runs))
	if err != nil {
		t.Fatal(err)
	}
	p := f.Part("part", "txt", 4, 3)
	if ref, err := p.Ref(t.Context()); err != nil || !ref.IsContent() {
		t.Errorf("%v, %v", ref, err)
	}
	s.PutAs("a", []byte("six ten"), "", now)
	if b, err := p.Bytes(t.Context()); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFarPaths checks that patterns match URLs, and that errors for invalid ones contain no
// credentials.
func TestFarPaths(t *testing.T) {
	all, err := indexed.Files(t.Context(), "https://me:hunter2@host/a-{08..10}.tar?token=hunter2", ".tar")
	if err != nil || len(all) != 3 || all[2] != "https://me:hunter2@host/a-10.tar?token=hunter2" {
		t.Errorf("%v, %v", all, err)
	}
	if in := indexed.Path("s3://bucket/a-{08..10}.tar").Inputs(&component.Env{}); len(in) != 3 || in[2].Path != "s3://bucket/a-10.tar" {
		t.Errorf("%v are read", in)
	}
	for path, want := range map[string]string{
		"https://me:hunter2@host/a-{b.tar":         "{ without }",
		"https://me:hunter2@host/a?token=hunter2{": "{ without }",
		"gs://me:hunter2@host/a":                   "cannot read gs://",
		"httpx://host/a":                           "did you mean http",
		"https:///a":                               "no host",
	} {
		if err := indexed.Path(path).Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := indexed.Files(t.Context(), "https://me:hunter2@host/a/?hunter2", ".tar"); err == nil || !strings.Contains(err.Error(), "by a pattern") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// TestFarCompressed checks that compressed data at a URL is unpacked by its name or its
// first bytes, with and without a store.
func TestFarCompressed(t *testing.T) {
	l := openMemory(t)
	s := objectstoretest.Serve(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("one two")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.gz", "a"} {
		url := s.Put(name, packed.Bytes())
		for _, l := range []*larder.Larder{nil, l, l} {
			runs := 0
			scan := firstBytes(&runs)
			scan.Packed = func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b")) }
			if f, err := indexed.Open(t.Context(), url, l, scan); err != nil || string(f.Index) != "one" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

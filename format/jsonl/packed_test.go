package jsonl_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/jsonl"
	"github.com/larder-data/larder/format/output"
)

// many returns a dataset of n lines with numbers.
func many(n int) component.Samples {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(document("n", int64(i)), document("text", strings.Repeat("ab", i%50))), nil
	})
}

// unpacked returns the content of a file for other programs.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader
	switch filepath.Ext(path) {
	case ".gz":
		r, err = gzip.NewReader(f)
	case ".zst":
		r, err = zstd.NewReader(f)
	case ".xz":
		r, err = xz.NewReader(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCompressedLines checks that compressed files have the same lines, in any order, the
// same bytes in each run, and leave no other files.
func TestCompressedLines(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := t.TempDir()
	plain := filepath.Join(dir, "x.jsonl")
	if _, err := write(t, jsonl.Sink{Path: component.Path(plain)}, component.One(many(5000))); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".gz", ".zst", ".xz"} {
		path := plain + ext
		sink := jsonl.Sink{Path: component.Path(path), Overwrite: output.Replace}
		if _, err := write(t, sink, component.One(many(5000))); err != nil {
			t.Fatal(err)
		}
		if got := unpacked(t, path); got != string(want) {
			t.Errorf("%s has %d bytes of lines, want %d", path, len(got), len(want))
		}
		if info, err := os.Stat(path); err != nil || info.Size() > int64(len(want))/4 {
			t.Errorf("%s: %v, %v", path, info.Size(), err)
		}
		stats, err := write(t, sink, component.One(many(5000)))
		if err != nil || stats.BytesWritten.Load() != 0 {
			t.Errorf("%s was written again: %d bytes, %v", path, stats.BytesWritten.Load(), err)
		}
		ds, err := jsonl.Source{}.Open(t.Context(), path, nil)
		if err != nil || ds.Len() != 5000 {
			t.Fatal(ds, err)
		}
		for _, i := range []int{4999, 0, 2500, 1, 4998} {
			s, err := ds.At(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := s.Value(t.Context(), "n"); v != int64(i) || err != nil {
				t.Errorf("line %d is %v, %v", i, v, err)
			}
		}
		packed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		unnamed := filepath.Join(dir, "y.jsonl") // recognised only by its first bytes
		if err := os.WriteFile(unnamed, packed, 0o666); err != nil {
			t.Fatal(err)
		}
		if ds, err := (jsonl.Source{}).Open(t.Context(), unnamed, nil); err != nil || ds.Len() != 5000 {
			t.Errorf("%s under another name: %v", path, err)
		}
		of, err := jsonl.Source{}.Open(t.Context(), plain, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, aerr := dataset.Chunks(t.Context(), of)
		b, berr := dataset.Chunks(t.Context(), ds)
		if aerr != nil || berr != nil || !slices.Equal(a, b) {
			t.Errorf("lines are known otherwise than without compression: %v, %v", aerr, berr)
		}
		if ds, err = (jsonl.Source{}).Open(t.Context(), path, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := ds.At(t.Context(), 3000); !errors.Is(err, dataset.ErrChanged) {
			t.Errorf("of another file: %v", err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestCompressedOutputs checks that the files of several outputs are compressed on request,
// and that a directory may have both kinds.
func TestCompressedOutputs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	in := component.Data{Names: []string{"a", "b"}, Parts: []component.Samples{many(2), many(3)}}
	if _, err := write(t, jsonl.Sink{Path: component.Path(dir), Compress: rows.Zstd}, in); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "c.jsonl"), []byte("{\"n\":9}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ds, err := jsonl.Source{File: "from"}.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		n, _ := s.Value(t.Context(), "n")
		from, _ := s.Get(t.Context(), "from.name")
		got = append(got, fmt.Sprint(from, " ", n))
	}
	if want := []string{"a.jsonl.zst 0", "a.jsonl.zst 1", "b.jsonl.zst 0", "b.jsonl.zst 1", "b.jsonl.zst 2", "c.jsonl 9"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for says, s := range map[string]jsonl.Sink{
		"must end with .gz":         {Path: "x.jsonl", Compress: rows.Gzip},
		"taken to be compressed":    {Path: "x.jsonl.zst", Compress: rows.Plain},
		"by zstd must end with .zs": {Path: "x.jsonl.gz", Compress: rows.Zstd},
		"by xz must end with .xz":   {Path: "x.jsonl", Compress: rows.XZ},
		"bzip2 is read, but not wr": {Path: "x.jsonl.bz2"},
		"not written; end the name": {Path: "x.jsonl.bz2", Compress: rows.Zstd},
	} {
		s.Path = component.Path(filepath.Join(dir, string(s.Path)))
		if _, err := write(t, s, component.One(many(1))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v", s, err)
		}
	}
}

// TestDamagedCompression checks that a file that is cut, changed or not compressed is an
// error that names it, and never gives fewer lines.
func TestDamagedCompression(t *testing.T) {
	dir := t.TempDir()
	for _, ext := range []string{".gz", ".zst", ".xz"} {
		path := filepath.Join(dir, "x.jsonl"+ext)
		if _, err := write(t, jsonl.Sink{Path: component.Path(path)}, component.One(many(3000))); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0x10
		for what, b := range map[string][]byte{
			"cut off": whole[:len(whole)/2], "cut off at its end": whole[:len(whole)-1], "changed": flipped, "lines": []byte("{\"n\":1}\n"), "one byte": whole[:1],
		} {
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			if ds, err := (jsonl.Source{}).Open(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), path+" cannot be unpacked") {
				t.Errorf("%s %s: %v, %v", ext, what, ds, err)
			}
		}
	}
}

// TestBadCompressedLines checks that errors name the line in the uncompressed data.
func TestBadCompressedLines(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("{\"n\":1}\n\n{\"n\":2}\n{\"n\":}\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	ds, err := jsonl.Source{}.Open(t.Context(), file(t, "x.jsonl.gz", packed.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ds.At(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "x.jsonl.gz:4:6: ") {
		t.Errorf("the error is %v", err)
	}
}

// TestLargeWindows checks that a zstd file that needs more memory than allowed says so, and
// is not called damaged.
func TestLargeWindows(t *testing.T) {
	b := []byte("\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00") // a window of a GiB, and no content
	_, err := jsonl.Source{}.Open(t.Context(), file(t, "x.jsonl.zst", string(b)), nil)
	if err == nil || !strings.Contains(err.Error(), "needs more memory") {
		t.Errorf("the error is %v", err)
	}
}

// TestPattern checks that a pattern matches local files as it matches URLs.
func TestPattern(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"j-0.jsonl", "j-1.jsonl", "other.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "{\"n\": %d}\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := jsonl.Source{}.Open(t.Context(), filepath.Join(dir, "j-{0..1}.jsonl"), nil)
	if err != nil || all.Len() != 2 {
		t.Errorf("%v", err)
	}
}

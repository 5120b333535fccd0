package rows_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
)

// pairs returns an index whose rows are two bytes each.
func pairs(r io.Reader, add func(start int64)) error {
	b, err := io.ReadAll(r)
	for i := 0; i < len(b); i += 2 {
		add(int64(i))
	}
	return err
}

func TestIndexOfFiles(t *testing.T) {
	dir := t.TempDir()
	var x rows.Index
	for i, content := range []string{"", "aabb", "", "", "cc\nd", "e"} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := x.Add(t.Context(), path, pairs); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"aa", "bb", "cc", "\nd", "e"}
	if x.Len() != len(want) {
		t.Fatalf("%d rows", x.Len())
	}
	for i, w := range want {
		if r, err := x.Row(t.Context(), i); err != nil || string(r.Text) != w {
			t.Errorf("row %d is %q, %v; want %q", i, r.Text, err, w)
		}
	}
	r, err := x.Row(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Fail(2, 1, errors.New("bad")); err.Error() != filepath.Join(dir, "4")+":2:1: bad" {
		t.Error(err)
	}
}

func TestIndexRefuses(t *testing.T) {
	dir := t.TempDir()
	var x rows.Index
	if err := x.Add(t.Context(), filepath.Join(dir, "none"), pairs); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file gives %v", err)
	}
	if err := x.Add(t.Context(), dir, pairs); err == nil {
		t.Error("a directory was read")
	}
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 10), 0o666); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := x.Add(ended, path, pairs); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if x.Len() != 0 {
		t.Errorf("%d rows", x.Len())
	}
}

// TestLongRow checks that a row larger than the memory bound is not read.
func TestLongRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Truncate(path, codec.ItemLimit()+1)); err != nil {
		t.Fatal(err)
	}
	var x rows.Index
	if err := x.Add(t.Context(), path, func(_ io.Reader, add func(int64)) error { add(0); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Row(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "x:1:1: 536870913 bytes exceed the limit of 536870912") {
		t.Errorf("the error is %v", err)
	}
}

// TestNamedFilesOfAnotherDirectory checks that files that rows name are those of the directory
// in which the rows were found.
func TestNamedFilesOfAnotherDirectory(t *testing.T) {
	dir := t.TempDir()
	in, next := filepath.Join(dir, "in"), filepath.Join(dir, "next")
	for _, f := range []string{in, next} {
		if err := errors.Join(os.MkdirAll(filepath.Join(f, "a"), 0o777), os.WriteFile(filepath.Join(f, "a/x.txt"), []byte(f), 0o666), os.WriteFile(filepath.Join(f, "rows"), []byte("aa"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var x rows.Index
	if err := x.Add(t.Context(), filepath.Join(in, "rows"), pairs); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		named := func(string) (string, bool, error) { return "a/x.txt", true, nil }
		fields, err := rows.Files{Items: map[string]string{"x": "name"}, Listing: x.Listing()}.Fields(filepath.Join(in, "rows"), named)
		if err == nil {
			_, err = fields[0].Item.Bytes(t.Context())
		}
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(in, in+"-old"), os.Rename(next, in)); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), "a/x.txt") {
		t.Errorf("the error is %v", err)
	}
}

package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
)

// numbered returns an index of files whose rows, of many lengths, contain their positions.
func numbered(t *testing.T, files, each int) (*Index, []string) {
	t.Helper()
	var x Index
	var want []string
	dir := t.TempDir()
	for f := range files {
		var b strings.Builder
		for i := range each {
			row := fmt.Sprintf("%d %d %s\n", f, i, strings.Repeat("x", i*i%977))
			want = append(want, row)
			b.WriteString(row)
		}
		path := filepath.Join(dir, fmt.Sprint(f))
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		err := x.Add(t.Context(), path, func(r io.Reader, add func(int64)) error {
			all, err := io.ReadAll(r)
			start := int64(0)
			for line := range strings.SplitAfterSeq(string(all), "\n") {
				if line != "" {
					add(start)
				}
				start += int64(len(line))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &x, want
}

// TestRowsReadAhead checks that rows are the same in any order and concurrency, and that
// each reader owns its rows.
func TestRowsReadAhead(t *testing.T) {
	x, want := numbered(t, 3, 2000)
	read := func(i int) {
		r, err := x.Row(t.Context(), i)
		if err != nil || string(r.Text) != want[i] {
			t.Errorf("row %d is %.20q..., want %.20q... (%v)", i, r.Text, want[i], err)
			return
		}
		clear(r.Text)
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := worker; i < x.Len(); i += 4 {
				read(i)
			}
		})
	}
	wait.Wait()
	for _, i := range testrand.New(t).Perm(x.Len()) {
		read(i)
	}
	for i := x.Len() - 1; i >= 0; i-- {
		read(i)
	}
}

// TestRowsReadAheadAreOfOneFile checks that a changed file is an error, even if some of it
// was prefetched. Prefetched bytes are the old content.
func TestRowsReadAheadAreOfOneFile(t *testing.T) {
	x, want := numbered(t, 1, 20_000)
	if _, err := x.Row(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	path := x.files[0].path
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(before, []byte("x"), []byte("y")), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	failed := false
	for i := range x.Len() {
		r, err := x.Row(t.Context(), i)
		switch {
		case err != nil:
			if failed = true; !errors.Is(err, dataset.ErrChanged) {
				t.Fatal(err)
			}
		case string(r.Text) != want[i]:
			t.Fatalf("row %d is %.20q", i, r.Text)
		}
	}
	if !failed {
		t.Error("no row was refused")
	}
}

package rows_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
)

// chunksOf returns the chunks of files with these contents, with a row per line.
func chunksOf(t *testing.T, on []string, contents ...string) []dataset.Chunk {
	t.Helper()
	all, err := dataset.Chunks(t.Context(), linesOf(t, on, contents...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func linesOf(t *testing.T, on []string, contents ...string) dataset.Dataset[dataset.Sample] {
	t.Helper()
	var x rows.Index
	dir := t.TempDir()
	for i, c := range contents {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(c), 0o666); err != nil {
			t.Fatal(err)
		}
		err := x.Add(t.Context(), path, func(r io.Reader, add func(int64)) error {
			all, err := io.ReadAll(r)
			for at := 0; at < len(all); {
				add(int64(at))
				n := bytes.IndexByte(all[at:], '\n') + 1
				if n == 0 {
					break
				}
				at += n
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return x.Alone(on, func(rows.Row) (dataset.Sample, error) { return dataset.NewSample(), nil })
}

// TestChunksNextToAChange checks that a changed row changes only the chunks around it.
func TestChunksNextToAChange(t *testing.T) {
	const n = 20_000
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("row %d of many\n", i*i)
	}
	text := func(all []string) string { return strings.Join(all, "") }
	before := chunksOf(t, nil, text(all))
	if total := samples(before); total != n {
		t.Fatalf("there are %d samples", total)
	}
	if len(before) < n/200 {
		t.Errorf("there are %d chunks", len(before))
	}
	for what, now := range map[string][]string{
		"changed":  slices.Replace(slices.Clone(all), 9000, 9001, "another\n"),
		"inserted": slices.Insert(slices.Clone(all), 9000, "another\n"),
		"in front": slices.Insert(slices.Clone(all), 0, "another\n"),
		"deleted":  slices.Delete(slices.Clone(all), 9000, 9001),
		"cut":      append(slices.Clone(all[:n-1]), strings.TrimRight(all[n-1], "\n")),
		"longer":   append(slices.Clone(all), "another\n"),
	} {
		after := chunksOf(t, nil, text(now))
		others := 0
		for _, s := range after {
			if !slices.Contains(before, s) {
				others++
			}
		}
		if others == 0 || others > 5 || samples(after) != len(now) {
			t.Errorf("%s: %d of %d chunks are others, %d samples", what, others, len(after), samples(after))
		}
	}
}

func samples(all []dataset.Chunk) (n int) {
	for _, s := range all {
		n += s.Samples
	}
	return n
}

// TestChunksThatDiffer checks that equal bytes in other rows, files or formats have
// other digests, and that equal rows share chunks.
func TestChunksThatDiffer(t *testing.T) {
	row := strings.Repeat("x", 20) + "\n"
	one := chunksOf(t, nil, row+row)
	for what, other := range map[string][]dataset.Chunk{
		"two files":      chunksOf(t, nil, row, row),
		"other columns":  chunksOf(t, []string{"a"}, row+row),
		"no end":         chunksOf(t, nil, row+strings.TrimRight(row, "\n")),
		"two files, cut": chunksOf(t, nil, row+row[:3], row[3:]),
	} {
		if slices.ContainsFunc(other, func(s dataset.Chunk) bool { return s.Digest == one[0].Digest }) {
			t.Errorf("%s: %v is not distinguished from %v", what, other, one)
		}
	}
	if got := chunksOf(t, nil, "", strings.Repeat(row, 10_000), ""); len(got) > 10_000/8 || samples(got) != 10_000 {
		t.Errorf("10000 rows that are alike are %d chunks of %d", len(got), samples(got))
	}
	long := strings.Repeat("y", 3<<20)
	got := chunksOf(t, nil, row+long+"\n"+row+row)
	if samples(got) != 4 || len(got) != 2 || got[0].Samples != 2 {
		t.Errorf("a long row: %v", got)
	}
	if other := chunksOf(t, nil, row+long+"z\n"+row+row); other[0] == got[0] || other[1] != got[1] {
		t.Errorf("a long row that is another: %v, then %v", got, other)
	}
}

// TestChunksOfOtherRows checks that equal bytes cut into other rows have other digests.
func TestChunksOfOtherRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("aabbcc"), 0o666); err != nil {
		t.Fatal(err)
	}
	var digests []dataset.Chunk
	for _, starts := range [][]int64{{0, 2, 4}, {0, 2, 5}, {0, 3, 4}} {
		var x rows.Index
		err := x.Add(t.Context(), path, func(_ io.Reader, add func(int64)) error {
			for _, s := range starts {
				add(s)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := dataset.Chunks(t.Context(), x.Alone(nil, nil))
		if err != nil || len(all) != 1 || slices.Contains(digests, all[0]) {
			t.Fatalf("rows at %v: %v (%v), before %v", starts, all, err, digests)
		}
		digests = append(digests, all...)
	}
}

// TestChunksOfAFileThatChanged checks that a file that changed after its rows were found
// has no chunks.
func TestChunksOfAFileThatChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, []byte("aabbcc"), 0o666); err != nil {
		t.Fatal(err)
	}
	var x rows.Index
	if err := x.Add(t.Context(), path, pairs); err != nil {
		t.Fatal(err)
	}
	for _, now := range []string{"aabbccdd", "aab"} {
		if err := os.WriteFile(path, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
		if all, err := dataset.Chunks(t.Context(), x.Alone(nil, nil)); err == nil || all != nil {
			t.Errorf("with %q it has %v", now, all)
		} else if len(now) > 6 && !errors.Is(err, dataset.ErrChanged) {
			t.Errorf("the error is %v", err)
		}
	}
}

package numpy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
)

// openRows returns a column of n rows of int64 of the given width, and its file. The first
// number of a row is its position.
func openRows(t *testing.T, n, elements int) (*column, string) {
	t.Helper()
	a, err := array.New(array.Int64, []int{n, elements}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		binary.LittleEndian.PutUint64(a.Data[8*elements*i:], uint64(i))
	}
	c, _ := codec.ByExtension("npy")
	b, err := c.Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	col, err := openColumn(path)
	if err != nil {
		t.Fatal(err)
	}
	col.size = int64(8 * elements)
	if runtime.GOOS == "linux" && col.view == nil {
		t.Fatal("a file of our own is not mapped")
	}
	return col, path
}

// TestViewsHaveWhatFilesHave checks that rows copied from mapped memory equal rows that are
// read, also those in several chunks.
func TestViewsHaveWhatFilesHave(t *testing.T) {
	col, _ := openRows(t, 40, 20_000)
	read := func(i int) []byte {
		dst := make([]byte, col.size)
		if err := (&row{col, i}).ReadArray(dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	seen := make([][]byte, 40)
	for i := range seen {
		seen[i] = read(i)
	}
	if v := col.view; v != nil {
		if done, err := v.read(make([]byte, 100), chunkBytes-50, 1); !done || err != nil {
			t.Errorf("what was just read is not copied: %v", err)
		}
		for k := range v.seen {
			v.seen[k].Store(-int64(1 << 62)) // not in memory, and not to be checked again
		}
		if done, _ := v.read(make([]byte, 1), 0, 1<<62); done {
			t.Error("what is not in memory is copied")
		}
	}
	col.view = nil
	for i, was := range seen {
		if got := read(i); !bytes.Equal(got, was) || binary.LittleEndian.Uint64(got) != uint64(i) {
			t.Errorf("row %d differs", i)
		}
	}
}

// TestFilesThatAreCutShort checks that a file that is cut while it is mapped is an error,
// and does not end the process.
func TestFilesThatAreCutShort(t *testing.T) {
	col, path := openRows(t, 1000, 1000)
	dst := make([]byte, col.size)
	if err := (&row{col, 999}).ReadArray(dst); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 10_000); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := (&row{col, 999}).ReadArray(dst); !errors.Is(err, dataset.ErrChanged) {
			t.Errorf("%v", err)
		}
	}
}

// TestMappingsAreBounded checks that files are mapped up to a bound, in which closed ones
// do not count.
func TestMappingsAreBounded(t *testing.T) {
	col, path := openRows(t, 10, 1000)
	if col.view == nil {
		t.Skip("files are not mapped on this system")
	}
	mapped.Add(maxMapped)
	other, err := openColumn(path)
	mapped.Add(-maxMapped)
	if err != nil {
		t.Fatal(err)
	}
	if other.view != nil {
		t.Error("files are mapped beyond the bound")
	}
	before := mapped.Load()
	v := viewOf(col.file, col.stat.Size)
	if now := mapped.Load(); v == nil || now != before+col.stat.Size {
		t.Fatalf("%d bytes are mapped, and %d were", now, before)
	}
	v.close()
	if now := mapped.Load(); now != before {
		t.Errorf("%d bytes are mapped, and %d were", now, before)
	}
}

package numpy_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/numpy"
)

// write writes a value as its extension says.
func write(t *testing.T, path string, v any) {
	t.Helper()
	c, ok := codec.ByExtension(strings.TrimPrefix(filepath.Ext(path), "."))
	if !ok {
		t.Fatalf("no codec for %s", path)
	}
	b, err := c.Encode(v)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// count returns an array of integers from 0.
func count(t *testing.T, shape ...int) *array.Array {
	t.Helper()
	n, err := array.Bytes(array.Uint8, shape)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i)
	}
	a, err := array.New(array.Uint8, shape, data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func value(t *testing.T, s dataset.Sample, item string) *array.Array {
	t.Helper()
	v, err := s.Value(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*array.Array)
}

func TestRows(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.npy"), count(t, 4, 2, 3))
	write(t, filepath.Join(dir, "y.npy"), count(t, 4))
	write(t, filepath.Join(dir, "both.npz"), map[string]*array.Array{"x": count(t, 4, 2, 3), "y": count(t, 4)})
	for _, path := range []string{dir, filepath.Join(dir, "both.npz")} {
		ds, err := numpy.Source{}.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if ds.Len() != 4 {
			t.Fatalf("%s: %d rows", path, ds.Len())
		}
		s, err := ds.At(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Keys(); !reflect.DeepEqual(got, []string{"x", "y"}) {
			t.Errorf("%s: items %v", path, got)
		}
		x, y := value(t, s, "x"), value(t, s, "y")
		if !reflect.DeepEqual(x.Shape, []int{2, 3}) || x.Data[0] != 12 || len(y.Shape) != 0 || y.Data[0] != 2 {
			t.Errorf("%s: row 2 is %v %v and %v %v", path, x.Shape, x.Data, y.Shape, y.Data)
		}
	}
	ds, err := numpy.Source{}.Open(t.Context(), filepath.Join(dir, "x.npy"))
	if err != nil || ds.Len() != 4 {
		t.Errorf("one file: %v, %v", ds, err)
	}
}

func TestWhatIsNoArray(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string)
		want string
	}{
		"nothing":      {func(string) {}, "no file *.npy"},
		"unequal rows": {func(dir string) { write(t, dir+"/a.npy", count(t, 3)); write(t, dir+"/b.npy", count(t, 4)) }, "has 4; give arrays of equal length"},
		"no rows":      {func(dir string) { write(t, dir+"/a.npy", count(t)) }, "is a scalar"},
		"cut off":      {func(dir string) { write(t, dir+"/a.npy", count(t, 9)); _ = os.Truncate(dir+"/a.npy", 130) }, "needs 9 bytes"},
		"no such file": {func(dir string) { _ = os.Remove(dir) }, "no such file or directory"},
		"text":         {func(dir string) { _ = os.WriteFile(dir+"/a.npy", []byte("hello"), 0o600) }, "not a NumPy file"},
		"a pipe":       {func(dir string) { _ = syscall.Mkfifo(dir+"/a.npy", 0o600) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			c.make(dir)
			if _, err := (numpy.Source{}).Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestFortran checks the rows of an array whose first index varies fastest.
func TestFortran(t *testing.T) {
	ds, err := numpy.Source{}.Open(t.Context(), "testdata/fortran.npy")
	if err != nil || ds.Len() != 4 {
		t.Fatal(err)
	}
	for i := range 4 {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(3 * i)
		if got, err := array.Values[int64](*value(t, s, "fortran")); err != nil || !reflect.DeepEqual(got, []int64{n, n + 1, n + 2}) {
			t.Errorf("row %d: %v, %v", i, got, err)
		}
	}
	b, err := os.ReadFile("testdata/fortran.npy")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.npy")
	if err := os.WriteFile(path, b[:len(b)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (numpy.Source{}).Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "needs 96 bytes") {
		t.Errorf("%v", err)
	}
}

// TestChange checks that a file that changes under a dataset is an error, and never gives
// other rows.
func TestChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	write(t, path, count(t, 100))
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	ds, err := numpy.Source{}.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{99}, 128); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Value(t.Context(), "a"); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%v", err)
	}
}

// TestFilesOfNumPy checks that files of NumPy are read as NumPy reads them.
func TestFilesOfNumPy(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "python3", "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("there is no NumPy to write files: %v %s", err, out)
	}
	dir := t.TempDir()
	script := `
import numpy as n, sys
n.save(sys.argv[1] + "/big.npy", n.arange(12, dtype=">f4").reshape(3, 4))
n.save(sys.argv[1] + "/small.npy", n.arange(3, dtype="i8"))
`
	if out, err := exec.CommandContext(t.Context(), "python3", "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	ds, err := numpy.Source{}.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	big, err := array.Values[float32](*value(t, s, "big"))
	if err != nil || !reflect.DeepEqual(big, []float32{4, 5, 6, 7}) {
		t.Errorf("%v, %v", big, err)
	}
}

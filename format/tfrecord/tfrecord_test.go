package tfrecord_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/tfrecord"
	"github.com/larder-data/larder/pool"
)

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

func write(t testing.TB, path string, samples ...dataset.Sample) error {
	t.Helper()
	in := component.Data{Parts: []component.Samples{dataset.List(samples...)}}
	return tfrecord.Sink{Path: component.Path(path), Overwrite: output.Replace}.Write(t.Context(), env(), in)
}

// shown returns the samples of a file as a string.
func shown(t testing.TB, s tfrecord.Source, path string) (all []string, err error) {
	t.Helper()
	ds, err := s.Open(t.Context(), path, env())
	if err != nil {
		return nil, err
	}
	for sample, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			return all, err
		}
		var items []string
		for f := range sample.Fields() {
			v, err := f.Item.Value(t.Context())
			if err != nil {
				return all, err
			}
			if a, ok := v.(*array.Array); ok {
				v = fmt.Sprintf("%v%v%x", a.DType, a.Shape, a.Data)
			}
			items = append(items, fmt.Sprintf("%s=%v", f.Key, v))
		}
		all = append(all, strings.Join(items, " "))
	}
	return all, nil
}

func item(key, ext string, v any) dataset.Field {
	return dataset.Field{Key: key, Item: dataset.NewItem(ext, v)}
}

func numbers[T array.Element](t testing.TB, values ...T) *array.Array {
	t.Helper()
	a, err := array.From(values, len(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestWhatIsWrittenIsRead checks the kinds of lists that examples have.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, name := range []string{"a.tfrecord", "a.tfrecord.gz", "a.tfrec.zst"} {
		path := filepath.Join(t.TempDir(), name)
		err := write(t, path,
			dataset.NewSample(item("n", "json", int64(-7)), item("ok", "json", true), item("x", "json", 0.5), item("text", "txt", "ä"), item("doc", "json", map[string]any{"a": int64(1)}),
				item("i8", "npy", numbers[int8](t, -1, 2)), item("u16", "npy", numbers[uint16](t, 65535)), item("f", "npy", numbers[float32](t, 1, 2)), item("none", "npy", numbers[int64](t))),
			dataset.NewSample(),
			dataset.NewSample(item("b", "bin", []byte{0, 255})),
			dataset.NewSample(item("several", "json", []any{"x", "ä"}), item("no", "json", []any{}), item("unset", "json", nil), item("mixed", "json", []any{"x", true})),
		)
		if err != nil {
			t.Fatal(err)
		}
		got, err := shown(t, tfrecord.Source{Formats: map[string]string{"text": "txt", "doc": "json"}}, path)
		want := []string{
			"doc=map[a:1] f=float32[2]0000803f00000040 i8=int64[2]ffffffffffffffff0200000000000000 n=int64[1]f9ffffffffffffff none=int64[0] ok=int64[1]0100000000000000 text=ä u16=int64[1]ffff000000000000 x=float32[1]0000003f",
			"",
			"b=[0 255]",
			`mixed=[91 34 120 34 44 116 114 117 101 93] no=[] several=[x ä] unset=<nil>`,
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestWhatNoExampleCanHave(t *testing.T) {
	for name, f := range map[string]dataset.Field{
		"doubles":        item("a", "npy", numbers[float64](t, 1)),
		"a double":       item("a", "json", 0.1),
		"large unsigned": item("a", "npy", numbers[uint64](t, math.MaxUint64)),
		"its name":       item("\xff", "txt", "a"),
	} {
		if err := write(t, filepath.Join(t.TempDir(), "a.tfrecord"), dataset.NewSample(f)); !errors.Is(err, component.ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSequencesAreRefused checks that a SequenceExample is refused: it would be read as an
// Example without its lists.
func TestSequencesAreRefused(t *testing.T) {
	if got, err := shown(t, tfrecord.Source{}, "testdata/sequence.tfrecord"); err == nil || !strings.Contains(err.Error(), "SequenceExample") {
		t.Errorf("%q, %v", got, err)
	}
}

// three writes a file of three records, and returns it.
func three(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tfrecord")
	err := write(t, path, dataset.NewSample(item("a", "txt", "one")), dataset.NewSample(item("a", "txt", strings.Repeat("two", 50))), dataset.NewSample(item("a", "json", int64(3))))
	b, rerr := os.ReadFile(path)
	if err := errors.Join(err, rerr); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFilesThatBreakOff checks that a file cut anywhere is an error, or is read to the cut
// if the parameters ask for it.
func TestFilesThatBreakOff(t *testing.T) {
	whole, path := three(t), filepath.Join(t.TempDir(), "b.tfrecord")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := shown(t, tfrecord.Source{}, path)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	ends := 0
	for n := range len(whole) {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := shown(t, tfrecord.Source{}, path)
		if err == nil {
			ends++ // a cut between records cannot be detected
		}
		if !slices.Equal(got, all[:len(got)]) {
			t.Errorf("%d bytes are read as %q", n, got)
		}
		if got, err = shown(t, tfrecord.Source{Incomplete: true}, path); err != nil || !slices.Equal(got, all[:len(got)]) {
			t.Errorf("incomplete, %d bytes: %q, %v", n, got, err)
		}
	}
	if ends != 3 {
		t.Errorf("%d beginnings of the file are read without an error, want those of 0, 1 and 2 records", ends)
	}
}

// TestLengthThatLooksLikeGzip checks a first record of 559,903 bytes, which begins as gzip
// does.
func TestLengthThatLooksLikeGzip(t *testing.T) {
	const record = 0x08_8b1f
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	for n := record; n > record-100; n-- {
		text := strings.Repeat("x", n)
		if err := write(t, path, dataset.NewSample(item("a", "txt", text))); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() != 8+4+record+4 {
			continue
		}
		if got, err := shown(t, tfrecord.Source{}, path); err != nil || !slices.Equal(got, []string{fmt.Sprintf("a=%v", []byte(text))}) {
			t.Errorf("%d samples, %.50q, %v", len(got), got, err)
		}
		return
	}
	t.Fatal("no record has that length")
}

func TestZlibIsNamed(t *testing.T) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (tfrecord.Source{}).Open(t.Context(), path, env()); err == nil || !strings.Contains(err.Error(), "x.tfrecord: zlib compression") {
		t.Errorf("the error is %v", err)
	}
}

// TestEveryByteIsVerified checks that a changed byte anywhere is an error of its record or of
// the file, and never gives another value.
func TestEveryByteIsVerified(t *testing.T) {
	whole, path := three(t), filepath.Join(t.TempDir(), "b.tfrecord")
	for n := range whole {
		b := bytes.Clone(whole)
		b[n] ^= 1 << (n % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := shown(t, tfrecord.Source{}, path); err == nil || !strings.Contains(err.Error(), "b.tfrecord") {
			t.Errorf("byte %d changed: %q, %v", n, got, err)
		}
	}
}

func TestExamplesComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tfrecord")
	rapid.Check(t, func(r *rapid.T) {
		var fields []dataset.Field
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zä/_]{1,9}`), 0, 5, rapid.ID).Draw(r, "names") {
			fields = append(fields, dataset.Field{Key: name, Item: dataset.NewBytes("bin", rapid.SliceOf(rapid.Byte()).Draw(r, "content"))})
		}
		if err := write(t, path, dataset.NewSample(fields...)); err != nil {
			r.Fatal(err)
		}
		ds, err := tfrecord.Source{}.Open(t.Context(), path, env())
		if err != nil {
			r.Fatal(err)
		}
		s, err := ds.At(t.Context(), 0)
		if err != nil || ds.Len() != 1 || s.Len() != len(fields) {
			r.Fatalf("%d samples of %d items, %v", ds.Len(), s.Len(), err)
		}
		for _, f := range fields {
			was, _ := f.Item.Bytes(t.Context())
			it, err := s.Item(f.Key)
			if err != nil {
				r.Fatal(err)
			}
			if now, err := it.Bytes(t.Context()); err != nil || !bytes.Equal(was, now) {
				r.Fatalf("%s is %q, was %q, %v", f.Key, now, was, err)
			}
		}
	})
}

// FuzzExamples checks that any bytes are refused, or mean the same after they are written
// again.
func FuzzExamples(f *testing.F) {
	b := three(f)
	f.Add(b[12 : len(b)-4])
	f.Fuzz(func(t *testing.T, b []byte) {
		if read, same := tfrecord.CheckExample(b); read && !same {
			t.Error("it is read as something else once it was written")
		}
	})
}

// FuzzFiles checks that the index of any file has no position outside of it.
func FuzzFiles(f *testing.F) {
	f.Add(three(f), false)
	f.Fuzz(func(t *testing.T, b []byte, incomplete bool) {
		x, err := tfrecord.Scan(t.Context(), b, incomplete)
		if err == nil && !tfrecord.CheckIndex(x, int64(len(b))) {
			t.Errorf("the index %x is not sound", x)
		}
	})
}

package parquet_test

import (
	"bytes"
	"encoding/binary"
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
	"github.com/larder-data/larder/format/parquet"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"
)

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

func write(t testing.TB, s parquet.Sink, path string, samples ...dataset.Sample) error {
	t.Helper()
	s.Path, s.Overwrite = component.Path(path), output.Replace
	return s.Write(t.Context(), env(), component.Data{Parts: []component.Samples{dataset.List(samples...)}})
}

// shown returns the samples of a file as a string.
func shown(t testing.TB, path string) (all []string, err error) {
	t.Helper()
	ds, err := parquet.Source{}.Open(t.Context(), path, env())
	if err != nil {
		return nil, err
	}
	if ds.Len() > 1000 {
		return nil, errors.New("more rows than were written")
	}
	for i := range ds.Len() {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			return all, err
		}
		var items []string
		for f := range s.Fields() {
			text, err := show(t, f.Item)
			if err != nil {
				return all, err
			}
			items = append(items, f.Key+"="+text)
		}
		all = append(all, strings.Join(items, " "))
	}
	return all, nil
}

func show(t testing.TB, it *dataset.Item) (string, error) {
	v, err := it.Value(t.Context())
	if a, ok := v.(*array.Array); ok {
		return fmt.Sprintf("%v%v%x", a.DType, a.Shape, a.Data), err
	}
	return fmt.Sprintf("%T(%v)", v, v), err
}

func item(key, ext string, v any) dataset.Field {
	return dataset.Field{Key: key, Item: dataset.NewItem(ext, v)}
}

func numbers[T array.Element](t testing.TB, shape []int, values ...T) *array.Array {
	t.Helper()
	a, err := array.From(values, len(values))
	if err == nil {
		a, err = array.New(a.DType, shape, a.Data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	list := func(s ...any) []any { return append([]any{}, s...) }
	for _, c := range []struct {
		types  string
		in, is any
	}{
		{"", int64(-7), int64(-7)},
		{"", true, true},
		{"", 0.1, 0.1},
		{"", math.NaN(), numbers(t, nil, math.NaN())},
		{"float32", 0.5, 0.5},
		{"int8", int64(-128), int64(-128)},
		{"uint64", int64(math.MaxInt64), int64(math.MaxInt64)},
		{"json", nil, nil},
		{"string", nil, nil},
		{"", "ä\x00", "ä\x00"},
		{"", "", ""},
		{"", map[string]any{"a": list(int64(1), nil)}, map[string]any{"a": list(int64(1), nil)}},
		{"", list(int64(1), nil, int64(2)), list(int64(1), nil, int64(2))},
		{"", list(list("a"), nil, list()), list(list("a"), nil, list())},
		{"json", list("a", int64(1)), list("a", int64(1))},
		{"", nil, nil},
		{"", list(), list()},
		{"list<string>", list("a", "b"), list("a", "b")},
		{"list<list<string>>", list(list("a"), list()), list(list("a"), list())},
		{"list<int16>", list(int64(1), int64(-2)), numbers[int16](t, []int{2}, 1, -2)},
		{"", numbers[int8](t, []int{2, 3}, 1, -2, 3, -4, 5, -6), nil},
		{"", numbers[uint16](t, []int{1, 1, 2}, 1, 65535), nil},
		{"", numbers[float32](t, []int{0}), nil},
		{"", numbers[float64](t, []int{4}, 1, 2, math.Inf(1), math.NaN()), nil},
		{"", numbers[bool](t, []int{3}, true, false, true), nil},
		{"", numbers[uint64](t, []int{2}, 1, math.MaxUint64), nil},
	} {
		ext := "json"
		if _, ok := c.in.(*array.Array); ok {
			ext = "npy"
		}
		if c.is == nil && c.in != nil {
			c.is = c.in
		}
		var types map[string]string
		if c.types != "" {
			types = map[string]string{"x": c.types}
		}
		in := dataset.NewItem(ext, c.in)
		if f, ok := c.in.(float64); ok && math.IsNaN(f) {
			in = dataset.NewItem("npy", c.is)
			types = map[string]string{"x": "float64"}
		}
		if err := write(t, parquet.Sink{Types: types}, path, dataset.NewSample(dataset.Field{Key: "x", Item: in})); err != nil {
			t.Errorf("%v: %v", c.in, err)
			continue
		}
		want, _ := show(t, dataset.NewItem(map[bool]string{true: "npy", false: "json"}[isArray(c.is)], c.is))
		if got, err := shown(t, path); err != nil || len(got) != 1 || got[0] != "x="+want {
			t.Errorf("%v as %q: %q, %v; want %q", c.in, c.types, got, err, want)
		}
	}
}

func isArray(v any) bool { _, ok := v.(*array.Array); return ok }

func TestWhatNoColumnCanHold(t *testing.T) {
	for name, c := range map[string]struct {
		types   map[string]string
		samples []dataset.Sample
	}{
		"no fields":     {nil, []dataset.Sample{dataset.NewSample(item("x", "json", map[string]any{}))}},
		"mixed":         {nil, []dataset.Sample{dataset.NewSample(item("x", "json", []any{"a", int64(1)}))}},
		"no items":      {nil, []dataset.Sample{dataset.NewSample()}},
		"another item":  {map[string]string{"x": "bool"}, []dataset.Sample{dataset.NewSample(item("x", "json", true)), dataset.NewSample(item("y", "json", true))}},
		"another type":  {nil, []dataset.Sample{dataset.NewSample(item("x", "json", int64(1))), dataset.NewSample(item("x", "json", "a"))}},
		"a large float": {map[string]string{"x": "float32"}, []dataset.Sample{dataset.NewSample(item("x", "json", 0.1))}},
		"a large int":   {map[string]string{"x": "int8"}, []dataset.Sample{dataset.NewSample(item("x", "json", int64(128)))}},
		"a sign":        {map[string]string{"x": "uint64"}, []dataset.Sample{dataset.NewSample(item("x", "json", int64(-1)))}},
		"another rank":  {map[string]string{"x": "list<int8>"}, []dataset.Sample{dataset.NewSample(item("x", "npy", numbers[int8](t, []int{1, 1}, 1)))}},
		"its name":      {nil, []dataset.Sample{dataset.NewSample(item("\xff", "json", true))}},
	} {
		if err := write(t, parquet.Sink{Types: c.types}, filepath.Join(t.TempDir(), "a.parquet"), c.samples...); !errors.Is(err, component.ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (parquet.Sink{Types: map[string]string{"x": "list<number>"}}).Check(); err == nil {
		t.Error("a type that is not known")
	}
}

// many returns samples of columns of each kind.
func many(t testing.TB, n int) (all []dataset.Sample) {
	for i := range n {
		all = append(all, dataset.NewSample(
			item("n", "json", int64(i)),
			item("text", "json", strings.Repeat("x", i%5)),
			item("tokens", "npy", numbers[int32](t, []int{i % 3}, []int32{1, 2, 3}[:i%3]...)),
			item("doc", "json", map[string]any{"i": int64(i)}),
		))
	}
	return all
}

// TestPagesAreDecodedOnce checks that a sequential read of some columns decodes their pages
// once, and no others.
func TestPagesAreDecodedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	const n = 50_000
	if err := write(t, parquet.Sink{}, path, many(t, n)...); err != nil {
		t.Fatal(err)
	}
	ds, err := parquet.Source{}.Open(t.Context(), path, env())
	if err != nil || ds.Len() != n {
		t.Fatal(err)
	}
	before := parquet.Decoded()
	for i := range n {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"n", "tokens"} {
			if _, err := s.Value(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		if v, err := s.Value(t.Context(), "n"); err != nil || v != int64(i) {
			t.Fatalf("sample %d: %v, %v", i, v, err)
		}
	}
	if got := parquet.Decoded() - before; got != 6 {
		t.Errorf("%d pages were decoded, want 3 of each of two columns", got)
	}
}

// TestFilesThatChange checks that old content is not returned for a changed file.
func TestFilesThatChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := write(t, parquet.Sink{}, path, many(t, 3)...); err != nil {
		t.Fatal(err)
	}
	ds, err := parquet.Source{}.Open(t.Context(), path, env())
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t, parquet.Sink{}, path, many(t, 4)...); err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Value(t.Context(), "n"); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%v, %v", v, err)
	}
}

func written(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.parquet")
	err := write(t, parquet.Sink{Types: map[string]string{"f": "float32"}}, path, many(t, 5)...)
	b, rerr := os.ReadFile(path)
	if err := errors.Join(err, rerr); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDamage checks that a file cut anywhere is an error, and so is a changed byte of
// content. Changed metadata must not crash the reader.
func TestDamage(t *testing.T) {
	testrand.Long(t)
	whole, path := written(t), filepath.Join(t.TempDir(), "b.parquet")
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := shown(t, path); err == nil || !strings.Contains(err.Error(), "b.parquet") {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := shown(t, path)
	if err != nil {
		t.Fatal(err)
	}
	footer := len(whole) - 8 - int(whole[len(whole)-8]) - int(whole[len(whole)-7])<<8
	for n := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[n] ^= 1 << bit
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := shown(t, path)
			if n < footer && err == nil && !slices.Equal(got, want) {
				t.Errorf("byte %d, bit %d: %q", n, bit, got)
			}
			if err != nil && !strings.Contains(err.Error(), "b.parquet") && !strings.Contains(err.Error(), "too many rows") {
				t.Errorf("byte %d, bit %d: %v does not name the file", n, bit, err)
			}
		}
	}
}

// TestLevelsThatDoNotFit checks levels that continue an empty list, or that differ between
// columns of a list: they are an error.
func TestLevelsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		defA, repA, defB, repB []byte
		damaged                bool
	}{
		"right":                       {[]byte{2, 1}, []byte{0, 1}, []byte{1, 2}, []byte{0, 1}, false},
		"an empty list":               {[]byte{0}, []byte{0}, []byte{0}, []byte{0}, false},
		"an empty list that goes on":  {[]byte{2, 0}, []byte{0, 1}, []byte{2, 0}, []byte{0, 1}, true},
		"nothing, and then something": {[]byte{0, 2}, []byte{0, 1}, []byte{0, 2}, []byte{0, 1}, true},
		"one is longer":               {[]byte{2}, []byte{0}, []byte{2, 2}, []byte{0, 1}, true},
		"one is shorter":              {[]byte{2, 2}, []byte{0, 1}, []byte{2}, []byte{0}, true},
		"one is empty":                {[]byte{2}, []byte{0}, []byte{0}, []byte{0}, true},
		"the other is empty":          {[]byte{0}, []byte{0}, []byte{2}, []byte{0}, true},
	} {
		if err := parquet.Assemble(c.defA, c.repA, c.defB, c.repB); (err != nil) != c.damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := shown(t, "testdata/levels-changed.parquet"); err == nil || !strings.Contains(err.Error(), "column l of row 80 in ") || !strings.Contains(err.Error(), "levels-changed.parquet: invalid levels") {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// TestPagesOfFastparquet checks pages of plain values with extra bytes at their end.
func TestPagesOfFastparquet(t *testing.T) {
	want := []string{"b=bool(true) i=int64(1) f=float64(0.5) s=string(x)", "b=bool(false) i=int64(2) f=float64(1.5) s=string(y)", "b=bool(true) i=int64(3) f=float64(2.5) s=string(z)"}
	if got, err := shown(t, "testdata/fastparquet.parquet"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPagesOfDuckDB checks pages whose last run of levels exceeds the number of values.
func TestPagesOfDuckDB(t *testing.T) {
	want := []string{"l=int32[3]010000000200000003000000 t=string(x) s=map[string]interface {}(map[a:[[true] []]])"}
	if got, err := shown(t, "testdata/duckdb.parquet"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestOldLZ4 checks one block, and blocks in frames of Hadoop.
func TestOldLZ4(t *testing.T) {
	block := func(text string) string { return string(rune(len(text)<<4)) + text }
	frame := func(text string) string {
		sizes := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(text))), uint32(len(text)+1))
		return string(sizes) + block(text)
	}
	for b, want := range map[string]string{
		block("abcde"):                     "abcde",
		frame("ab") + frame("cde"):         "abcde",
		frame("abcde"):                     "abcde",
		frame("abcde") + frame("f"):        "",
		frame("ab"):                        "",
		frame("abcde")[:10]:                "",
		frame("abcde") + "\x00":            "",
		"\xff\xff\xff\xff\x00\x00\x00\x01": "",
	} {
		got, err := parquet.UnpackedLZ4([]byte(b), 5)
		if len(got) != 5 {
			got = nil // the page says so
		}
		if string(got) != want || want != "" && err != nil {
			t.Errorf("%q: %q, %v", b, got, err)
		}
	}
}

func TestTwoFieldsOfOneName(t *testing.T) {
	if got, err := shown(t, "testdata/two-fields.parquet"); err == nil || !strings.Contains(err.Error(), "column a: two fields are named x") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPagesOfNothing checks empty pages that Spark calls compressed: they have a null.
func TestPagesOfNothing(t *testing.T) {
	if got, err := shown(t, "testdata/empty-page.parquet"); err != nil || !slices.Equal(got, []string{"value=<nil>(<nil>)"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestListsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	value := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching("[ab]{0,2}"), 0, 3), 0, 3), func(in [][]string) any {
		list := []any{}
		for _, l := range in {
			inner := []any{}
			for _, s := range l {
				inner = append(inner, s)
			}
			list = append(list, inner)
		}
		return list
	}))
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOf(value).Draw(r, "values")
		var samples []dataset.Sample
		for _, v := range values {
			samples = append(samples, dataset.NewSample(item("x", "json", v)))
		}
		if err := write(t, parquet.Sink{Types: map[string]string{"x": "list<list<string>>"}}, path, samples...); err != nil {
			r.Fatal(err)
		}
		got, err := shown(t, path)
		if err != nil || len(got) != len(values) {
			r.Fatal(got, err)
		}
		for i, v := range values {
			if want := fmt.Sprintf("x=%T(%v)", v, v); got[i] != want {
				r.Fatalf("%q, want %q", got[i], want)
			}
		}
	})
}

// FuzzFiles checks that reading any file ends with an error or values.
func FuzzFiles(f *testing.F) {
	f.Add(written(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "a.parquet")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = shown(t, path)
	})
}

// FuzzPages checks that decoding any page ends with an error or as many values as it
// claims.
func FuzzPages(f *testing.F) {
	for encoding := range 10 {
		f.Add([]byte{2, 0, 0, 0, 3, 1, 0, 0, 0, 'a'}, 1, encoding, 6, true, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, values, encoding, physical int, opt, list bool) {
		if values < 0 || values > 1000 {
			return
		}
		if err := parquet.CheckPage(b, values, encoding, physical, opt, list); err != nil {
			t.Error(err)
		}
	})
}

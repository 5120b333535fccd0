package arrow_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/arrow"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/output"
)

func write(t testing.TB, types columns.Types, path string, samples ...dataset.Sample) error {
	t.Helper()
	s := arrow.Sink{Path: component.Path(path), Overwrite: output.Replace, Types: types}
	return s.Write(t.Context(), env(), component.Data{Parts: []component.Samples{dataset.List(samples...)}})
}

// drawn draws values of a kind, some missing where they may be.
func drawn(k *columns.Kind) *rapid.Generator[any] {
	var one *rapid.Generator[any]
	depth := 0
	for ; k.Of == columns.List; depth++ {
		k = k.Elem
	}
	switch k.Of {
	case "bool":
		one = rapid.Map(rapid.Bool(), func(v bool) any { return v })
	case "int16":
		one = rapid.Map(rapid.Int16(), func(v int16) any { return int64(v) })
	case "float64":
		one = rapid.Map(rapid.Float64Range(-9, 9), func(v float64) any { return v })
	case "string":
		one = rapid.Map(rapid.StringMatching("[aä]{0,3}"), func(v string) any { return v })
	}
	for range depth {
		inner := one
		one = rapid.Map(rapid.SliceOfN(inner, 0, 3), func(v []any) any { return slices.Clone(v) })
	}
	return rapid.OneOf(rapid.Just[any](nil), one)
}

// TestWhatIsWrittenIsRead checks that rows of columns of each kind survive in files and
// streams, for our reader and Apache's.
func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	types := columns.Types{"b": "bool", "i": "int16", "f": "float64", "s": "string", "l": "list<int16>", "bb": "list<bool>", "ss": "list<list<string>>", "fff": "list<list<list<float64>>>"}
	rapid.Check(t, func(r *rapid.T) {
		path := filepath.Join(dir, rapid.SampledFrom([]string{"a.arrow", "a.arrows"}).Draw(r, "kind"))
		var samples []dataset.Sample
		var want []string
		for range rapid.IntRange(0, 20).Draw(r, "rows") {
			var fields []dataset.Field
			var texts []string
			for _, name := range []string{"b", "bb", "f", "fff", "i", "l", "s", "ss"} {
				k, err := columns.ParseKind(types[name])
				if err != nil {
					r.Fatal(err)
				}
				v := drawn(k).Draw(r, name)
				fields = append(fields, dataset.Field{Key: name, Item: dataset.NewItem("json", v)})
				texts = append(texts, name+"="+plain(v))
			}
			samples, want = append(samples, dataset.NewSample(fields...)), append(want, strings.Join(texts, " "))
		}
		if err := write(t, types, path, samples...); err != nil {
			r.Fatal(err)
		}
		if got := ours(t, r, path); !slices.Equal(got, want) {
			r.Fatalf("%q\nwant %q", got, want)
		}
		if rows := theirs(t, r, path); rows != int64(len(want)) {
			r.Fatalf("%d rows, want %d", rows, len(want))
		}
	})
}

// ours returns the content of a file by our reader, arrays as lists.
func ours(t testing.TB, r *rapid.T, path string) (all []string) {
	ds, err := arrow.Source{}.Open(t.Context(), path, env())
	if err != nil {
		r.Fatal(err)
	}
	for i := range ds.Len() {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			r.Fatal(err)
		}
		var texts []string
		for f := range s.Fields() {
			v, err := f.Item.Value(t.Context())
			if err != nil {
				r.Fatal(err)
			}
			texts = append(texts, f.Key+"="+plain(v))
		}
		all = append(all, strings.Join(texts, " "))
	}
	return all
}

// plain returns a value as a string, and the elements of an array as lists.
func plain(v any) string {
	a, ok := v.(*array.Array)
	if !ok {
		return fmt.Sprint(v)
	}
	var all []any
	switch a.DType {
	case array.Bool:
		all = elements[bool](a)
	case array.Int16:
		all = elements[int16](a)
	default:
		all = elements[float64](a)
	}
	var lists func(shape []int) any
	lists = func(shape []int) any {
		if len(shape) == 0 {
			first := all[0]
			all = all[1:]
			return first
		}
		list := []any{}
		for range shape[0] {
			list = append(list, lists(shape[1:]))
		}
		return list
	}
	return fmt.Sprint(lists(a.Shape))
}

func elements[T array.Element](a *array.Array) (all []any) {
	values, err := array.Values[T](*a)
	if err != nil {
		panic(err)
	}
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// theirs reads a file with Apache's reader and checks its content.
func theirs(t testing.TB, r *rapid.T, path string) (rows int64) {
	memory := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer memory.AssertSize(t, 0)
	f, err := os.Open(path)
	if err != nil {
		r.Fatal(err)
	}
	defer f.Close()
	if strings.HasSuffix(path, "s") {
		in, err := ipc.NewReader(f, ipc.WithAllocator(memory))
		if err != nil {
			r.Fatal(err)
		}
		defer in.Release()
		for in.Next() {
			rows += in.RecordBatch().NumRows()
		}
		if in.Err() != nil {
			r.Fatal(in.Err())
		}
		return rows
	}
	in, err := ipc.NewFileReader(f, ipc.WithAllocator(memory))
	if err != nil {
		r.Fatal(err)
	}
	defer in.Close()
	for i := range in.NumRecords() {
		batch, err := in.RecordBatchAt(i)
		if err != nil {
			r.Fatal(err)
		}
		rows += batch.NumRows()
		batch.Release()
	}
	return rows
}

// TestManyBatches checks that samples beyond the size of a batch fill several, each of
// which is found.
func TestManyBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	large := strings.Repeat("x", 3<<20)
	var samples []dataset.Sample
	for i := range 12 {
		samples = append(samples, dataset.NewSample(
			dataset.Field{Key: "i", Item: dataset.NewItem("json", int64(i))},
			dataset.Field{Key: "text", Item: dataset.NewItem("txt", large)},
			dataset.Field{Key: "raw", Item: dataset.NewBytes("bin", []byte{byte(i)})},
			dataset.Field{Key: "doc", Item: dataset.NewItem("json", map[string]any{"i": int64(i)})},
		))
	}
	if err := write(t, nil, path, samples...); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if n := in.NumRecords(); n != 3 {
		t.Errorf("%d batches of 36 MiB, want 3 of 16 at most", n)
	}
	got, err := shown(t, arrow.Source{}, path)
	if err != nil || len(got) != 12 {
		t.Fatal(len(got), err)
	}
	for i, row := range got {
		if want := fmt.Sprintf("i=%d text=%s raw=[%d] doc=map[i:%d]", i, large, i, i); row != want {
			t.Errorf("row %d has %d bytes, want %d", i, len(row), len(want))
		}
	}
}

func TestWhatNoColumnCanHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	item := func(key string, v any) dataset.Sample {
		return dataset.NewSample(dataset.Field{Key: key, Item: dataset.NewItem("json", v)})
	}
	for _, samples := range [][]dataset.Sample{{item("x", map[string]any{})}, {item("x", int64(1)), item("x", "a")}} {
		if err := write(t, nil, path, samples...); !errors.Is(err, component.ErrUnfit) {
			t.Errorf("%v: %v", samples, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file that was not written as a whole is there")
	}
	for _, name := range []string{"a.arrow.gz", "a.arrow.zst"} {
		if err := (arrow.Sink{Path: component.Path(name)}).Delegate().(component.SingleChecker).CheckSingle(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

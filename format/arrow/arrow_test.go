package arrow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	goarray "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/arrow"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"
)

func env() *component.Env {
	return &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
}

// shown returns the samples of a file as a string.
func shown(t testing.TB, s arrow.Source, path string) (all []string, err error) {
	t.Helper()
	ds, err := s.Open(t.Context(), path, env())
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

// written returns a file or a stream of two batches with columns of several kinds.
func written(t testing.TB, stream bool, options ...ipc.Option) []byte {
	t.Helper()
	schema := goarrow.NewSchema([]goarrow.Field{
		{Name: "n", Type: goarrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "text", Type: goarrow.BinaryTypes.String},
		{Name: "view", Type: goarrow.BinaryTypes.StringView},
		{Name: "list", Type: goarrow.ListOf(goarrow.PrimitiveTypes.Int16)},
		{Name: "kind", Type: &goarrow.DictionaryType{IndexType: goarrow.PrimitiveTypes.Int8, ValueType: goarrow.BinaryTypes.String}},
		{Name: "pair", Type: goarrow.StructOf(goarrow.Field{Name: "ok", Type: goarrow.FixedWidthTypes.Boolean})},
	}, nil)
	var to bytes.Buffer
	options = append(options, ipc.WithSchema(schema))
	var w interface {
		Write(goarrow.RecordBatch) error
		Close() error
	}
	w = ipc.NewWriter(&to, options...)
	if !stream {
		file, err := ipc.NewFileWriter(&to, options...)
		if err != nil {
			t.Fatal(err)
		}
		w = file
	}
	b := goarray.NewRecordBuilder(memory.DefaultAllocator, schema)
	for batch := range 2 {
		for i := range 3 {
			if i == 1 {
				b.Field(0).AppendNull()
			} else {
				b.Field(0).(*goarray.Int64Builder).Append(int64(10*batch + i))
			}
			b.Field(1).(*goarray.StringBuilder).Append(strings.Repeat("x", i))
			b.Field(2).(*goarray.StringViewBuilder).Append(strings.Repeat("long ", i*i))
			list := b.Field(3).(*goarray.ListBuilder)
			list.Append(true)
			for k := range i {
				list.ValueBuilder().(*goarray.Int16Builder).Append(int16(-k))
			}
			if err := b.Field(4).(*goarray.BinaryDictionaryBuilder).AppendString(string(rune('a' + i%2))); err != nil {
				t.Fatal(err)
			}
			pair := b.Field(5).(*goarray.StructBuilder)
			pair.Append(true)
			pair.FieldBuilder(0).(*goarray.BooleanBuilder).Append(i == 1)
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

var want = []string{
	"n=0 text= view= list=int16[0] kind=a pair=map[ok:false]",
	"n=<nil> text=x view=long  list=int16[1]0000 kind=b pair=map[ok:true]",
	"n=2 text=xx view=long long long long  list=int16[2]0000ffff kind=a pair=map[ok:false]",
	"n=10 text= view= list=int16[0] kind=a pair=map[ok:false]",
	"n=<nil> text=x view=long  list=int16[1]0000 kind=b pair=map[ok:true]",
	"n=12 text=xx view=long long long long  list=int16[2]0000ffff kind=a pair=map[ok:false]",
}

func TestFilesAndStreams(t *testing.T) {
	for name, b := range map[string][]byte{
		"a.arrow": written(t, false), "a.arrows": written(t, true),
		"zstd.arrow": written(t, false, ipc.WithZstd()), "lz4.arrow": written(t, false, ipc.WithLZ4()),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := shown(t, arrow.Source{}, path); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestFilesThatBreakOff checks that a file cut anywhere is an error, or is read up to the
// last whole batch if the parameters ask for it.
func TestFilesThatBreakOff(t *testing.T) {
	testrand.Long(t)
	path := filepath.Join(t.TempDir(), "b.arrow")
	for _, stream := range []bool{false, true} {
		whole := written(t, stream)
		for n := range whole {
			if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := shown(t, arrow.Source{}, path); err == nil || !strings.Contains(err.Error(), "b.arrow") {
				t.Errorf("%d bytes: %q, %v", n, got, err)
			}
			got, err := shown(t, arrow.Source{Incomplete: true}, path)
			if err == nil && !slices.Equal(got, want[:len(got)]) {
				t.Errorf("incomplete, %d bytes: %q", n, got)
			}
			if err != nil && n > 2000 {
				t.Errorf("incomplete, %d bytes: %v", n, err)
			}
		}
	}
}

// TestBatchesThatAreLost checks that a file with missing batches is damaged, wherever it
// seems to end.
func TestBatchesThatAreLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.arrow")
	whole := written(t, false)
	last := bytes.LastIndex(whole[:bytes.LastIndex(whole, []byte{255, 255, 255, 255, 0, 0, 0, 0})], []byte{255, 255, 255, 255})
	for _, n := range []int{1, 2, 3, 4} {
		b := bytes.Clone(whole)
		copy(b[last+4:], []byte{0, 0, 0, 0}[:n])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := shown(t, arrow.Source{}, path); err == nil && len(got) < 4 || err != nil && !strings.Contains(err.Error(), "b.arrow") {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
	}
}

// TestFilesByTheirEnd checks that a file is read by the footer at its end, whatever it
// begins with, as Polars does.
func TestFilesByTheirEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.arrow")
	b := written(t, false)
	copy(b[8:], []byte{4, 0, 0, 0, 0xf2, 0xff, 0xff, 0xff, 0x14, 0, 0, 0})
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := shown(t, arrow.Source{}, path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDictionariesThatAreReplaced checks replaced dictionaries: in a file nothing assigns
// rows to them.
func TestDictionariesThatAreReplaced(t *testing.T) {
	kind := &goarrow.DictionaryType{IndexType: goarrow.PrimitiveTypes.Int8, ValueType: goarrow.BinaryTypes.String}
	schema := goarrow.NewSchema([]goarrow.Field{{Name: "a", Type: kind}, {Name: "b", Type: kind}}, nil)
	var to bytes.Buffer
	w, err := ipc.NewFileWriter(&to, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	b := goarray.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 2 {
		if err := b.Field(i).(*goarray.BinaryDictionaryBuilder).AppendString("x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(b.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b.arrow")
	refused := false
	for at := 0; at+8 <= to.Len(); at += 4 { // the number of the second dictionary becomes 1
		whole := bytes.Clone(to.Bytes())
		if binary.LittleEndian.Uint64(whole[at:]) != 1 {
			continue
		}
		whole[at] = 0
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := shown(t, arrow.Source{}, path)
		refused = refused || err != nil && strings.Contains(err.Error(), "b.arrow: byte ") && strings.Contains(err.Error(), "dictionary replacement")
	}
	if !refused {
		t.Error("a dictionary that replaces another was read")
	}
}

// TestDamage checks files with one changed byte. Reading ends, errors name the file, and
// without an error there are as many rows and items as before.
func TestDamage(t *testing.T) {
	testrand.Long(t)
	path := filepath.Join(t.TempDir(), "b.arrow")
	for _, whole := range [][]byte{written(t, true), written(t, false), written(t, true, ipc.WithLZ4())} {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := shown(t, arrow.Source{}, path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			b := bytes.Clone(whole)
			b[n] ^= 1 << (n % 8)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := shown(t, arrow.Source{}, path)
			if err != nil && !strings.Contains(err.Error(), "b.arrow") && !strings.Contains(err.Error(), "too many rows") {
				t.Errorf("byte %d: %v does not name the file", n, err)
			}
			if err == nil && len(got) != len(want) {
				t.Errorf("byte %d: %d rows are there of %d", n, len(got), len(want))
			}
		}
	}
}

// TestFilesThatChange checks that old content is not returned for a changed file.
func TestFilesThatChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	b := written(t, true)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ds, err := arrow.Source{}.Open(t.Context(), path, env())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Value(t.Context(), "text"); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%v, %v", v, err)
	}
}

// FuzzFiles checks that reading any file ends with an error or values.
func FuzzFiles(f *testing.F) {
	f.Add(written(f, true))
	f.Add(written(f, false, ipc.WithZstd()))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "a.arrow")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = shown(t, arrow.Source{}, path)
	})
}

// TestFilesOfOthers reads files of Polars and PyArrow.
func TestFilesOfOthers(t *testing.T) {
	for name, want := range map[string]string{
		"int128.arrow":     "column i: integers of 128 bits are not supported",
		"two-fields.arrow": "column a: two fields are named x",
	} {
		if got, err := shown(t, arrow.Source{}, "testdata/"+name); err == nil || !strings.Contains(err.Error(), name+": "+want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := shown(t, arrow.Source{}, "testdata/no-bytes.arrow"); err != nil || !slices.Equal(got, []string{"a=[]", "a=<nil>"}) {
		t.Errorf("%q, %v", got, err)
	}
}

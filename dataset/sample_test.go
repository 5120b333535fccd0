package dataset_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

func sampleOf(t *testing.T, keys ...string) dataset.Sample {
	t.Helper()
	s, err := texts(1, keys...).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSampleKeys(t *testing.T) {
	s := sampleOf(t, "a", "b", "c")
	rename := func(names map[string]string) []string {
		r, err := s.Rename(names)
		if err != nil {
			t.Fatal(err)
		}
		return r.Keys()
	}
	for _, c := range []struct {
		what      string
		got, want []string
	}{
		{"only", s.Only("c", "a", "z").Keys(), []string{"a", "c"}},
		{"without", s.Without("b", "z").Keys(), []string{"a", "c"}},
		{"with", s.WithItem("b", dataset.NewItem("txt", "x")).Keys(), []string{"a", "b", "c"}},
		{"rename", rename(map[string]string{"a": "x", "z": "y"}), []string{"x", "b", "c"}},
		{"swap", rename(map[string]string{"a": "b", "b": "a"}), []string{"b", "a", "c"}},
		{"the sample itself", s.Keys(), []string{"a", "b", "c"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	if _, err := s.Rename(map[string]string{"a": "b"}); err == nil {
		t.Error("two items under one key went unnoticed")
	}
	var missing *dataset.NoItemError
	if _, err := s.Item("z"); !errors.As(err, &missing) || !strings.Contains(err.Error(), "a, b, c") {
		t.Errorf("a missing item gives %v", err)
	}
	near := &dataset.NoItemError{Key: "lable", Have: []string{"a", "label", "b"}}
	if got, want := near.Error(), `item "lable" not found; the sample has label, a, b`; got != want || near.Have[0] != "a" {
		t.Errorf("the error is %s, want %s; it has %q", got, want, near.Have)
	}
}

func TestScanTellsAllItemsWhereOneIsMissing(t *testing.T) {
	op, err := key.NewOp("look", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	s := dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("json", int64(1))}, dataset.Field{Key: "b", Item: dataset.NewItem("json", int64(2))})
	_, err = dataset.Scan[bool]{Node: "n", Op: op, Reads: []string{"a", "z"}, Pool: pool.New(1), Each: func(context.Context, dataset.Sample) (bool, error) {
		return false, errors.New("was called without what it reads")
	}}.Run(t.Context(), dataset.List(s))
	if want := `node n: sample 0: item "z" not found; the sample has a, b`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestItemValueIsWhatItsBytesDecodeTo(t *testing.T) {
	for _, c := range []struct {
		ext         string
		given, want any
	}{
		{"json", map[string]any{"a": int64(1), "b": 2.5}, map[string]any{"a": int64(1), "b": 2.5}},
		{"json", map[string]any{"a": 2.0}, map[string]any{"a": 2.0}},
		{"json", map[string]int{"a": 1}, map[string]any{"a": int64(1)}},
		{"json", []string{"x"}, []any{"x"}},
		{"txt", "text", "text"},
		{"unknown", []byte("bytes"), []byte("bytes")},
	} {
		it := dataset.NewItem(c.ext, c.given)
		b, err := it.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for what, it := range map[string]*dataset.Item{"made": it, "read back": dataset.NewBytes(c.ext, b)} {
			v, err := it.Value(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(v, c.want) {
				t.Errorf("%s, %s: %#v, want %#v", c.ext, what, v, c.want)
			}
		}
	}
}

func TestFileThatChangesInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	parts := func(it *dataset.Item) ([]byte, error) {
		r, _, err := it.Open(t.Context())
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	write("one")
	it := dataset.File(path, nil)
	before, err := it.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write("two") // same length, about the same time
	if _, err := it.Bytes(t.Context()); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("bytes that the digest does not name came with the error %v", err)
	}
	if _, err := parts(it); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("parts that the digest does not name came with the error %v", err)
	}
	other := dataset.File(path, nil) // identified by the bytes that were read
	if b, err := parts(other); string(b) != "two" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	write("six")
	if _, err := other.Digest(t.Context()); err == nil {
		if d, _ := other.Digest(t.Context()); d != key.DigestOf([]byte("two")) {
			t.Error("what was read in parts goes by the name of what came after")
		}
	}
	write("one")
	if _, err := it.Bytes(t.Context()); err != nil {
		t.Error(err)
	}
	again, err := it.Digest(t.Context())
	if err != nil || again != before {
		t.Errorf("digest %v, error %v", again, err)
	}
}

func TestDecode(t *testing.T) {
	type meta struct{ Letter, Color string }
	type view struct {
		Name  string         `item:"name"`
		Meta  meta           `item:"meta"`
		Raw   map[string]any `item:"meta"`
		Extra string         `item:"extra,optional"`
	}
	s := dataset.NewSample(
		dataset.Field{Key: "name", Item: dataset.NewItem("txt", "n")},
		dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"Letter": "y", "Color": "red"})},
	)
	v, err := dataset.Decode[view](t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "n" || v.Meta != (meta{"y", "red"}) || v.Raw["Letter"] != "y" || v.Extra != "" {
		t.Errorf("view %+v", v)
	}
	if _, err := dataset.Decode[view](t.Context(), s.Without("name")); err == nil {
		t.Error("a view without an item it needs")
	}
	type wrong struct {
		Name int `item:"name"`
	}
	if _, err := dataset.Decode[wrong](t.Context(), s); err == nil {
		t.Error("a string was read into an int")
	}
}

func TestZip(t *testing.T) {
	z, err := dataset.Zip("z", texts(3, "a"), texts(3, "b"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := z.At(t.Context(), 1)
	if err != nil || !slices.Equal(s.Keys(), []string{"a", "b"}) {
		t.Errorf("%q, %v", s.Keys(), err)
	}
	if _, err := dataset.Zip("z", texts(3, "a"), texts(2, "b")); err == nil {
		t.Error("inputs of different length were zipped")
	}
	z, err = dataset.Zip("z", texts(3, "a"), texts(3, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.At(t.Context(), 0); err == nil {
		t.Error("an item was lost to another of the same key")
	}
}

func TestCat(t *testing.T) {
	ds := dataset.Cat(dataset.List(1, 2), dataset.List[int](), dataset.List(3))
	var got []int
	for v, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	for _, i := range []int{-1, 3} {
		var out *dataset.IndexError
		if _, err := ds.At(context.Background(), i); !errors.As(err, &out) {
			t.Errorf("index %d gives %v", i, err)
		}
	}
}

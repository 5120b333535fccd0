package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// textFile is a file that tests change. Its item has the key x.
type textFile struct {
	t    *testing.T
	path string
}

func newTextFile(t *testing.T, text string) textFile {
	f := textFile{t, filepath.Join(t.TempDir(), "x.txt")}
	f.write(text)
	return f
}

func (f textFile) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path, []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f textFile) dataset() dataset.Dataset[dataset.Sample] {
	return dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "x", Item: dataset.File(f.path, nil)}), nil
	})
}

// TestScanOfAFileThatChanges checks that a file that changes during a scan does not store
// its new content under its old key.
func TestScanOfAFileThatChanges(t *testing.T) {
	_, reopen := newLarder(t)
	f := newTextFile(t, "one")
	op, err := key.NewOp("read", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	scan := func(before func()) ([]string, error) {
		named := f.dataset()
		calls := 0
		late := dataset.Func(1, func(ctx context.Context, i int) (dataset.Sample, error) {
			if calls++; calls == 2 { // after it is identified, before it is read
				before()
			}
			return named.At(ctx, i)
		})
		return dataset.Scan[string]{
			Op: op, Pool: pool.New(1), Larder: reopen(),
			Each: func(ctx context.Context, s dataset.Sample) (string, error) {
				v, err := s.Value(ctx, "x")
				text, _ := v.(string)
				return text, err
			},
		}.Run(t.Context(), late)
	}
	if v, err := scan(func() { f.write("two") }); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("a scan of a file that changes gave %q, %v", v, err)
	}
	f.write("one")
	if v, err := scan(func() {}); err != nil || v[0] != "one" {
		t.Errorf("the file says one, the scan %q, %v", v, err)
	}
}

// TestValueBeforeDigest checks that a file that is read, changes and is then identified
// does not get the new identity.
func TestValueBeforeDigest(t *testing.T) {
	_, reopen := newLarder(t)
	f := newTextFile(t, "one")
	run := func(before func(dataset.Sample)) (any, error) {
		s, err := f.dataset().At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		before(s)
		out, err := dataset.Map(dataset.List(s), upper(t, "x", "y", new(atomic.Int64)), dataset.MapOptions{Larder: reopen(), Keep: true}).At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return out.Value(t.Context(), "y")
	}
	v, err := run(func(s dataset.Sample) {
		if _, err := s.Value(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		f.write("two")
	})
	if err == nil && v != "ONE" {
		t.Errorf("the item was read as one, and mapped to %q", v)
	}
	if v, err := run(func(dataset.Sample) {}); v != "TWO" || err != nil {
		t.Errorf("the file says two, the mapper %q, %v", v, err)
	}
}

func TestWhatWasStoppedDidNotFail(t *testing.T) {
	boom := errors.New("boom")
	var stats dataset.NodeStats
	var waiting atomic.Int64
	all := make(chan struct{})
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "f", Code: key.Version("1"), In: []string{"a"}, Out: []string{"b"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			if waiting.Add(1) == 4 {
				close(all)
			}
			<-all
			if v, err := s.Value(ctx, "a"); err != nil || v == "a0" {
				return dataset.Sample{}, boom
			}
			<-ctx.Done()
			return dataset.Sample{}, context.Cause(ctx)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ds := dataset.Map(texts(4, "a"), m, dataset.MapOptions{Stats: &stats})
	err = pool.New(4).Each(t.Context(), 4, func(ctx context.Context, i int) error {
		s, err := ds.At(ctx, i)
		if err == nil {
			_, err = s.Value(ctx, "b")
		}
		return err
	})
	if !errors.Is(err, boom) || stats.Failed.Load() != 1 {
		t.Errorf("%d failures, error %v", stats.Failed.Load(), err)
	}
}

func TestTypedTransformWithAnOptionalItem(t *testing.T) {
	type in struct {
		A string `item:"a"`
		B string `item:"b,optional"`
	}
	type out struct {
		C string `item:"c" ext:"txt"`
	}
	m, err := dataset.NewTyped("join", key.Version("1"), func(_ context.Context, v in) (out, error) { return out{v.A + "/" + v.B}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, dataset.Map(texts(1, "a"), m, dataset.MapOptions{}), "c"); got[0] != "a0/" {
		t.Errorf("without the item: %q", got)
	}
	if got := values(t, dataset.Map(texts(1, "a", "b"), m, dataset.MapOptions{}), "c"); got[0] != "a0/b0" {
		t.Errorf("with the item: %q", got)
	}
}

// TestCachedCountsWhatWasReadBefore checks that a byte bound counts values that were in
// memory before the sample was cached.
func TestCachedCountsWhatWasReadBefore(t *testing.T) {
	big := []byte(strings.Repeat("x", 1<<20))
	loads := 0
	ds, err := dataset.Cached(dataset.Func(8, func(ctx context.Context, _ int) (dataset.Sample, error) {
		loads++
		it := dataset.NewBytes("bin", big)
		_, err := it.Value(ctx)
		return dataset.NewSample(dataset.Field{Key: "x", Item: it}), err
	}), cache.Options{Policy: "lru", Bytes: 4 << 20}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range 8 {
			if _, err := ds.At(t.Context(), i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if loads != 16 {
		t.Errorf("%d loads of 16: more than 4 MiB is held", loads)
	}
}

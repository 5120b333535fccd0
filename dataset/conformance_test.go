package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// counted is an origin that counts how often its bytes are read.
type counted struct {
	ext   string
	text  string
	reads atomic.Int64
	wait  chan struct{} // nil, or closed when the read may continue
	fail  error
}

func (c *counted) Ext(context.Context) (string, error) { return c.ext, nil }
func (c *counted) Digest(context.Context) (key.Digest, error) {
	return key.DigestOf([]byte(c.text)), nil
}
func (c *counted) Ref(ctx context.Context) (key.Ref, error) {
	d, err := c.Digest(ctx)
	return key.Content(d), err
}

func (c *counted) Bytes(context.Context) ([]byte, error) {
	c.reads.Add(1)
	if c.wait != nil {
		<-c.wait
	}
	return []byte(c.text), c.fail
}

// TestItemsAreReadOnce checks that each operation on a sample reads an item at most once.
// Pipewine read null values, and items whose sharedness changed, again.
func TestItemsAreReadOnce(t *testing.T) {
	type both struct {
		Meta map[string]any `item:"x,optional"`
		Any  any            `item:"x,optional"`
	}
	for _, c := range []struct {
		name string
		ext  string
		text string
		do   func(ctx context.Context, s dataset.Sample) error
		want int64
	}{
		{"nothing", "json", `{"a": 1}`, func(context.Context, dataset.Sample) error { return nil }, 0},
		{"its name", "json", `{"a": 1}`, func(ctx context.Context, s dataset.Sample) error {
			_, err := s.Only("x").Share(true, "x").Item("x")
			return err
		}, 0},
		{"its value, three times", "json", `{"a": 1}`, func(ctx context.Context, s dataset.Sample) (err error) {
			for range 3 {
				_, err = s.Value(ctx, "x")
			}
			return err
		}, 1},
		{"a null, three times", "json", `null`, func(ctx context.Context, s dataset.Sample) (err error) {
			for range 3 {
				_, err = s.Value(ctx, "x")
			}
			return err
		}, 1},
		{"shared, renamed and unshared in between", "json", `{"a": 1}`, func(ctx context.Context, s dataset.Sample) error {
			if _, err := s.Value(ctx, "x"); err != nil {
				return err
			}
			r, err := s.Share(true, "x").Rename(map[string]string{"x": "y"})
			if err != nil {
				return err
			}
			_, err = r.Share(false, "y").Value(ctx, "y")
			return err
		}, 1},
		{"two parts, and a struct with two views of it", "json", `{"a": 1, "b": 2}`, func(ctx context.Context, s dataset.Sample) error {
			for _, path := range []string{"x.a", "x.b"} {
				if _, err := s.Get(ctx, path); err != nil {
					return err
				}
			}
			_, err := dataset.Decode[both](ctx, s)
			return err
		}, 1},
		{"the digest and then the value", "txt", "x", func(ctx context.Context, s dataset.Sample) error {
			it, err := s.Item("x")
			if err != nil {
				return err
			}
			if _, err := it.Digest(ctx); err != nil {
				return err
			}
			_, err = it.Value(ctx)
			return err
		}, 1},
	} {
		o := &counted{ext: c.ext, text: c.text}
		s := dataset.NewSample(dataset.Field{Key: "x", Item: dataset.ItemFrom(o)})
		if err := c.do(t.Context(), s); err != nil || o.reads.Load() != c.want {
			t.Errorf("%s: %d reads, %v; want %d", c.name, o.reads.Load(), err, c.want)
		}
	}
}

func TestItemIsReadOnceByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &counted{ext: "txt", text: "x", wait: make(chan struct{})}
		it := dataset.ItemFrom(o)
		leave := errors.New("leave")
		leaving, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 9)
		for range 8 {
			go func() {
				v, err := it.Value(t.Context())
				if err == nil && v != "x" {
					err = errors.New("another value")
				}
				done <- err
			}()
		}
		synctest.Wait()
		go func() {
			_, err := it.Value(leaving)
			done <- err
		}()
		synctest.Wait()
		cancel(leave)
		if err := <-done; !errors.Is(err, leave) {
			t.Errorf("the reader that left got %v", err)
		}
		close(o.wait)
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if o.reads.Load() != 1 {
			t.Errorf("%d reads", o.reads.Load())
		}
	})
}

func TestItemErrorsAreNotRemembered(t *testing.T) {
	boom := errors.New("boom")
	o := &counted{ext: "txt", text: "x", fail: boom}
	it := dataset.ItemFrom(o)
	if _, err := it.Value(t.Context()); !errors.Is(err, boom) {
		t.Errorf("the error is %v", err)
	}
	o.fail = nil
	if v, err := it.Value(t.Context()); v != "x" || err != nil {
		t.Errorf("after an error: %v, %v", v, err)
	}
}

// TestSharedness checks conflicts of a shared item with a sample's own item: the own item
// wins. In Pipewine the first sample read decided for all.
func TestSharedness(t *testing.T) {
	own, other := dataset.NewItem("txt", "own"), dataset.NewItem("txt", "other")
	field := func(it *dataset.Item, shared bool) dataset.Field {
		return dataset.Field{Key: "k", Item: it, Shared: shared}
	}
	for _, c := range []struct {
		name          string
		first, second dataset.Field
		want          dataset.Field
	}{
		{"own, then own", field(own, false), field(other, false), field(other, false)},
		{"own, then shared", field(own, false), field(other, true), field(own, false)},
		{"shared, then own", field(other, true), field(own, false), field(own, false)},
		{"shared, then shared", field(own, true), field(other, true), field(other, true)},
	} {
		for how, s := range map[string]dataset.Sample{
			"new":  dataset.NewSample(c.first, c.second),
			"with": dataset.NewSample(c.first).With(c.second),
			"both": dataset.NewSample().With(c.first, c.second),
		} {
			if got, _ := s.Field("k"); got != c.want || s.Len() != 1 {
				t.Errorf("%s, %s: shared %v", c.name, how, got.Shared)
			}
		}
	}
	s := dataset.NewSample(field(own, false)).Share(true, "k", "nothing")
	if f, _ := s.Field("k"); !f.Shared || f.Item != own {
		t.Error("an item was not shared")
	}
	if f, _ := s.Share(false, "k").Field("k"); f.Shared {
		t.Error("an item was not made a sample's own")
	}
	if f, _ := s.Field("k"); !f.Shared {
		t.Error("the sample itself was changed")
	}
	if f, _ := s.WithItem("k", other).Field("k"); f.Shared || f.Item != other {
		t.Error("a new item did not take the place of a shared one")
	}
}

// TestSampleTables checks the ways to make one sample from another. Renaming is
// simultaneous; in Pipewine it went pair by pair, and a swap lost an item.
func TestSampleTables(t *testing.T) {
	s := sampleOf(t, "a", "b", "c")
	for _, c := range []struct {
		name  string
		names map[string]string
		remap bool
		want  []string
		item  map[string]string // new key to the old key whose item it is
	}{
		{"one", map[string]string{"a": "x"}, false, []string{"x", "b", "c"}, map[string]string{"x": "a"}},
		{"one, the rest left out", map[string]string{"a": "x"}, true, []string{"x"}, map[string]string{"x": "a"}},
		{"a swap", map[string]string{"a": "b", "b": "a"}, false, []string{"b", "a", "c"}, map[string]string{"a": "b", "b": "a"}},
		{"a swap, the rest left out", map[string]string{"a": "b", "b": "a"}, true, []string{"b", "a"}, map[string]string{"a": "b", "b": "a"}},
		{"a circle", map[string]string{"a": "b", "b": "c", "c": "a"}, true, []string{"b", "c", "a"}, map[string]string{"a": "c", "b": "a", "c": "b"}},
		{"to itself", map[string]string{"a": "a"}, true, []string{"a"}, map[string]string{"a": "a"}},
		{"what is not there", map[string]string{"z": "a"}, false, []string{"a", "b", "c"}, nil},
		{"what is not there, the rest left out", map[string]string{"z": "a"}, true, nil, nil},
		{"nothing", nil, false, []string{"a", "b", "c"}, nil},
		{"nothing, the rest left out", nil, true, nil, nil},
		{"over one that is left out", map[string]string{"a": "b"}, true, []string{"b"}, map[string]string{"b": "a"}},
	} {
		change := s.Rename
		if c.remap {
			change = s.Remap
		}
		got, err := change(c.names)
		if err != nil || !slices.Equal(got.Keys(), c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got.Keys(), err, c.want)
			continue
		}
		for to, from := range c.item {
			f, _ := got.Field(to)
			if was, _ := s.Field(from); f.Item != was.Item {
				t.Errorf("%s: item %s is not what %s was", c.name, to, from)
			}
		}
	}
	for name, names := range map[string]map[string]string{
		"onto another":   {"a": "b"},
		"two to one key": {"a": "x", "b": "x"},
	} {
		if got, err := s.Rename(names); err == nil {
			t.Errorf("%s: %q; an item was lost", name, got.Keys())
		}
	}
	if _, err := s.Remap(map[string]string{"a": "x", "b": "x"}); err == nil {
		t.Error("two to one key, the rest left out: an item was lost")
	}
}

func TestRecode(t *testing.T) {
	for _, c := range []struct {
		ext, text, to string
		want          string // bytes; "" if only the value counts
		value         any
		fails         string
	}{
		{"json", `{"a":1}`, "json", `{"a":1}`, map[string]any{"a": int64(1)}, ""},
		{"json", `{"a": 1.0}`, "yaml", "", map[string]any{"a": 1.0}, ""},
		{"yml", "a: [y, 1]", "yaml", "a: [y, 1]", map[string]any{"a": []any{"y", int64(1)}}, ""},
		{"yml", "a: [y, 1]", "json", `{"a":["y",1]}`, map[string]any{"a": []any{"y", int64(1)}}, ""},
		{"txt", "words", "json", `"words"`, "words", ""},
		{"json", `"words"`, "txt", "words", "words", ""},
		{"dat", "\x00\xff", "bin", "\x00\xff", []byte("\x00\xff"), ""},
		{"json", `{"a":1}`, "txt", "", nil, "encode as txt"},
		{"json", `{`, "yaml", "", nil, "json"},
		{"dat", "x", "png", "", nil, "encode as png"},
	} {
		it, err := dataset.Recode(t.Context(), dataset.NewBytes(c.ext, []byte(c.text)), c.to)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s to %s: the error is %v, want %q", c.ext, c.to, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s to %s: %v", c.ext, c.to, err)
			continue
		}
		b, err := it.Bytes(t.Context())
		if err != nil || c.want != "" && string(b) != c.want {
			t.Errorf("%s to %s: %q, %v; want %q", c.ext, c.to, b, err, c.want)
		}
		v, err := it.Value(t.Context())
		if err != nil || !cmp.Equal(v, c.value) {
			t.Errorf("%s to %s: %v, %v; want %v", c.ext, c.to, v, err, c.value)
		}
		if ext, err := it.Ext(t.Context()); ext != c.to || err != nil {
			t.Errorf("%s to %s: the extension is %s, %v", c.ext, c.to, ext, err)
		}
	}
	for ext, says := range map[string]string{"webp": "can be read but not written", "xyz": "not a known extension", "PNG": "not a known extension", ".png": "not a known extension", "": "not a known extension"} {
		if err := dataset.CheckExt(ext); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: the error is %v, want %q", ext, err, says)
		}
	}
	if err := dataset.CheckExt("jpg"); err != nil {
		t.Error(err)
	}
}

// TestFileIsNotReadBefore checks that a sample with a missing file is not an error before
// the file is read.
func TestFileIsNotReadBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	it := dataset.File(path, nil)
	if ext, err := it.Ext(t.Context()); ext != "txt" || err != nil {
		t.Errorf("%s, %v", ext, err)
	}
	if _, err := it.Value(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	if err := os.WriteFile(path, []byte("late"), 0o666); err != nil {
		t.Fatal(err)
	}
	if v, err := it.Value(t.Context()); v != "late" || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

package underfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// writer writes one dataset into a target.
type writer struct {
	env   *component.Env
	into  *target
	group string // folder inside the target, "" for the target itself
	ds    component.Samples
	width int
	there map[string]string // in place: files that are there, by name without extension

	mu     sync.Mutex
	shared map[string]*sharing
}

// sharing is what is known of an item that samples share: the first one seen,
// and which samples have the same.
type sharing struct {
	item    *dataset.Item
	ext     string
	digest  key.Digest
	samples []int
	clash   bool // some sample has another item of this key
}

func newWriter(env *component.Env, into *target, group string, ds component.Samples) (*writer, error) {
	w := &writer{
		env: env, into: into, group: group, ds: ds,
		width: len(strconv.Itoa(max(0, ds.Len()-1))), shared: map[string]*sharing{},
	}
	if !into.inPlace() {
		return w, nil
	}
	return w, w.lookThere()
}

// lookThere finds out which files are there already, and names new ones alike:
// an index in two widths would be the same sample twice.
func (w *writer) lookThere() error {
	w.there = map[string]string{}
	root := filepath.Join(w.into.path, w.group)
	widths := map[int]bool{}
	err := eachFile(root, func(e fs.DirEntry) {
		stem, _, _ := strings.Cut(e.Name(), ".")
		w.there[stem] = e.Name()
	})
	if err == nil {
		err = eachFile(filepath.Join(root, dataFolder), func(e fs.DirEntry) {
			stem, _, _ := strings.Cut(e.Name(), ".")
			digits, _, _ := strings.Cut(stem, "_")
			if _, ok := parseIndex(digits); ok {
				widths[len(digits)] = true
			}
			w.there[filepath.Join(dataFolder, stem)] = filepath.Join(dataFolder, e.Name())
		})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for width := range widths {
		if len(widths) > 1 || width < w.width {
			return fmt.Errorf("%s has files with indices of %d digits, and this dataset needs %d: they would be the same samples twice; say overwrite: replace", root, width, w.width)
		}
		w.width = width
	}
	return nil
}

func (w *writer) write(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(w.into.dir, w.group, dataFolder), 0o777); err != nil {
		return err
	}
	err := dataset.Parallel(ctx, w.ds.Len(), w.env.Workers, func(ctx context.Context, i int) error {
		s, err := w.ds.At(ctx, i)
		if err != nil {
			return err
		}
		written, err := w.sample(ctx, i, s)
		if err != nil {
			return w.fail(i, err)
		}
		if written {
			w.env.Tally.Computed.Add(1)
		} else {
			w.env.Tally.FromStore.Add(1)
		}
		w.env.Tally.Done.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.writeShared(ctx); err != nil {
		return err
	}
	if w.group != "" {
		return writeMarkIn(w.into, w.group, w.ds.Len())
	}
	w.into.samples.Store(int64(w.ds.Len()))
	return nil
}

func (w *writer) fail(i int, err error) error {
	return &dataset.SampleError{Node: w.env.Node, Index: i, Err: err}
}

// sample writes the sample's own items, and notes those that it shares.
func (w *writer) sample(ctx context.Context, i int, s dataset.Sample) (written bool, err error) {
	for f := range s.Fields() {
		if err := checkKey(f.Key); err != nil {
			return false, err
		}
		own := !f.Shared
		if f.Shared {
			if own, err = w.noteShared(ctx, i, f); err != nil {
				return false, fmt.Errorf("item %s: %w", f.Key, err)
			}
		}
		if !own {
			continue
		}
		wrote, err := w.item(ctx, w.own(i, f.Key), f.Item)
		if err != nil {
			return false, fmt.Errorf("item %s: %w", f.Key, err)
		}
		written = written || wrote
	}
	return written, nil
}

// checkKey refuses keys that would not come back, or that name something
// outside the folder.
func checkKey(k string) error {
	if !safeName(k) || strings.Contains(k, ".") {
		return fmt.Errorf("item %q cannot be written: a key must be the name of a file without a dot; rename it first", k)
	}
	return nil
}

// own is the name of a sample's file, without extension.
func (w *writer) own(i int, k string) string {
	return filepath.Join(dataFolder, fmt.Sprintf("%0*d_%s", w.width, i, k))
}

// item writes one item to a file of the given name and the item's extension. In
// place, a file of the same item with another extension gives way.
func (w *writer) item(ctx context.Context, stem string, it *dataset.Item) (written bool, err error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return false, err
	}
	if !safeName(ext) {
		return false, fmt.Errorf("extension %q cannot be part of a file's name", ext)
	}
	same := func(path string) bool {
		want, err := it.Digest(ctx)
		if err != nil {
			return false
		}
		have, _, err := key.DigestFile(ctx, path, w.env.Files)
		return err == nil && have == want
	}
	name := filepath.Join(w.group, stem+"."+ext)
	if w.into.reuse(name, same) {
		return false, nil
	}
	b, err := it.Bytes(ctx)
	if err != nil {
		return false, err
	}
	w.env.Tally.BytesWritten.Add(int64(len(b)))
	other := w.there[stem]
	if other == "" || other == stem+"."+ext {
		return true, w.into.put(name, b)
	}
	if !w.into.replaceFiles {
		return false, fmt.Errorf("%s is already there; say overwrite: overwrite-files to replace files", filepath.Join(w.into.path, w.group, other))
	}
	return true, errors.Join(w.into.put(name, b), os.Remove(filepath.Join(w.into.path, w.group, other)))
}

// noteShared notes that sample i has the shared item f. It reports whether the
// sample must have a file of its own because the item differs from the one
// that others share.
func (w *writer) noteShared(ctx context.Context, i int, f dataset.Field) (own bool, err error) {
	d, err := f.Item.Digest(ctx)
	if err != nil {
		return false, err
	}
	ext, err := f.Item.Ext(ctx)
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.shared[f.Key]
	if !ok {
		s = &sharing{item: f.Item, ext: ext, digest: d}
		w.shared[f.Key] = s
	}
	if s.digest != d || s.ext != ext {
		s.clash = true
		return true, nil
	}
	s.samples = append(s.samples, i)
	return false, nil
}

// writeShared writes shared items to the root if every sample has the same,
// and otherwise to the samples that have them: none is lost and none is gained.
func (w *writer) writeShared(ctx context.Context) error {
	for _, k := range slices.Sorted(maps.Keys(w.shared)) {
		s := w.shared[k]
		if len(s.samples) == w.ds.Len() {
			if _, err := w.item(ctx, k, s.item); err != nil {
				return fmt.Errorf("shared item %s: %w", k, err)
			}
			continue
		}
		if s.clash {
			w.env.Log.Warn("samples share an item but not its content; each gets its own", "item", k)
		}
		for _, i := range s.samples {
			if _, err := w.item(ctx, w.own(i, k), s.item); err != nil {
				return w.fail(i, fmt.Errorf("item %s: %w", k, err))
			}
		}
	}
	return nil
}

// writeMarkIn marks one group of a target.
func writeMarkIn(t *target, group string, samples int) error {
	if t.inPlace() {
		return nil
	}
	return writeMark(filepath.Join(t.dir, group), mark{Samples: samples})
}

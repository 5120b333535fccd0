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
	"strings"
	"sync"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/entries"
	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// writer writes one dataset into a target.
type writer struct {
	env   *component.Env
	into  *target
	group string // directory inside the target, "" for the target itself
	ds    component.Samples
	copy  filecopy.Way
	width int
	there map[string]string // in place: existing files, by name without extension
	owned map[string]bool   // in place: keys that existing samples have of their own

	leads sync.Map // directories of items, to whether they are inside the output

	stands standing // the reusable part of the existing output
	shares []int32  // for each sample the number of shared items; nil if unused
	apart  []bool   // for each sample whether it has files of items that others share

	mu     sync.Mutex
	last   int // the last sample with an item of its own, from 1
	shared map[string]*sharing
}

// sharing describes an item that samples share: the first one seen, and which samples
// have the same.
type sharing struct {
	item    *dataset.Item
	ext     string
	digest  key.Digest
	samples []int
	clash   bool // some sample has another item of this key
}

func newWriter(env *component.Env, into *target, group string, ds component.Samples, copy filecopy.Way) (*writer, error) {
	w := &writer{
		env: env, into: into, group: group, ds: ds, copy: copy,
		width: digits(ds.Len()), shared: map[string]*sharing{},
	}
	if into.inPlace() {
		return w, w.lookThere()
	}
	if env.Pieces == nil {
		return w, nil
	}
	w.shares, w.apart = make([]int32, ds.Len()), make([]bool, ds.Len())
	var err error
	if into.old != nil {
		w.stands, err = findStanding(into.path, env.Pieces)
		into.reused = append(into.reused, w.stands.names...)
	}
	return w, err
}

// lookThere lists the existing files, and uses their number of digits for new names,
// because a sample with two names would occur twice.
func (w *writer) lookThere() error {
	w.there, w.owned = map[string]string{}, map[string]bool{}
	root := filepath.Join(w.into.path, w.group)
	widths := map[int]bool{}
	data := filepath.Join(root, dataDir)
	for _, dir := range []string{root, data} {
		if to, err := os.Readlink(dir); err == nil {
			return fmt.Errorf("refusing to write to %s: it is a link to %s; remove it, or give its target", dir, to)
		}
	}
	err := entries.Each(root, func(e fs.DirEntry) {
		sweep(root, e)
		stem, _, _ := strings.Cut(e.Name(), ".")
		w.there[stem] = e.Name()
	})
	if err == nil {
		err = entries.Each(data, func(e fs.DirEntry) {
			sweep(data, e)
			stem, _, _ := strings.Cut(e.Name(), ".")
			digits, k, _ := strings.Cut(stem, "_")
			if _, ok := parseIndex(digits); ok {
				widths[len(digits)] = true
				w.owned[k] = true
			}
			w.there[filepath.Join(dataDir, stem)] = filepath.Join(dataDir, e.Name())
		})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for width := range widths {
		if len(widths) > 1 || width < w.width {
			return fmt.Errorf("%s has indices of %d digits, but this dataset needs %d; set overwrite: replace", root, width, w.width)
		}
		w.width = width
	}
	return nil
}

func (w *writer) write(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(w.into.dir, w.group, dataDir), 0o777); err != nil {
		return err
	}
	todo := w.todo()
	open := dataset.Func(len(todo), func(ctx context.Context, i int) (dataset.Sample, error) { return w.ds.At(ctx, todo[i]) })
	err := dataset.Pass(ctx, dataset.WithMinBatch(open, dataset.BatchOf(w.ds)), w.env.Pool, func(ctx context.Context, i int, s dataset.Sample) error {
		i = todo[i]
		written, err := w.sample(ctx, i, s)
		if err != nil {
			return w.fail(i, err)
		}
		if written {
			w.env.Stats.Computed.Add(1)
		} else {
			w.env.Stats.FromStore.Add(1)
		}
		w.env.Stats.Done.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.writeShared(ctx); err != nil {
		return err
	}
	if w.env.Pieces != nil {
		w.seal()
	}
	return w.mark()
}

// todo lists the samples to process: those that are not reusable, or that share items.
func (w *writer) todo() []int {
	all := make([]int, 0, w.ds.Len())
	for i := range w.ds.Len() {
		if !w.stands.has(i) || w.stands.shares[i] {
			all = append(all, i)
		}
	}
	left := int64(w.ds.Len() - len(all))
	w.env.Stats.FromStore.Add(left)
	w.env.Stats.Done.Add(left)
	return all
}

// mark records the number of samples.
func (w *writer) mark() error {
	dir, m := filepath.Join(w.into.dir, w.group), mark{Samples: w.ds.Len()}
	switch {
	case w.into.inPlace():
		old, err := readMark(dir)
		if old.Samples >= m.Samples && old.Items == nil || err != nil && w.last == m.Samples {
			return nil // the files determine it, and this directory is not ours to mark
		}
		m.Groups, m.Samples = old.Groups, max(old.Samples, m.Samples)
		if old.Samples >= m.Samples {
			m.Shared = old.Shared // but its items are not known any longer
		}
	case w.group == "":
		w.into.samples.Store(int64(m.Samples))
		return nil
	}
	return writeMark(dir, m)
}

func (w *writer) fail(i int, err error) error {
	return &dataset.SampleError{Node: w.env.Node, Index: i, Err: err}
}

// sample writes the sample's own items, and records those that it shares.
func (w *writer) sample(ctx context.Context, i int, s dataset.Sample) (written bool, err error) {
	for f := range s.Fields() {
		if err := checkKey(f.Key); err != nil {
			return false, err
		}
		own := !f.Shared
		if f.Shared {
			if own, err = w.noteShared(ctx, i, f); err != nil {
				return false, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
			}
		}
		if !own || !f.Shared && w.stands.has(i) {
			continue
		}
		wrote, err := w.item(ctx, w.own(i, f.Key), f.Item)
		if err != nil {
			return false, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
		written = written || wrote
	}
	return written, nil
}

// checkKey refuses keys that reading would not restore, or that name a file outside the
// directory.
func checkKey(k string) error {
	if !output.SafeName(k) || strings.Contains(k, ".") {
		return fmt.Errorf("item %q is not a file name without a dot; rename the item", k)
	}
	return nil
}

// own returns the name of a sample's file, without extension.
func (w *writer) own(i int, k string) string {
	w.mu.Lock()
	w.last = max(w.last, i+1)
	w.mu.Unlock()
	return filepath.Join(dataDir, fmt.Sprintf("%0*d_%s", w.width, i, k))
}

// item writes one item to a file of the given name and the item's extension. In place, a
// file of the same item with another extension is removed.
func (w *writer) item(ctx context.Context, stem string, it *dataset.Item) (written bool, err error) {
	c, err := w.content(ctx, it)
	if err != nil {
		return false, err
	}
	name := filepath.Join(w.group, stem+"."+c.ext)
	if n := len(filepath.Base(name)); n > maxName {
		return false, fmt.Errorf("the file name of %d bytes exceeds %d; rename the item", n, maxName)
	}
	reused, err := w.into.reuse(name, func(path string) bool { return w.same(ctx, c, path) })
	if reused || err != nil {
		return false, err
	}
	other := w.there[stem]
	if other != "" && other != stem+"."+c.ext {
		other = filepath.Join(w.group, other)
		if !w.into.replaceFiles {
			return false, alreadyThere(filepath.Join(w.into.path, other))
		}
		defer func() {
			if err == nil {
				err = w.into.root.Remove(other)
			}
		}()
	}
	return true, w.into.put(name, func(path string) error { return w.create(ctx, c, path) })
}

// maxName is the longest file name, in bytes, that file systems accept.
const maxName = 255

// content describes the content of a file.
type content struct {
	item   *dataset.Item
	ext    string
	source string // a file with that content, "" if it must be encoded
}

// content returns what to write for an item.
func (w *writer) content(ctx context.Context, it *dataset.Item) (content, error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return content{}, err
	}
	if lower := strings.ToLower(ext); dataset.CheckExt(lower) == nil {
		ext = lower // other readers need the lower case
	}
	if !output.SafeName(ext) {
		return content{}, fmt.Errorf("extension %q cannot be part of a file name", ext)
	}
	c := content{item: it, ext: ext}
	file, ok := it.Origin().(*dataset.FileOrigin)
	switch {
	case !ok:
	case w.leadsHere(file.Path()):
		return content{}, fmt.Errorf("refusing to write to %s: %s is read from there (%w)", w.into.path, file.Path(), pathguard.ErrConflict)
	case w.copy != filecopy.Rewrite:
		c.source = file.Path()
	default:
		v, err := it.Value(ctx)
		if err != nil {
			return content{}, err
		}
		c.item = dataset.NewItem(ext, v)
	}
	return c, nil
}

// leadsHere reports whether an input file is inside the output, or is reached through a
// link there.
func (w *writer) leadsHere(path string) bool {
	dir := filepath.Dir(path)
	here, ok := w.leads.Load(dir)
	if !ok {
		here = w.passes(dir)
		w.leads.Store(dir, here)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return w.passes(path)
	}
	return here.(bool)
}

// passes reports whether a path leads into or through the output.
func (w *writer) passes(path string) bool {
	links, end := pathguard.ResolveLinks(path)
	return slices.ContainsFunc(append(links, end), func(at string) bool { return pathguard.Inside(w.into.path, at) })
}

// same reports whether a file is as c would be written. A link to its source is not,
// unless links are requested: a change of a copy must not change the source.
func (w *writer) same(ctx context.Context, c content, path string) bool {
	links := w.copy == filecopy.HardLink || w.copy == filecopy.SymbolicLink
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 && (w.copy != filecopy.SymbolicLink || c.source == "") {
		return false
	}
	if c.source != "" && filecopy.Linked(path, c.source) {
		return links
	}
	have, _, err := key.DigestFile(ctx, path, w.env.Files)
	if err != nil {
		return false
	}
	want, err := c.item.Digest(ctx)
	return err == nil && have == want
}

// create creates a file with c.
func (w *writer) create(ctx context.Context, c content, path string) error {
	if c.source != "" {
		n, asked, err := w.copy.File(path, c.source)
		if file, ok := c.item.Origin().(*dataset.FileOrigin); ok && err == nil {
			err = file.Check()
		}
		w.env.Stats.BytesWritten.Add(n)
		if !asked {
			w.into.warned.Do(func() { w.env.Log.Warn("links cannot be created; files are copied", "copy", w.copy) })
		}
		return err
	}
	b, err := c.item.Bytes(ctx)
	if err != nil {
		return err
	}
	w.env.Stats.BytesWritten.Add(int64(len(b)))
	return filecopy.Create(path, b)
}

// noteShared records that sample i has the shared item f. It reports whether the sample
// must have a file of its own because its item differs from that of others.
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
	if w.shares != nil {
		w.shares[i]++
	}
	s, ok := w.shared[f.Key]
	if !ok {
		s = &sharing{item: f.Item, ext: ext, digest: d}
		w.shared[f.Key] = s
	}
	if s.digest != d || s.ext != ext {
		s.clash = true
		w.isApart(i)
		return true, nil
	}
	s.samples = append(s.samples, i)
	return false, nil
}

// isApart records that a sample gets a file of an item that others share.
func (w *writer) isApart(i int) {
	if w.apart != nil {
		w.apart[i] = true
	}
}

// writeShared writes a shared item to the root if every sample has the same one, and
// none has an existing file that would take precedence. Otherwise it writes the item to
// the samples that have it, so that no item is lost or added.
func (w *writer) writeShared(ctx context.Context) error {
	for _, k := range slices.Sorted(maps.Keys(w.shared)) {
		s := w.shared[k]
		if len(s.samples) == w.ds.Len() && !w.owned[k] {
			if _, err := w.item(ctx, k, s.item); err != nil {
				return fmt.Errorf("shared item %s: %w", display.Name(k), err)
			}
			continue
		}
		if s.clash {
			w.env.Log.Warn("samples have different values of a shared item; each value is written separately", "item", k)
		}
		for _, i := range s.samples {
			w.isApart(i)
			if _, err := w.item(ctx, w.own(i, k), s.item); err != nil {
				return w.fail(i, fmt.Errorf("item %s: %w", display.Name(k), err))
			}
		}
	}
	return nil
}

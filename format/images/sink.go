package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/format/internal/taken"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/internal/text/display"
)

func init() {
	component.RegisterSink("images", "Writes an image of each sample to a file in a directory, named by an expression. An input with several outputs is written to a subdirectory for each. The directory appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the images to write.
type Sink struct {
	Path      component.Path   `param:"path,required" doc:"the directory to write"`
	Item      string           `param:"item" doc:"the image" default:"image"`
	Name      string           `param:"name" doc:"an expression over the items that returns the file name without extension, possibly in subdirectories: label + \"/\" + string(id). Default: the number of the sample"`
	Format    string           `param:"format" doc:"extension of the format to encode images in, such as png; by default images keep their format and bytes"`
	Quality   int              `param:"quality" doc:"JPEG quality from 1 to 100, with format jpg or jpeg; JPEG images are encoded again" default:"0"`
	Overwrite output.Overwrite `param:"overwrite,how" doc:"what to do with an existing directory: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
}

// Check refuses invalid parameters.
func (s Sink) Check() error {
	if s.Format != "" {
		if err := dataset.CheckExt(s.Format); err != nil {
			return err
		}
		if !slices.Contains(extensions, s.Format) {
			return fmt.Errorf("format %q is not an image format; use one of %s", s.Format, strings.Join(extensions, ", "))
		}
	}
	if s.Quality < 0 || s.Quality > 100 {
		return fmt.Errorf("quality is %d; give 1 to 100", s.Quality)
	}
	if s.Quality != 0 && dataset.FormatOf(s.Format) != "jpeg" {
		return errors.New("quality needs JPEG; set format: jpg")
	}
	if s.Name == "" {
		return nil
	}
	return expr.Check(s.Name)
}

// Listed reports that an output that is unchanged since it was written may stay.
func (s Sink) Listed() bool { return s.Overwrite == output.Replace }

// Write writes the images of a dataset. Concurrent writers of one directory take turns.
// A directory is replaced only if such a sink wrote all its files, and stays if the new
// one would be the same.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	if err := s.Check(); err != nil {
		return err
	}
	path, err := output.Place(ctx, env, s.Path)
	if err != nil {
		return err
	}
	release, err := output.LockOutput(ctx, env, path)
	if err != nil {
		return err
	}
	defer release()
	there, err := s.prepare(path)
	if err != nil {
		return err
	}
	staged, err := output.StageDir(path)
	if err != nil {
		return err
	}
	defer staged.Discard()
	w := &writer{Sink: s, env: env, dir: staged.Dir, of: map[string]int{}}
	if err := w.all(ctx, in); err != nil {
		return err
	}
	if err := writeMark(staged.Dir, w.names()); err != nil {
		return err
	}
	if there && same(ctx, staged.Dir, path) {
		env.Stats.FromStore.Add(int64(len(w.of)))
		return nil
	}
	env.Stats.Computed.Add(int64(len(w.of)))
	env.Stats.BytesWritten.Add(w.bytes.Load())
	if !there {
		return staged.Publish(nil)
	}
	return staged.Publish(func(old string) error { return checkOurs(old, path) })
}

// prepare reports whether a directory exists at path, and refuses one that must not be
// replaced.
func (s Sink) prepare(path string) (there bool, err error) {
	switch _, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case s.Overwrite != output.Replace:
		return true, taken.Error("%s already exists; remove it, or set overwrite: replace", path)
	}
	return true, checkOurs(path, path)
}

// writer writes images into a hidden directory.
type writer struct {
	Sink
	env  *component.Env
	dir  string
	name *expr.Expression // nil for numbers

	bytes atomic.Int64

	mu sync.Mutex
	of map[string]int // samples by the names of their files, which have slashes
}

// all writes all outputs.
func (w *writer) all(ctx context.Context, in component.Data) (err error) {
	if w.Name != "" {
		if w.name, err = expr.Compile(w.Name); err != nil {
			return err
		}
	}
	if err := output.CheckNames(w.dir, in.Names, ""); err != nil {
		return err
	}
	for i, part := range in.Parts {
		group := ""
		if in.Names != nil {
			group = in.Names[i]
			if err := os.Mkdir(filepath.Join(w.dir, group), 0o777); err != nil {
				return err
			}
		}
		w.env.Stats.Total.Add(int64(part.Len()))
		width := len(fmt.Sprint(max(0, part.Len()-1)))
		err := dataset.Pass(ctx, part, w.env.Pool, func(ctx context.Context, i int, s dataset.Sample) error {
			if err := w.sample(ctx, group, fmt.Sprintf("%0*d", width, i), i, s); err != nil {
				return &dataset.SampleError{Node: w.env.Node, Index: i, Err: err}
			}
			w.env.Stats.Done.Add(1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sample writes the image of one sample.
func (w *writer) sample(ctx context.Context, group, number string, i int, s dataset.Sample) error {
	name, err := w.nameOf(ctx, number, s)
	if err != nil {
		return err
	}
	key := cmp.Or(w.Item, imageKey)
	it, err := s.Item(key)
	if err != nil {
		return err
	}
	it, err = w.encoded(ctx, it)
	if err != nil {
		return fmt.Errorf("item %s: %w", display.Name(key), err)
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return fmt.Errorf("item %s: %w", display.Name(key), err)
	}
	if !slices.Contains(extensions, strings.ToLower(ext)) {
		return fmt.Errorf("item %s has format %s, not an image; set format: png or another image format", key, cmp.Or(ext, "none"))
	}
	name = pathpkg.Join(group, name+"."+ext)
	if err := w.take(name, i); err != nil {
		return err
	}
	if err := w.put(ctx, name, it); err != nil {
		return fmt.Errorf("item %s: %w", display.Name(key), err)
	}
	return nil
}

// nameOf returns the file name of a sample, without extension.
func (w *writer) nameOf(ctx context.Context, number string, s dataset.Sample) (string, error) {
	if w.name == nil {
		return number, nil
	}
	v, err := w.name.Eval(ctx, s)
	if err != nil {
		return "", fmt.Errorf("name: %w", err)
	}
	name, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("name: expression %s: is %s; return a string, such as string(...)", expr.Brief(w.Name), expr.Shown(v))
	}
	for part := range strings.SplitSeq(name, "/") {
		if !output.SafeName(part) {
			return "", fmt.Errorf("name: %q is not a file path: part %q is empty, hidden or leaves the directory", name, part)
		}
	}
	return name, nil
}

// encoded returns an image in the format to write.
func (w *writer) encoded(ctx context.Context, it *dataset.Item) (*dataset.Item, error) {
	switch {
	case w.Format == "":
		return it, nil
	case w.Quality == 0:
		return dataset.Recode(ctx, it, w.Format)
	}
	it, err := dataset.RecodeJPEG(ctx, it, w.Quality)
	if err != nil {
		return nil, err
	}
	return dataset.Recode(ctx, it, w.Format)
}

// take assigns a name to a sample, unless another one has it.
func (w *writer) take(name string, i int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, taken := w.of[name]; taken {
		return fmt.Errorf("samples %d and %d are both named %s; make the expression name unique", min(other, i), max(other, i), name)
	}
	w.of[name] = i
	return nil
}

// put creates a file.
func (w *writer) put(ctx context.Context, name string, it *dataset.Item) error {
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, ok := it.Origin().(*dataset.FileOrigin)
	var n int64
	var err error
	if ok {
		if n, _, err = filecopy.Reflink.File(path, file.Path()); err == nil {
			err = file.Check()
		}
	} else {
		var b []byte
		if b, err = it.Bytes(ctx); err == nil {
			n, err = int64(len(b)), filecopy.Create(path, b)
		}
	}
	w.bytes.Add(n)
	if errors.Is(err, fs.ErrExist) {
		return taken.Error("%s already exists: the file system ignores case or Unicode form; rename a file", name)
	}
	return err
}

// names lists the written files.
func (w *writer) names() []string {
	names := make([]string, 0, len(w.of))
	for name := range w.of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

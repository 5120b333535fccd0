// Package images reads and writes directories of image files: each file is a sample with
// the item "image".
package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/mapper"
)

func init() {
	component.RegisterSource("images", "Reads a directory of image files, in order of their paths; each is a sample with the item image.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env.Files)
		})
}

// Source configures the directory of images to read.
type Source struct {
	Path      component.Path `param:"path,required" doc:"the directory"`
	Recursive bool           `param:"recursive" doc:"also read subdirectories"`
	Label     bool           `param:"label" doc:"add an item label, the name of the subdirectory of path that contains the image; implies recursive, and every image must be in a subdirectory"`
	Class     bool           `param:"class" doc:"add an integer item class, the number of the label: from 0 in sorted order, or in the order of classes"`
	Classes   []string       `param:"classes" doc:"the labels in the order of their numbers, for class"`
	Orient    bool           `param:"orient" doc:"turn images by their Exif orientation, like the mapper image-orient"`
	Include   []string       `param:"include" doc:"read only files that match one of these patterns: *.jpg matches names in any directory, train/** matches paths; * matches part of a name, ** any directories"`
	Exclude   []string       `param:"exclude" doc:"ignore files and directories that match one of these patterns"`
	File      string         `param:"file" doc:"add an item of this name with the file's name and its path in the directory: {name: 1.jpg, path: train/1.jpg}"`
	Ext       []string       `param:"ext" doc:"extensions of the files to read, in any case; default: all known image formats"`
}

// Check refuses invalid patterns, patterns that match nothing, and duplicate item names.
func (s Source) Check() error {
	for _, list := range [][]string{s.Include, s.Exclude} {
		for _, pattern := range list {
			if err := checkPattern(pattern); err != nil {
				return err
			}
		}
	}
	for _, pattern := range s.Include {
		if strings.Contains(pattern, "/") && !s.recursive() {
			return fmt.Errorf("include: %q matches subdirectories; set recursive: true", pattern)
		}
	}
	if len(s.Classes) > 0 && !s.Class {
		return errors.New("classes: they number the item class; set class: true")
	}
	if s.File == imageKey || s.File == labelKey && s.Label || s.File == classKey && s.Class {
		return fmt.Errorf("file: item %q exists; choose another name", s.File)
	}
	return nil
}

// The items of a sample.
const (
	imageKey = "image"
	labelKey = "label"
	classKey = "class"
)

// Inputs returns the directory, and whether subdirectories are read.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	return []pathguard.Input{{Path: env.Path(s.Path), Flat: !s.recursive()}}
}

// Listed reports that names, sizes and times identify the input.
func (s Source) Listed() bool { return true }

// Picks reports whether a file is an image to read.
func (s Source) Picks(file string) bool {
	excluded, names := fits(s.Exclude), strings.Split(file, "/")
	for i, name := range names {
		if strings.HasPrefix(name, ".") || excluded(strings.Join(names[:i+1], "/")) {
			return false
		}
	}
	return s.wanted()(file) && (len(names) == 1 || s.recursive())
}

// extensions are those of image files, in lower case.
var extensions = []string{"bmp", "gif", "jfif", "jpe", "jpeg", "jpg", "png", "tif", "tiff", "webp"}

// Open lists the images in a directory, ordered by the names along their paths, and
// reads none. It skips hidden files and directories, and does not follow links to
// directories. memo, which may be nil, caches digests of files.
func (s Source) Open(ctx context.Context, root string, memo key.Memo) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	l := &listing{Listing: dataset.NewListing(), root: root, wanted: s.wanted(), excluded: fits(s.Exclude)}
	err := l.add(ctx, "", s.recursive())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no directory %s", root)
	}
	if info, serr := os.Stat(root); serr == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; give the directory of images", root)
	}
	if err != nil {
		return nil, err
	}
	if err := l.Check(); err != nil {
		return nil, err
	}
	f := &directory{listing: l, source: s, memo: memo}
	if s.labelled() {
		if err := f.number(); err != nil {
			return nil, err
		}
	}
	if !s.Orient {
		return f, nil
	}
	orient, err := mapper.ImageOrient{}.Transform()
	return dataset.Map(f, orient, dataset.MapOptions{Node: "images"}), err
}

// labelled reports whether the directories in the root are labels.
func (s Source) labelled() bool { return s.Label || s.Class }

// recursive reports whether subdirectories are read.
func (s Source) recursive() bool { return s.Recursive || s.labelled() }

// directory is the dataset of a listing.
type directory struct {
	*listing
	source  Source
	memo    key.Memo
	classes map[string]int // number of each label
}

// number checks that each file has a label, and numbers the labels.
func (f *directory) number() error {
	labels := f.source.Classes
	if labels == nil {
		seen := map[string]bool{}
		for i := range f.files {
			seen[f.label(i)] = true
		}
		labels = slices.Sorted(maps.Keys(seen))
	}
	f.classes = make(map[string]int, len(labels))
	for i, label := range labels {
		if _, again := f.classes[label]; again {
			return fmt.Errorf("classes: %q is listed twice", label)
		}
		f.classes[label] = i
	}
	for i := range f.files {
		label := f.label(i)
		if label == "" {
			return fmt.Errorf("%s is not in a subdirectory of %s for its label; move it into one", f.path(i), f.root)
		}
		if _, listed := f.classes[label]; f.source.Class && !listed {
			return fmt.Errorf("%s: label %q is not in classes; add it, or exclude the directory", f.path(i), label)
		}
	}
	return nil
}

func (f *directory) Len() int { return len(f.files) }

func (f *directory) At(_ context.Context, i int) (dataset.Sample, error) {
	if i < 0 || i >= len(f.files) {
		return dataset.Sample{}, &dataset.IndexError{Index: i, Len: len(f.files)}
	}
	sample := dataset.NewSample(dataset.Field{Key: imageKey, Item: f.File(f.path(i), f.memo)})
	if f.source.Label {
		sample = sample.WithItem(labelKey, dataset.NewItem("json", f.label(i)))
	}
	if f.source.Class {
		sample = sample.WithItem(classKey, dataset.NewItem("json", int64(f.classes[f.label(i)])))
	}
	if f.source.File != "" {
		path := f.within(i)
		sample = sample.WithItem(f.source.File, dataset.NewItem("json", map[string]any{"name": pathpkg.Base(path), "path": path}))
	}
	return sample, nil
}

// Chunks reports that a sample depends on its file, its extension, and the items
// about its path.
func (f *directory) Chunks(ctx context.Context) ([]dataset.Chunk, error) {
	return f.listing.Chunks(ctx, len(f.files), f.memo, func(i int) (on, files []string) {
		path := f.path(i)
		on = []string{filepath.Ext(path)}
		if f.source.Label {
			on = append(on, f.label(i))
		}
		if f.source.Class {
			on = append(on, strconv.Itoa(f.classes[f.label(i)]))
		}
		if f.source.File != "" {
			on = append(on, f.source.File, f.within(i))
		}
		return on, []string{path}
	})
}

// wanted returns a predicate for the files to read, by path in the directory.
func (s Source) wanted() func(path string) bool {
	wanted := extensions
	if s.Ext != nil {
		wanted = make([]string, len(s.Ext))
		for i, ext := range s.Ext {
			wanted[i] = strings.ToLower(strings.TrimPrefix(ext, "."))
		}
	}
	included := fits(s.Include)
	return func(path string) bool {
		return slices.Contains(wanted, strings.ToLower(strings.TrimPrefix(pathpkg.Ext(path), "."))) && (s.Include == nil || included(path))
	}
}

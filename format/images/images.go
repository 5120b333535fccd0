// Package images reads and writes directories of image files: each file is a sample with
// the item "image".
package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
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
		if strings.Contains(pattern, "/") && !s.Recursive && !s.Label {
			return fmt.Errorf("include: %q matches subdirectories; set recursive: true", pattern)
		}
	}
	if s.File == imageKey || s.File == labelKey && s.Label {
		return fmt.Errorf("file: item %q exists; choose another name", s.File)
	}
	return nil
}

// The items of a sample.
const (
	imageKey = "image"
	labelKey = "label"
)

// Inputs returns the directory, and whether subdirectories are read.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	return []pathguard.Input{{Path: env.Path(s.Path), Flat: !s.Recursive && !s.Label}}
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
	return s.wanted()(file) && (len(names) == 1 || s.Recursive || s.Label)
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
	err := l.add(ctx, "", s.Recursive || s.Label)
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
	if s.Label {
		for i := range l.files {
			if l.label(i) == "" {
				return nil, fmt.Errorf("%s is not in a subdirectory of %s for its label; move it into one", l.path(i), root)
			}
		}
	}
	return &folder{l, s, memo}, nil
}

// folder is the dataset of a listing.
type folder struct {
	*listing
	source Source
	memo   key.Memo
}

func (f *folder) Len() int { return len(f.files) }

func (f *folder) At(_ context.Context, i int) (dataset.Sample, error) {
	if i < 0 || i >= len(f.files) {
		return dataset.Sample{}, &dataset.IndexError{Index: i, Len: len(f.files)}
	}
	sample := dataset.NewSample(dataset.Field{Key: imageKey, Item: f.File(f.path(i), f.memo)})
	if f.source.Label {
		sample = sample.WithItem(labelKey, dataset.NewItem("json", f.label(i)))
	}
	if f.source.File != "" {
		path := f.within(i)
		sample = sample.WithItem(f.source.File, dataset.NewItem("json", map[string]any{"name": pathpkg.Base(path), "path": path}))
	}
	return sample, nil
}

// Chunks reports that a sample depends on its file, its extension, and the items
// about its path.
func (f *folder) Chunks(ctx context.Context) ([]dataset.Chunk, error) {
	return f.listing.Chunks(ctx, len(f.files), f.memo, func(i int) (on, files []string) {
		path := f.path(i)
		on = []string{filepath.Ext(path)}
		if f.source.Label {
			on = append(on, f.label(i))
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

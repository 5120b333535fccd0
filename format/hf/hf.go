// Package hf reads directories that the library datasets of Hugging Face saves:
// Dataset.save_to_disk and DatasetDict.save_to_disk. Each row is a sample, and each
// column an item (package ipc).
//
// state.json lists the files with the rows, and dataset_info.json the columns with
// images and sounds. These are items with the stored bytes and their extension. Nothing
// in such a directory is executed.
package hf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/ipc"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

func init() {
	component.RegisterSource("hf", "Reads a Hugging Face dataset directory (save_to_disk): each row is a sample, and each column an item. Images and audio keep their stored format.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source configures the directory to read.
type Source struct {
	Path    component.Path  `param:"path,required" doc:"the directory, with state.json in it, or with dataset_dict.json and a directory for each split"`
	Split   string          `param:"split" doc:"the split to read, if there are several"`
	Formats columns.Formats `param:"formats" doc:"item to extension: format of the bytes or the text of a column, such as {scan: tiff, caption: txt}; other bytes stay bytes"`
}

// Check refuses extensions that cannot be read.
func (s Source) Check() error {
	if s.Split != "" && !output.SafeName(s.Split) {
		return fmt.Errorf("split: %q is not a directory name", s.Split)
	}
	return s.Formats.Check()
}

// Inputs returns the directory to read.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	path := env.Path(s.Path)
	return []pathguard.Input{{Path: path, Flat: true}, {Path: filepath.Join(path, s.Split), Flat: true}}
}

// Listed reports that names, sizes and times identify the input.
func (s Source) Listed() bool { return true }

// Open indexes the rows of the files, or reads a cached index.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	dir, err := s.dir(path)
	if err != nil {
		return nil, err
	}
	parts, err := files(dir)
	if err != nil {
		return nil, err
	}
	kinds, err := features(dir)
	if err != nil {
		return nil, err
	}
	o := ipc.Options{Held: indexed.NewHeld(), Item: func(f *ipc.Field, v any) (*dataset.Item, error) {
		if k := kinds[f.Name]; k == "Image" || k == "Audio" {
			return s.stored(f.Name, v)
		}
		return ipc.PlainItem(s.Formats)(f, v)
	}}
	return indexed.Join(ctx, env, len(parts), func(ctx context.Context, i int) (*part, error) {
		file, err := ipc.Open(ctx, parts[i].path, env.Larder, o)
		parts[i].File = file
		return parts[i], err
	})
}

// A part is the rows of a file that belong to the dataset: version 1 of the library also
// wrote files with other rows.
type part struct {
	*ipc.File
	path string
	skip int
	take int // -1 for the rest
}

// Len returns the number of rows.
func (p *part) Len() int {
	rest := max(0, p.File.Len()-p.skip)
	if p.take < 0 {
		return rest
	}
	return min(p.take, rest)
}

// Sample returns the sample of a row.
func (p *part) Sample(ctx context.Context, i int) (dataset.Sample, error) {
	return p.File.Sample(ctx, p.skip+i)
}

// dir returns the directory of the split.
func (s Source) dir(path string) (string, error) {
	var dict struct{ Splits []string }
	err := read(filepath.Join(path, "dataset_dict.json"), &dict)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Split == "":
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s has no splits (no dataset_dict.json); remove split", path)
	case err != nil:
		return "", err
	case !slices.Contains(dict.Splits, s.Split):
		return "", fmt.Errorf("%s has the splits %s; choose one with split", path, strings.Join(dict.Splits, ", "))
	}
	return filepath.Join(path, s.Split), nil
}

// files returns the files with the rows.
func files(dir string) (parts []*part, err error) {
	var state struct {
		Files []struct {
			Filename string `json:"filename"`
			Skip     *int   `json:"skip"`
			Take     *int   `json:"take"`
		} `json:"_data_files"`
		Indices []json.RawMessage `json:"_indices_data_files"`
		History []struct {
			Transforms []json.RawMessage `json:"transforms"`
		} `json:"_inplace_history"`
	}
	path := filepath.Join(dir, "state.json")
	switch err := read(path, &state); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s has no state.json; give a directory written by save_to_disk", dir)
	case err != nil:
		return nil, err
	case len(state.Indices) > 0:
		return nil, fmt.Errorf("%s has an indices mapping; save it again with a newer version of datasets", dir)
	}
	for _, f := range state.Files {
		if !output.SafeName(f.Filename) {
			return nil, fmt.Errorf("%s: %q is not a file name in its directory", path, f.Filename)
		}
		p := &part{path: filepath.Join(dir, f.Filename), take: -1}
		if f.Skip != nil {
			p.skip = *f.Skip
		}
		if f.Take != nil {
			p.take = *f.Take
		}
		if p.skip < 0 || p.take < -1 {
			return nil, fmt.Errorf("%s: skip %d and take %d of %s are not a range of rows", path, p.skip, p.take, f.Filename)
		}
		parts = append(parts, p)
	}
	for _, h := range state.History {
		if len(h.Transforms) > 0 {
			return nil, fmt.Errorf("%s has an _inplace_history; save the dataset again with a newer version of datasets", path)
		}
	}
	return parts, nil
}

// features returns the types of columns in the library; "" for those that only have an
// Arrow type.
func features(dir string) (map[string]string, error) {
	var info struct{ Features map[string]json.RawMessage }
	if err := read(filepath.Join(dir, "dataset_info.json"), &info); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	kinds := map[string]string{}
	for name, raw := range info.Features {
		var f struct {
			Type string `json:"_type"`
		}
		if json.Unmarshal(raw, &f) == nil {
			kinds[name] = f.Type
		}
	}
	return kinds, nil
}

// maxBytes bounds the files that describe a directory.
const maxBytes = 64 << 20

func read(path string, to any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytes {
		return fmt.Errorf("%s is not a file, or exceeds %d bytes", path, maxBytes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s is not JSON written by datasets", path)
	}
	return nil
}

// stored returns the item of an image or a sound, which is a struct of its bytes and its
// path.
func (s Source) stored(name string, v any) (*dataset.Item, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return s.Formats.Item(name, v, false)
	}
	path, _ := object["path"].(string)
	b, ok := object["bytes"].([]byte)
	if !ok {
		return nil, fmt.Errorf("only the path %q is stored; save the dataset with the file contents", path)
	}
	ext, given := s.Formats[name]
	if !given {
		ext = extension(b, path)
	}
	return dataset.NewBytes(ext, b), nil
}

// extension returns the extension of bytes, from their beginning or else from their file
// name.
func extension(b []byte, path string) string {
	for _, m := range []struct {
		at    int
		begin string
		ext   string
	}{
		{0, "\xff\xd8\xff", "jpg"}, {0, "\x89PNG\r\n", "png"}, {8, "WEBP", "webp"}, {0, "GIF8", "gif"}, {0, "BM", "bmp"},
		{0, "II*\x00", "tiff"}, {0, "MM\x00*", "tiff"}, {8, "WAVE", "wav"}, {0, "fLaC", "flac"}, {0, "OggS", "ogg"}, {0, "ID3", "mp3"},
	} {
		if len(b) >= m.at && bytes.HasPrefix(b[m.at:], []byte(m.begin)) {
			return m.ext
		}
	}
	if ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")); ext != "" && dataset.CheckExt(ext) == nil {
		return ext
	}
	return "bin"
}

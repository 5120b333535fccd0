// Package mds reads shards of Mosaic Streaming: a directory with index.json and .mds
// files, which may be compressed with zstd or gzip. Each of their samples is a sample,
// and each column an item.
//
// The offsets of the samples are at the beginning of a shard, and are read when it is
// opened. A sample is read in place, when an item of it is requested. Pickle is refused,
// because reading it could execute code.
package mds

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/display"
)

func init() {
	component.RegisterSource("mds", "Reads a Mosaic Streaming dataset: a directory with index.json and files .mds, possibly compressed by zstd or gzip. Each column is an item.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source configures the directory to read.
type Source struct {
	Path    component.Path  `param:"path,required" doc:"the directory that has index.json"`
	Formats columns.Formats `param:"formats" doc:"item to extension: format of the bytes or the text of a column, such as {image: jpg, caption: txt}; other bytes stay bytes"`
}

// Check refuses extensions that cannot be read.
func (s Source) Check() error { return s.Formats.Check() }

// Inputs returns the directory to read.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	return []pathguard.Input{{Path: env.Path(s.Path), Flat: true}}
}

// Listed reports that names, sizes and times identify the input.
func (s Source) Listed() bool { return true }

// Open reads the offsets of samples, of several shards concurrently as env allows, or
// from the Larder of env.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	shards, err := readIndex(filepath.Join(path, "index.json"))
	if err != nil {
		return nil, err
	}
	return indexed.Join(ctx, env, len(shards), func(ctx context.Context, i int) (*file, error) {
		return s.open(ctx, path, &shards[i], env)
	})
}

// A file is a shard with the offsets of its samples.
type file struct {
	*indexed.File
	of      *shard
	formats columns.Formats
}

func (s Source) open(ctx context.Context, dir string, of *shard, env *component.Env) (*file, error) {
	path := filepath.Join(dir, of.Raw.Basename)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && of.Packed.Basename != "" {
		path = filepath.Join(dir, of.Packed.Basename)
		if how, _, _ := strings.Cut(of.Packing, ":"); how == "br" || how == "snappy" {
			return nil, fmt.Errorf("%s: compression %s is not supported; use compression='zstd', or unpack the shards next to it", path, how)
		}
	}
	f, err := indexed.Open(ctx, path, env.Larder, indexed.Scan{
		Name: "index of a shard", About: []any{of.Samples, of.Raw.Bytes},
		Func: func(_ context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			x, err := of.offsets(from, size)
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return x, err
		},
		Check: of.check,
	})
	if err != nil {
		return nil, err
	}
	return &file{f, of, s.Formats}, nil
}

// offsets reads the offsets of samples, and the end of the last one: 4 bytes each,
// little-endian, after the number of samples.
func (s *shard) offsets(from io.ReaderAt, size int64) ([]byte, error) {
	if size != s.Raw.Bytes {
		return nil, fmt.Errorf("the file has %d bytes, but index.json says %d: truncated or another file", size, s.Raw.Bytes)
	}
	head := 4 * (2 + s.Samples)
	if head > size {
		return nil, fmt.Errorf("the file is too short for %d samples", s.Samples)
	}
	b := make([]byte, head)
	if _, err := from.ReadAt(b, 0); err != nil {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(b); int64(n) != s.Samples {
		return nil, fmt.Errorf("the file has %d samples, but index.json says %d", n, s.Samples)
	}
	return b[4:], s.check(b[4:])
}

// check returns an error unless the offsets are valid for the shard.
func (s *shard) check(x []byte) error {
	if int64(len(x)) != 4*(1+s.Samples) {
		return errOffsets
	}
	last := int64(4 * (2 + s.Samples))
	for ; len(x) > 0; x = x[4:] {
		at := int64(binary.LittleEndian.Uint32(x))
		if at < last || at > s.Raw.Bytes {
			return errOffsets
		}
		last = at
	}
	return nil
}

var errOffsets = errors.New("the offsets are damaged")

// Len returns the number of samples.
func (f *file) Len() int { return int(f.of.Samples) }

// Sample returns a sample. It is read when an item of it is requested.
func (f *file) Sample(_ context.Context, i int) (dataset.Sample, error) {
	var cells dataset.Once[[][]byte]
	fields := make([]dataset.Field, 0, len(f.of.Names))
	for k, column := range f.of.Names {
		name := fmt.Sprintf("column %s of sample %d in %s", display.Name(column), i, display.Name(f.Path))
		fields = append(fields, dataset.Field{Key: column, Item: dataset.Deferred(name, func(ctx context.Context) (*dataset.Item, error) {
			all, err := cells.Get(ctx, func(ctx context.Context) ([][]byte, error) { return f.read(ctx, i) })
			if err != nil {
				return nil, err
			}
			it, err := decode(f.formats, column, f.of.Encodings[k], all[k])
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return it, err
		})})
	}
	return dataset.NewSample(fields...), nil
}

// read reads a sample and splits it into its columns: the sizes of those of variable
// size come first.
func (f *file) read(ctx context.Context, i int) ([][]byte, error) {
	at := int64(binary.LittleEndian.Uint32(f.Index[4*i:]))
	end := int64(binary.LittleEndian.Uint32(f.Index[4*i+4:]))
	b, err := dataset.ReadBytes(ctx, "mds", end-at, func(b []byte) error { return f.Read(ctx, b, at) })
	if errors.Is(err, codec.ErrSetting) {
		err = fmt.Errorf("%s: sample %d: %w", f.Path, i, err)
	}
	if err != nil {
		return nil, err
	}
	cells, err := f.of.cells(b)
	if err != nil {
		err = fmt.Errorf("%s: sample %d: %w", f.Path, i, err)
	}
	return cells, err
}

var errSizes = errors.New("the column sizes are damaged")

func (s *shard) cells(b []byte) ([][]byte, error) {
	sizes := make([]int64, len(s.Sizes))
	for k, size := range s.Sizes {
		if size != nil && *size > 0 {
			sizes[k] = *size
			continue
		}
		if len(b) < 4 {
			return nil, errSizes
		}
		sizes[k], b = int64(binary.LittleEndian.Uint32(b)), b[4:]
	}
	cells := make([][]byte, len(sizes))
	for k, n := range sizes {
		if n > int64(len(b)) {
			return nil, errSizes
		}
		cells[k], b = slices.Clip(b[:n]), b[n:]
	}
	if len(b) > 0 {
		return nil, errSizes
	}
	return cells, nil
}

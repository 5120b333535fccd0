// Package tfrecord reads and writes TFRecord files of examples (tensorflow.Example):
// each record is a sample, and each feature an item.
//
// A file is scanned once, from length to length, and the positions of its records are
// cached (package indexed). Then records are read in place, in any order. The scan
// verifies the checksums of lengths, and reads verify those of data.
package tfrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/rows"
)

func init() {
	component.RegisterSource("tfrecord", "Reads TFRecord files: each record, a tf.train.Example, is a sample, and each feature an item. Numbers become an array; a single value of bytes stays bytes. Files that end with .gz, .zst, .xz or .bz2 are decompressed.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source configures the files to read.
type Source struct {
	Path       component.Path    `param:"path,required" doc:"a file, a directory of files, which are read in order of their names, or a pattern: train-{00000..00099}-of-00100; also URLs: https://, s3://"`
	Formats    map[string]string `param:"formats" doc:"item to extension: format of the bytes of a feature, such as {image/encoded: jpg, caption: txt}; others stay bytes"`
	Incomplete bool              `param:"incomplete" doc:"read truncated files up to the last whole record, instead of failing"`
}

// Check refuses patterns and extensions that cannot be read.
func (s Source) Check() error {
	for item, ext := range s.Formats {
		if err := dataset.CheckExt(ext); err != nil {
			return fmt.Errorf("formats: %s: %w", item, err)
		}
	}
	return indexed.Path(s.Path).Check()
}

// Delegate returns the files to read.
func (s Source) Delegate() any { return indexed.Path(s.Path) }

// endings are the extensions of files read in a directory.
var endings = rows.Packed(".tfrecord", ".tfrecords", ".tfrec")

// A records is a file with an index of its records.
type records struct {
	*indexed.File
	of    Source
	index index
}

// Open indexes the records of the files, several files concurrently as env allows, or
// reads the index from the Larder of env.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	paths, err := indexed.Files(ctx, path, endings...)
	if err != nil {
		return nil, err
	}
	return indexed.Join(ctx, env, len(paths), func(ctx context.Context, i int) (*records, error) {
		return s.open(ctx, paths[i], env)
	})
}

func (s Source) open(ctx context.Context, path string, env *component.Env) (*records, error) {
	f, err := indexed.Open(ctx, path, env.Larder, indexed.Scan{
		Name: "index of records", About: []any{s.Incomplete},
		Func: func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			return scan(ctx, path, from, size, s.Incomplete)
		},
		Check:  func(x []byte) error { return index(x).check() },
		Packed: func(head []byte) bool { return !isHead(head) && rows.Packs(head) },
	})
	if err != nil {
		return nil, err
	}
	return &records{f, s, f.Index}, nil
}

// Len returns the number of records.
func (f *records) Len() int { return f.index.records() }

// Sample reads a record.
func (f *records) Sample(ctx context.Context, i int) (dataset.Sample, error) {
	at, size := f.index.record(i)
	b, err := dataset.ReadBytes(ctx, "tfrecord", int64(size+tailBytes), func(b []byte) error { return f.Read(ctx, b, at) })
	if errors.Is(err, codec.ErrSetting) {
		err = fmt.Errorf("%s: record %d: %w", f.Path, i+1, err)
	}
	if err != nil {
		return dataset.Sample{}, err
	}
	features, err := exampleOf(b)
	var fields []dataset.Field
	for _, feature := range features {
		if err != nil {
			break
		}
		var it *dataset.Item
		if it, err = f.of.item(feature); err != nil {
			err = fmt.Errorf("feature %s: %w", feature.name, err)
		}
		fields = append(fields, dataset.Field{Key: feature.name, Item: it})
	}
	if err != nil {
		return dataset.Sample{}, fmt.Errorf("%s: record %d: %w", f.Path, i, err)
	}
	return dataset.NewSample(fields...), nil
}

func exampleOf(b []byte) ([]feature, error) {
	data, err := verified(b)
	if err != nil {
		return nil, err
	}
	return parseExample(data)
}

// item converts a feature to an item: numbers to an array of one dimension, even a
// single one; one bytes value unchanged; several to a list of strings, which must be
// UTF-8.
func (s Source) item(f feature) (*dataset.Item, error) {
	ext, given := s.Formats[f.name]
	switch f.kind {
	case ofInts:
		return arrayItem(f.ints)
	case ofFloats:
		return arrayItem(f.floats)
	case ofBytes:
		if len(f.texts) == 1 {
			if !given {
				ext = "bin"
			}
			return dataset.NewBytes(ext, f.texts[0]), nil
		}
		return listItem(f.texts)
	}
	return dataset.NewItem("json", nil), nil
}

func arrayItem[T array.Element](values []T) (*dataset.Item, error) {
	a, err := array.From(values, len(values))
	if err != nil {
		return nil, err
	}
	return dataset.NewItem("npy", a), nil
}

// listItem returns a list of strings.
func listItem(texts [][]byte) (*dataset.Item, error) {
	list := make([]any, len(texts))
	for i, t := range texts {
		if !utf8.Valid(t) {
			return nil, fmt.Errorf("%d values of bytes are not UTF-8 strings; write each into its own feature", len(texts))
		}
		list[i] = string(t)
	}
	return dataset.NewItem("json", list), nil
}

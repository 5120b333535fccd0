// Package text reads and writes plain text files, whose lines or paragraphs are samples
// with one item, text.
//
// A file is scanned once, and the positions of its samples are cached (package indexed).
// Then each sample is read in place, in any order, so a file may be larger than memory.
package text

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/internal/streamed"
)

func init() {
	text := component.RegisterSource("text", "Reads plain text files: each line or paragraph is a sample with the item text. Compressed files (.gz, .zst, .xz, .bz2) are decompressed.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
	component.Streams(text, Source.isStream, Source.OpenStream)
}

// By is the unit of text that forms a sample.
type By string

// The units.
const (
	Line      By = "line"      // including empty lines, so that samples have the numbers of lines
	Paragraph By = "paragraph" // consecutive lines, up to a blank one
)

// textKey is the item of a sample.
const textKey = "text"

// Source configures the files to read.
type Source struct {
	Path component.Path `param:"path,required" doc:"a file, a directory of files (*.txt, *.text, compressed or not), which are read in order of their names, or a pattern: part-{000..099}.txt; also URLs: https://, s3://"`
	By   By             `param:"by" doc:"unit of a sample: a line, possibly empty (line), or lines up to a blank line (paragraph)" default:"line" enum:"line|paragraph"`

	Stream bool `param:"stream" doc:"read sequentially and return a stream; always the case for standard input (path: -)"`
}

// Check refuses invalid patterns, and parameters that a stream cannot have.
func (s Source) Check() error {
	if s.By == Paragraph && s.isStream() {
		return errors.New("a stream has no paragraphs; set by: line, or read a file")
	}
	return s.path().Check()
}

// Delegate returns the files to read.
func (s Source) Delegate() any { return s.path() }

func (s Source) path() streamed.Path { return streamed.Path{Path: s.Path, Stream: s.Stream} }

// endings are the extensions of files read in a directory.
var endings = rows.Packed(".txt", ".text")

// Open indexes the samples of the files, several files concurrently as env allows, or
// reads the index from the Larder of env.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	paths, err := indexed.Files(ctx, path, endings...)
	if err != nil {
		return nil, err
	}
	held := indexed.NewHeld()
	return indexed.Join(ctx, env, len(paths), func(ctx context.Context, i int) (*texts, error) {
		t, err := s.open(ctx, paths[i], env)
		if err == nil {
			t.Held = held
		}
		return t, err
	})
}

// A texts is a file with an index of its samples.
type texts struct {
	*indexed.File
	by    By
	index index
}

func (s Source) open(ctx context.Context, path string, env *component.Env) (*texts, error) {
	f, err := indexed.Open(ctx, path, env.Larder, indexed.Scan{
		Name: "index of a text", About: []any{string(s.By)},
		Func: func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			x, err := scan(ctx, io.NewSectionReader(from, 0, size), s.By)
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return x, err
		},
		Check:  func(x []byte) error { return index(x).check() },
		Packed: rows.Packs,
	})
	if err != nil {
		return nil, err
	}
	return &texts{f, s.By, f.Index}, nil
}

// Len returns the number of samples.
func (t *texts) Len() int { return t.index.len() }

// Sample returns a sample. Its text is read on demand.
func (t *texts) Sample(_ context.Context, i int) (dataset.Sample, error) {
	at, size := t.index.place(i)
	if err := codec.CheckItem(size); err != nil {
		return dataset.Sample{}, fmt.Errorf("%s: %s %d: %w", t.Path, cmp.Or(t.by, Line), i+1, err)
	}
	part := t.Part(fmt.Sprintf("%s %d", t.by, i+1), "txt", at, size)
	return dataset.NewSample(dataset.Field{Key: textKey, Item: dataset.ItemFrom(part)}), nil
}

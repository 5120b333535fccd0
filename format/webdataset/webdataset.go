// Package webdataset reads and writes tar archives in the WebDataset format: adjacent
// members whose names are equal up to the first dot of the base name form a sample.
// 0007.jpg and 0007.cls are the items jpg and cls of the sample with the key 0007.
//
// An archive is scanned once, and the positions of its members are cached
// ([members.Index]). Then samples are read in place, in any order. Nothing is unpacked
// to disk, except archives that are compressed as a whole: these are decompressed into
// an unnamed temporary file.
package webdataset

import (
	"context"
	"errors"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/internal/streamed"
)

func init() {
	archives := component.RegisterSource("webdataset", "Reads samples from tar archives of WebDataset: members with equal names up to the first dot are a sample. Archives that end with .gz, .tgz, .zst, .xz or .bz2 are decompressed.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
	component.Streams(archives, Source.isStream, Source.OpenStream)
}

// Source configures the archives to read.
type Source struct {
	Path       component.Path `param:"path,required" doc:"an archive, a directory of archives, which are read in order of their names, or a pattern: train-{000..099}.tar, {train,more}.tar; also URLs: https://, s3://"`
	Incomplete bool           `param:"incomplete" doc:"read truncated archives up to the last whole member, instead of failing"`

	Stream bool `param:"stream" doc:"read sequentially and return a stream; always the case for standard input (path: -)"`
}

// Check refuses invalid patterns, and parameters that a stream cannot have.
func (s Source) Check() error {
	if s.Incomplete && s.isStream() {
		return errors.New("incomplete is not supported for streams; remove incomplete, or read a file")
	}
	return s.path().Check()
}

// Delegate returns the archives to read.
func (s Source) Delegate() any { return s.path() }

func (s Source) path() streamed.Path { return streamed.Path{Path: s.Path, Stream: s.Stream} }

// Open indexes the samples of the archives, several archives concurrently as env allows,
// or reads the index from the Larder of env.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	paths, err := indexed.Files(ctx, path, endings...)
	if err != nil {
		return nil, err
	}
	return members.Samples(ctx, env, paths, func(ctx context.Context, path string) (*members.Archive, error) {
		return s.open(ctx, path, env)
	})
}

// endings are the extensions of archives read in a directory.
var endings = append(rows.Packed(".tar"), ".tgz", ".tzst", ".txz", ".tbz2")

func (s Source) open(ctx context.Context, path string, env *component.Env) (*members.Archive, error) {
	f, err := indexed.Open(ctx, path, env.Larder, indexed.Scan{
		Name: "index of an archive", About: []any{s.Incomplete},
		Func: func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			return scan(ctx, path, from, size, s.Incomplete)
		},
		Check:  func(x []byte) error { return members.Index(x).Check(placeBytes) },
		Packed: rows.Packs,
	})
	if err != nil {
		return nil, err
	}
	return &members.Archive{File: f, Index: f.Index, Item: func(n members.Name, place []byte) dataset.Origin {
		at, size := placed(place)
		if !n.Integer {
			return f.Part(n.Member, n.Ext, at, size)
		}
		return f.PartBy(n.Member, n.Ext, size, []any{"integer", at, size}, func(ctx context.Context, b []byte) error {
			if err := f.Read(ctx, b, at); err != nil {
				return err
			}
			return members.Integer(n.Member, b)
		})
	}}, nil
}

// Package zip reads zip archives in the WebDataset format: members whose names are equal
// up to the first dot of the base name form a sample, wherever they are in the archive.
// 0007.jpg and 0007.cls are the items jpg and cls of the sample with the key 0007.
//
// The directory of an archive is read once, and the positions of the members are cached
// ([members.Index]). Then each is read in place, in any order. Nothing of an archive is
// written to disk, and names in it are not used as paths.
package zip

import (
	"context"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/members"
)

func init() {
	component.RegisterSource("zip", "Reads samples from zip archives: members with equal names up to the first dot are a sample, as in WebDataset. Members are stored, or compressed by deflate or zstd.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source configures the archives to read.
type Source struct {
	Path component.Path `param:"path,required" doc:"an archive, a directory of archives, which are read in order of their names, or a pattern: train-{000..099}.zip, {train,more}.zip; also URLs: https://, s3://"`
}

// Delegate returns the archives to read.
func (s Source) Delegate() any { return indexed.Path(s.Path) }

// Open indexes the samples of the archives, several archives concurrently as env allows,
// or reads the index from the Larder of env.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	paths, err := indexed.Files(ctx, path, ".zip")
	if err != nil {
		return nil, err
	}
	return members.Samples(ctx, env, paths, func(ctx context.Context, path string) (*members.Archive, error) {
		return open(ctx, path, env)
	})
}

func open(ctx context.Context, path string, env *component.Env) (*members.Archive, error) {
	f, err := indexed.Open(ctx, path, env.Larder, indexed.Scan{
		Name: "index of a zip archive",
		Func: func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			return scan(ctx, path, from, size)
		},
		Check: func(x []byte) error { return members.Index(x).Check(placeBytes) },
	})
	if err != nil {
		return nil, err
	}
	return &members.Archive{File: f, Index: f.Index, Item: func(n members.Name, at []byte) dataset.Origin {
		return part(f, n, at)
	}}, nil
}

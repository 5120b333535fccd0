// Package zip reads datasets in zip archives, in the way of WebDataset: members whose names are
// the same up to the first dot of the base name make a sample, wherever in the archive they are.
// 0007.jpg and 0007.cls are the items jpg and cls of a sample that has the key 0007.
//
// The directory of an archive is read once, and where the members lie is kept
// ([members.Index]); from then on each is read where it lies, in any order. Nothing of an archive
// is written to disk, and no name in it is followed.
package zip

import (
	"context"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

func init() {
	component.RegisterSource("zip", "Reads samples in zip archives: members whose names are the same up to the first dot are a sample, as in archives of WebDataset. Members are stored, or compressed by deflate or zstd.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source names archives to read.
type Source struct {
	Path component.Path `param:"path,required" doc:"an archive, a folder of archives, which are read by name, or several by a pattern: train-{000..099}.zip, {train,more}.zip; also URLs: https://, s3://"`
}

// Check refuses patterns that cannot be read.
func (s Source) Check() error {
	return indexed.Check(string(s.Path))
}

// Inputs says which files are read.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	return indexed.Inputs(env.Path(s.Path))
}

// Listed says that names, sizes and times stand for what is read, but at a URL.
func (s Source) Listed() bool { return !indexed.IsFar(string(s.Path)) }

// Far says that the files may lie elsewhere.
func (s Source) Far() {}

// Open finds out where the samples of the archives lie, as many archives at once as env does
// things, or knows it from before if its Larder has it.
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

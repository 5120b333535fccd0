// Package streamed is for sources that read files from beginning to end, as they come:
// standard input, pipes, and others that are said to be streams.
package streamed

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

// Is reports whether a source puts out a stream: because it says so, or reads standard input.
func Is(path component.Path, says bool) bool { return says || path == component.StandardInput }

// ErrBeside is the error of parameters that rows of a stream cannot have.
var ErrBeside = errors.New("a stream has no files beside its rows, and no places of them: remove files and file")

// Check refuses what cannot be read as a stream.
func Check(path string) error {
	if indexed.IsFar(path) {
		return errors.New("stream: a file at a URL is read where it lies, in any order; remove stream")
	}
	return indexed.Check(path)
}

// Inputs says which files are read.
func Inputs(env *component.Env, path component.Path) []pathguard.Input {
	if path == component.StandardInput {
		return nil
	}
	return indexed.Inputs(env.Path(path))
}

// Files is a stream of the files that a path names, those of a folder by their endings.
func Files(ctx context.Context, env *component.Env, path component.Path, endings ...string) (stream.Stream[content.File], error) {
	if path == component.StandardInput {
		return stream.Of(content.File{Name: "standard input", Live: true, Open: func(context.Context) (io.ReadCloser, error) {
			r, err := env.Stdin.Take()
			return io.NopCloser(r), err
		}}), nil
	}
	paths, err := indexed.Files(ctx, env.Path(path), endings...)
	return content.Files(paths...), err
}

// Samples is a stream of what f makes of each element of another one, whose name and place
// at says.
func Samples[T any](s stream.Stream[T], name string, at func(T) string, f func(T) (dataset.Sample, error)) component.Stream {
	return stream.MapAs(s, name, func(_ context.Context, v T) (dataset.Sample, error) {
		sample, err := f(v)
		if err != nil {
			err = fmt.Errorf("%s: %w", at(v), err)
		}
		return sample, err
	})
}

// Place says where a line stands.
func Place(l content.Line) string { return fmt.Sprintf("%s:%d", l.Name, l.Number) }

// Package streamed reads files sequentially as they arrive: standard input, pipes, and
// files that are declared to be streams.
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

// Is reports whether the output of a source is a stream: because it is declared, or
// reads standard input.
func Is(path component.Path, says bool) bool { return says || path == component.StandardInput }

// ErrBeside is the error of parameters that rows of a stream cannot have.
var ErrBeside = errors.New("a stream has no file paths and row positions; remove files and file")

// Check refuses a path that cannot be read as a stream.
func Check(path string) error {
	if indexed.IsFar(path) {
		return errors.New("stream is not supported for a URL; remove stream")
	}
	return indexed.Check(path)
}

// Inputs returns the files to read.
func Inputs(env *component.Env, path component.Path) []pathguard.Input {
	if path == component.StandardInput {
		return nil
	}
	return indexed.Inputs(env.Path(path))
}

// Files returns a stream of the files at a path; endings select those in a directory.
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

// Samples returns a stream that applies f to each element of another one. at returns the
// name and position of an element, for messages.
func Samples[T any](s stream.Stream[T], name string, at func(T) string, f func(T) (dataset.Sample, error)) component.Stream {
	return stream.MapAs(s, name, func(_ context.Context, v T) (dataset.Sample, error) {
		sample, err := f(v)
		if err != nil {
			err = fmt.Errorf("%s: %w", at(v), err)
		}
		return sample, err
	})
}

// Place formats the position of a line.
func Place(l content.Line) string { return fmt.Sprintf("%s:%d", l.Name, l.Number) }

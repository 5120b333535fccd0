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
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

// A Path is the path of a source that may output a stream. Such a source delegates to it
// (see component.Delegator).
type Path struct {
	Path   component.Path
	Stream bool // declared to be a stream
}

// IsStream reports whether the output is a stream: because it is declared, or reads
// standard input.
func (p Path) IsStream() bool { return p.Stream || p.Path == component.StandardInput }

// ErrBeside is the error of parameters that rows of a stream cannot have.
var ErrBeside = errors.New("a stream has no file paths and row positions; remove files and file")

// Check refuses a path that cannot be read.
func (p Path) Check() error {
	if p.IsStream() && objectstore.Is(string(p.Path)) {
		return errors.New("stream is not supported for a URL; remove stream")
	}
	return indexed.Path(p.Path).Check()
}

// Far marks sources that also read from URLs.
func (p Path) Far() {}

// Listed reports that names, sizes and times identify the input, except of a stream and at
// a URL.
func (p Path) Listed() bool { return !p.IsStream() && indexed.Path(p.Path).Listed() }

// Inputs returns the files to read.
func (p Path) Inputs(env *component.Env) []pathguard.Input {
	if p.Path == component.StandardInput {
		return nil
	}
	return indexed.Path(p.Path).Inputs(env)
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

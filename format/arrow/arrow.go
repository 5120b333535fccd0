// Package arrow reads Arrow IPC files (.arrow, .feather) and streams (.arrows). Each row
// is a sample, and each column an item (package ipc).
package arrow

import (
	"cmp"
	"context"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/ipc"
)

func init() {
	component.RegisterSource("arrow", "Reads Arrow files and streams (IPC, Feather): each row is a sample, and each column an item. Values are read on demand.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.Open(ctx, env.Path(p.Path), env)
		})
}

// Source configures the files to read.
type Source struct {
	Path       component.Path  `param:"path,required" doc:"a file, a directory of files (*.arrow, *.arrows, *.feather, *.ipc), which are read in order of their names, or a pattern: data-{00000..00009}-of-00010.arrow; also URLs: https://, s3://"`
	Formats    columns.Formats `param:"formats" doc:"item to extension: format of the bytes or the text of a column, such as {image: jpg, caption: txt}; other bytes stay bytes"`
	Incomplete bool            `param:"incomplete" doc:"read truncated files up to the last whole batch of rows, instead of failing"`
}

// Check refuses patterns and extensions that cannot be read.
func (s Source) Check() error { return cmp.Or(s.Formats.Check(), indexed.Path(s.Path).Check()) }

// Delegate returns the files to read.
func (s Source) Delegate() any { return indexed.Path(s.Path) }

// Open indexes the batches of the files, several files concurrently as env allows, or
// reads the index from the Larder of env.
func (s Source) Open(ctx context.Context, path string, env *component.Env) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	paths, err := indexed.Files(ctx, path, ".arrow", ".arrows", ".feather", ".ipc")
	if err != nil {
		return nil, err
	}
	o := ipc.Options{Incomplete: s.Incomplete, Item: ipc.PlainItem(s.Formats), About: map[string]string(s.Formats), Held: indexed.NewHeld()}
	return indexed.Join(ctx, env, len(paths), func(ctx context.Context, i int) (*ipc.File, error) {
		return ipc.Open(ctx, paths[i], env.Larder, o)
	})
}

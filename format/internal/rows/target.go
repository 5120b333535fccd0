package rows

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// A Target says where a sink writes its files. The sink delegates to it (see
// component.Delegator).
type Target struct {
	Path      component.Path // the file; for several datasets, or shards, the directory
	Overwrite output.Overwrite
	Ending    string // of files in a directory
	Shards    Shards
	Plain     string // why such a file is not compressed as a whole, and what to do
}

// Check refuses invalid bounds, and URLs that cannot be written.
func (t Target) Check() error { return cmp.Or(output.CheckPath(t.Path), t.Shards.Check()) }

// CheckSingle refuses a file name with the extension of another format.
func (t Target) CheckSingle() error {
	switch {
	case t.Shards.On():
		return t.Shards.CheckDir(t.Path, t.Ending)
	case PackingOf(string(t.Path)) != Plain:
		return fmt.Errorf("%s: %s", t.Path, t.Plain)
	}
	return output.CheckFile(t.Path)
}

// Far marks sinks that also write to URLs.
func (t Target) Far() {}

// Outputs reports that a directory may also contain other files.
func (t Target) Outputs(env *component.Env) []pathguard.Output {
	return []pathguard.Output{{Path: env.Path(t.Path), Files: true, Shared: true, Split: t.Shards.On()}}
}

// Listed reports that an output that is unchanged since it was written may stay.
func (t Target) Listed() bool { return t.Overwrite == output.Replace }

// A File is written row by row, by one goroutine at a time.
type File[T any] interface {
	// Fits reports whether the file, ended after one more row, has at most the given number
	// of bytes.
	Fits(row T, most int64) bool
	Add(row T) error
	End() error
}

// A Table is the content of files: the rows of a dataset, and a function that begins a
// file.
type Table[T any] struct {
	Rows  dataset.Dataset[T]
	Begin func(to io.Writer) (File[T], error)
}

// Write writes each dataset of an input, as the table that open returns, to the file of
// a target. Several datasets are written to files with their names in a directory, or to
// shards. A file appears complete or not at all; an existing file with the same content
// is not changed.
func Write[T any](ctx context.Context, env *component.Env, to Target, in component.Data, open func(ctx context.Context, ds component.Samples) (Table[T], error)) error {
	if to.Shards.On() {
		return writeShards(ctx, env, to, in, open)
	}
	files, names, release, err := filesFor(ctx, env, to.Path, in.Names, to.Ending)
	if err != nil {
		return err
	}
	defer release()
	for i, part := range in.Parts {
		env.Stats.Total.Add(int64(part.Len()))
		n, err := files.Write(ctx, names[i], to.Overwrite, func(file io.Writer) error {
			table, err := open(ctx, part)
			if err != nil {
				return err
			}
			return writeAll(ctx, env, file, table)
		})
		if err != nil {
			return err
		}
		countFile(env, n, part.Len())
	}
	return settle(ctx, files, names)
}

// writeAll writes all rows of a table to a file.
func writeAll[T any](ctx context.Context, env *component.Env, to io.Writer, table Table[T]) error {
	file, err := table.Begin(to)
	if err != nil {
		return err
	}
	for row, err := range dataset.Stream(ctx, table.Rows, env.Pool) {
		if err != nil {
			return err
		}
		if err := file.Add(row); err != nil {
			return err
		}
		env.Stats.Done.Add(1)
	}
	return file.End()
}

// countFile counts a file of samples, and the bytes written: none, if it existed already.
func countFile(env *component.Env, bytes int64, samples int) {
	env.Stats.BytesWritten.Add(bytes)
	if bytes > 0 {
		env.Stats.Computed.Add(int64(samples))
	} else {
		env.Stats.FromStore.Add(int64(samples))
	}
}

// filesFor returns the files for a parameter, their names, and a function that releases
// the lock on them. There is one file with the name "" at the path, or, for several
// datasets, one of each name, with an ending, in the directory. It removes what killed
// writers left.
func filesFor(ctx context.Context, env *component.Env, path component.Path, of []string, ending string) (files output.Files, names []string, release func(), err error) {
	if files, err = output.FilesAt(ctx, env, path); err != nil {
		return nil, nil, nil, err
	}
	names = []string{""}
	if of != nil {
		if err := output.CheckNames(files.Path(""), of, ending); err != nil {
			return nil, nil, nil, err
		}
		names = names[:0]
		for _, name := range of {
			names = append(names, name+ending)
		}
		if err := files.Check(ctx, names...); err != nil {
			return nil, nil, nil, err
		}
	}
	if release, err = files.LockOutput(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := files.Tidy(isOne(names)); err != nil {
		release()
		return nil, nil, nil, err
	}
	return files, names, release, nil
}

// settle checks at the end that several files are from one run; a single file always is.
func settle(ctx context.Context, files output.Files, names []string) error {
	if len(names) < 2 {
		return nil
	}
	return files.Settle(ctx, isOne(names))
}

// isOne returns a predicate for the given names.
func isOne(of []string) func(name string) bool {
	all := make(map[string]bool, len(of))
	for _, name := range of {
		all[name] = true
	}
	return func(name string) bool { return all[name] }
}

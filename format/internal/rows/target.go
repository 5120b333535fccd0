package rows

import (
	"context"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
)

// A Target says where the files of a sink go.
type Target struct {
	Path      component.Path // the file; of several datasets, or of shards, the folder
	Overwrite output.Overwrite
	Ending    string // of files in a folder
	Shards    Shards
}

// A File is written row after row. One goroutine at a time uses it.
type File[T any] interface {
	// Fits reports whether the file has at most so many bytes if it ends after one row more.
	Fits(row T, most int64) bool
	Add(row T) error
	End() error
}

// A Table is what files are written of: the rows of a dataset, and what begins a file of them.
type Table[T any] struct {
	Rows  dataset.Dataset[T]
	Begin func(to io.Writer) (File[T], error)
}

// Write writes each dataset of an input, as the table that open makes of it, to the file of a
// target or, of several, to one of its name in the folder there; or to shards. A file appears
// complete or not at all; one that is there with the same content is left untouched.
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
		env.Tally.Total.Add(int64(part.Len()))
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
		tally(env, n, part.Len())
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
		env.Tally.Done.Add(1)
	}
	return file.End()
}

// tally counts a file of so many samples, for which so many bytes were written: none, if it
// was there already.
func tally(env *component.Env, bytes int64, samples int) {
	env.Tally.BytesWritten.Add(bytes)
	if bytes > 0 {
		env.Tally.Computed.Add(int64(samples))
	} else {
		env.Tally.FromStore.Add(int64(samples))
	}
}

// filesFor returns where the files for a parameter go, what they are called, and the end of the
// turn to write them: the one at the path, called "", or of several datasets one of each name,
// with an ending, in the folder there. What killed writers left is gone.
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
	if release, err = files.TakeTurn(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := files.Tidy(isOne(names)); err != nil {
		release()
		return nil, nil, nil, err
	}
	return files, names, release, nil
}

// settle looks whether several files are of one run in the end: one by itself always is.
func settle(ctx context.Context, files output.Files, names []string) error {
	if len(names) < 2 {
		return nil
	}
	return files.Settle(ctx, isOne(names))
}

// isOne returns what tells names that are among some.
func isOne(of []string) func(name string) bool {
	all := make(map[string]bool, len(of))
	for _, name := range of {
		all[name] = true
	}
	return func(name string) bool { return all[name] }
}

package arrow

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/guard"
	"github.com/larder-data/larder/internal/arrowipc"
)

func init() {
	component.RegisterSink("arrow", "Writes a dataset to an Arrow file, a row a sample and a column an item, or to a stream, if its name ends with .arrows; of an input with several outputs (op batch makes parts of one size), each to a file NAME.arrow in a folder. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink says where a table is written.
type Sink struct {
	Path      component.Path   `param:"path,required" doc:"the file to write; of several outputs, the folder"`
	Overwrite output.Overwrite `param:"overwrite" doc:"what to do with a file that is already there: fail (forbid), or put the new one in its place (replace)" default:"forbid" enum:"forbid|replace"`
	Types     columns.Types    `param:"types" doc:"item to type of its column, such as {score: float32, boxes: list<list<float64>>, meta: json}; of others the first samples tell"`
}

// Check refuses types that are not known.
func (s Sink) Check() error { return s.Types.Check() }

// CheckSingle refuses the name of a file that would be taken for another one.
func (s Sink) CheckSingle() error {
	if rows.PackingOf(string(s.Path)) != rows.Plain {
		return fmt.Errorf("%s: an Arrow file is not compressed as a whole, so that values can be read where they lie; give it a name that ends with .arrow, or with .arrows for a stream", s.Path)
	}
	return nil
}

// Outputs says that of a folder only files are written, beside which others may lie.
func (s Sink) Outputs(env *component.Env) []guard.Output {
	return []guard.Output{{Path: env.Path(s.Path), Files: true, Shared: true}}
}

// Listed says that what was written, and was not touched since, may stay.
func (s Sink) Listed() bool { return s.Overwrite == output.Replace }

// Write writes a dataset. What a column cannot hold as it is, is refused.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	if err := s.Check(); err != nil {
		return err
	}
	return rows.WriteFiles(ctx, env, s.Path, s.Overwrite, in, ".arrow", func(to io.Writer, part component.Samples) error {
		w := arrowipc.NewFileWriter(to)
		if strings.HasSuffix(string(s.Path), ".arrows") && in.Names == nil {
			w = arrowipc.NewWriter(to)
		}
		return s.table(ctx, env, w, part)
	})
}

// Bounds of a record batch: what is written together.
const (
	batchBytes = 16 << 20 // about
	batchRows  = 1 << 16  // at most
)

// table writes the rows of a dataset.
func (s Sink) table(ctx context.Context, env *component.Env, w *arrowipc.Writer, ds component.Samples) error {
	table, err := s.Types.TableOf(ctx, env.Node, ds)
	if err != nil {
		return err
	}
	b := newBatch(table)
	if err := w.Begin(b.columns()); err != nil {
		return err
	}
	end := func() error {
		err := w.Write(b.columns(), b.rows, nil)
		b.clear()
		return err
	}
	for row, err := range dataset.Stream(ctx, table, env.Pool) {
		if err != nil {
			return err
		}
		if bytesOf(row) > math.MaxInt32 {
			return component.Unfit(fmt.Errorf("a row takes %d bytes, which is more than a record batch can have", bytesOf(row)))
		}
		if b.rows == batchRows || b.rows > 0 && b.bytes+bytesOf(row) > batchBytes {
			if err := end(); err != nil {
				return err
			}
		}
		b.add(row)
		env.Tally.Done.Add(1)
	}
	if b.rows > 0 {
		if err := end(); err != nil {
			return err
		}
	}
	return w.Close()
}

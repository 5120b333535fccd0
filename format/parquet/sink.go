package parquet

import (
	"context"
	"fmt"
	"io"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/guard"
)

func init() {
	component.RegisterSink("parquet", "Writes a dataset to a Parquet file, a row a sample and a column an item; of an input with several outputs (op batch makes parts of one size), each to a file NAME.parquet in a folder. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink says where and how a table is written.
type Sink struct {
	Path      component.Path   `param:"path,required" doc:"the file to write; of several outputs, the folder"`
	Overwrite output.Overwrite `param:"overwrite" doc:"what to do with a file that is already there: fail (forbid), or put the new one in its place (replace)" default:"forbid" enum:"forbid|replace"`
	Types     columns.Types    `param:"types" doc:"item to type of its column, such as {score: float32, boxes: list<list<float64>>, meta: json}; of others the first samples tell"`
	Compress  string           `param:"compress" doc:"how pages are compressed" default:"zstd" enum:"zstd|snappy|gzip|none"`
}

// codecs are the ways to compress, by their numbers in a file.
var codecs = map[string]int{"": 6, "zstd": 6, "snappy": 1, "gzip": 2, "none": 0}

// Check refuses types that are not known.
func (s Sink) Check() error { return s.Types.Check() }

// CheckSingle refuses the name of a file that would be taken for another one.
func (s Sink) CheckSingle() error {
	if rows.PackingOf(string(s.Path)) != rows.Plain {
		return fmt.Errorf("%s: the pages of a Parquet file are compressed, and not the file; give it a name that ends with .parquet", s.Path)
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
	return rows.WriteFiles(ctx, env, s.Path, s.Overwrite, in, ".parquet", func(to io.Writer, part component.Samples) error {
		return s.table(ctx, env, to, part)
	})
}

// table writes the rows of a dataset.
func (s Sink) table(ctx context.Context, env *component.Env, to io.Writer, ds component.Samples) error {
	table, err := s.Types.TableOf(ctx, env.Node, ds)
	if err != nil {
		return err
	}
	w, err := newWriter(to, codecs[s.Compress], table.Names, table.Kinds)
	if err != nil {
		return err
	}
	for row, err := range dataset.Stream(ctx, table, env.Pool) {
		if err != nil {
			return err
		}
		if err := w.add(row); err != nil {
			return err
		}
		env.Tally.Done.Add(1)
	}
	return w.end()
}

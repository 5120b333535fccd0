package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/guard"
	"github.com/larder-data/larder/internal/called"
)

func init() {
	component.RegisterSink("parquet", "Writes a dataset to a Parquet file, a row a sample and a column an item; of an input with several outputs (op batch makes parts of one size), each to a file NAME.parquet in a folder. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink says where and how a table is written.
type Sink struct {
	Path      component.Path    `param:"path,required" doc:"the file to write; of several outputs, the folder"`
	Overwrite output.Overwrite  `param:"overwrite" doc:"what to do with a file that is already there: fail (forbid), or put the new one in its place (replace)" default:"forbid" enum:"forbid|replace"`
	Types     map[string]string `param:"types" doc:"item to type of its column, such as {score: float32, boxes: list<list<float64>>, meta: json}; of others the first samples tell"`
	Compress  string            `param:"compress" doc:"how pages are compressed" default:"zstd" enum:"zstd|snappy|gzip|none"`
}

// codecs are the ways to compress, by their numbers in a file.
var codecs = map[string]int{"": 6, "zstd": 6, "snappy": 1, "gzip": 2, "none": 0}

// Check refuses types that are not known.
func (s Sink) Check() error {
	for _, item := range slices.Sorted(maps.Keys(s.Types)) {
		if _, err := parseKind(s.Types[item]); err != nil {
			return fmt.Errorf("types: %s: %w", item, err)
		}
	}
	return nil
}

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
	names, kinds, err := s.infer(ctx, ds)
	if err != nil {
		return err
	}
	w, err := newWriter(to, codecs[s.Compress], names, kinds)
	if err != nil {
		return err
	}
	for row, err := range dataset.Stream(ctx, encoded{ds, dataset.RangesOf(ds), env.Node, names, kinds}, env.Pool) {
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

// mostLooked bounds how many samples are looked at to find out what columns hold.
const mostLooked = 100

// infer finds out the columns: the items of the first sample, in their order, and others that
// Types names. What an item that is nil may be is told by the samples after it.
func (s Sink) infer(ctx context.Context, ds component.Samples) (names []string, kinds []kind, err error) {
	known := map[string]kind{}
	for item, text := range s.Types {
		known[item], _ = parseKind(text) // it was checked
	}
	for i := 0; i < min(ds.Len(), mostLooked) && (i == 0 || len(known) < len(names)); i++ {
		sample, err := ds.At(ctx, i)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			names = sample.Keys()
		}
		if err := look(ctx, sample, names, known); err != nil {
			return nil, nil, fmt.Errorf("sample %d: %w", i, err)
		}
	}
	for _, item := range slices.Sorted(maps.Keys(known)) {
		if !slices.Contains(names, item) {
			names = append(names, item)
		}
	}
	for _, name := range names {
		if !utf8.ValidString(name) {
			return nil, nil, component.Unfit(fmt.Errorf("item %s: its name is not UTF-8; rename it", called.Name(name)))
		}
		k, ok := known[name]
		if !ok {
			return nil, nil, component.Unfit(fmt.Errorf("item %s is null in the first %d samples; say what it is, as in types: {%s: int64}", called.Name(name), min(ds.Len(), mostLooked), name))
		}
		kinds = append(kinds, k)
	}
	if len(names) == 0 {
		return nil, nil, component.Unfit(errors.New("there is no item, so the table would have no column; name some by types"))
	}
	return names, kinds, nil
}

// look finds out what a sample tells of the columns.
func look(ctx context.Context, sample dataset.Sample, names []string, known map[string]kind) error {
	for _, name := range names {
		f, there := sample.Field(name)
		if _, ok := known[name]; ok || !there {
			continue
		}
		v, err := valueOf(ctx, f.Item)
		if err != nil {
			return fmt.Errorf("item %s: %w", called.Name(name), err)
		}
		if k, ok := kindOf(v); ok {
			known[name] = k
		}
	}
	return nil
}

// encoded is the dataset of rows.
type encoded struct {
	component.Samples
	ranges *dataset.Ranges
	node   string
	names  []string
	kinds  []kind
}

func (e encoded) Batch() int { return dataset.BatchOf(e.Samples) }

func (e encoded) At(ctx context.Context, i int) ([]piece, error) {
	s, err := e.Samples.At(ctx, i)
	if err != nil {
		return nil, err
	}
	return e.row(ctx, i, s)
}

// Range makes what samples are made of together.
func (e encoded) Range(ctx context.Context, from, to int) (all [][]piece, err error) {
	samples, err := e.ranges.Range(ctx, from, to)
	for i, s := range samples {
		row, rerr := e.row(ctx, from+i, s)
		if rerr != nil {
			return all, rerr
		}
		all = append(all, row)
	}
	return all, err
}

func (e encoded) row(ctx context.Context, i int, s dataset.Sample) ([]piece, error) {
	row, found := make([]piece, len(e.names)), 0
	for k, name := range e.names {
		var it *dataset.Item // nil where the sample does not have it
		if f, ok := s.Field(name); ok {
			it = f.Item
			found++
		}
		if err := e.kinds[k].append(ctx, &row[k], it); err != nil {
			return nil, &dataset.SampleError{Node: e.node, Index: i, Err: fmt.Errorf("item %s: %w", called.Name(name), err)}
		}
	}
	if found < s.Len() {
		for _, key := range s.Keys() {
			if !slices.Contains(e.names, key) {
				return nil, &dataset.SampleError{Node: e.node, Index: i, Err: component.Unfit(fmt.Errorf("item %s is not in the first sample, so there is no column for it; name it by types, or drop it before", called.Name(key)))}
			}
		}
	}
	return row, nil
}

package rows

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/compression"
)

// A Sink writes files of rows.
type Sink struct {
	Target
	Compress Packing           // "": by the name of the file
	Files    map[string]string // the fields that name the file of an item, by item
	// Begin returns the header for a dataset in the file at path, and a function that
	// encodes rows. Both end with the end of a line.
	Begin func(ctx context.Context, path string, ds component.Samples) (head []byte, row RowFunc, err error)
}

// Check also refuses fields that cannot name files.
func (s Sink) Check() error { return cmp.Or(CheckFiles(s.Path, s.Files), s.Target.Check()) }

// CheckSingle refuses a file name whose extension contradicts the compression.
func (s Sink) CheckSingle() error {
	if s.Shards.On() {
		return s.Target.CheckSingle()
	}
	return cmp.Or(output.CheckFile(s.Path), s.Compress.Check(string(s.Path)))
}

// Pieces reports that a row depends only on its sample, if it names no file. Rows of a
// compressed file cannot be copied.
func (s Sink) Pieces(context.Context, component.Samples) (on []string, ok bool, err error) {
	return nil, len(s.Files) == 0 && !s.Shards.On() && !s.Compress.Packs(string(s.Path)), nil
}

// A RowFunc appends the row of a sample.
type RowFunc func(ctx context.Context, to []byte, s dataset.Sample) ([]byte, error)

// Write writes a dataset to the file Path, or several datasets to files with their names
// in the directory Path. A file appears complete or not at all; an existing file with
// the same content is not changed.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	if s.Shards.On() {
		return s.shards(ctx, env, in)
	}
	files, names, release, err := filesFor(ctx, env, s.Path, in.Names, s.Ending+s.Compress.Ext())
	if err != nil {
		return err
	}
	defer release()
	for i, part := range in.Parts {
		if err := s.file(ctx, env, files, names[i], part); err != nil {
			return err
		}
	}
	return settle(ctx, files, names)
}

// file writes one dataset to one of several files.
func (s Sink) file(ctx context.Context, env *component.Env, files output.Files, name string, ds component.Samples) error {
	env.Stats.Total.Add(int64(ds.Len()))
	p := env.Pieces
	if p == nil {
		p = &component.OutputChunks{Chunks: []dataset.Chunk{{Samples: ds.Len()}}}
	}
	path := files.Path(name)
	how, err := s.Compress.For(path)
	if err != nil {
		return err
	}
	n, err := files.Write(ctx, name, s.Overwrite, func(to io.Writer) error {
		w, done, err := compression.Writer(how, to)
		if err != nil {
			return err
		}
		head, row, err := s.Begin(ctx, path, ds)
		if err != nil {
			return err
		}
		if _, err := w.Write(head); err != nil {
			return err
		}
		p.After.Head = int64(len(head))
		if err := writePieces(ctx, env, w, path, newEncoded(ds, env.Node, row), p); err != nil {
			return err
		}
		return done()
	})
	if err != nil {
		return err
	}
	env.Stats.BytesWritten.Add(n)
	made := int64(ds.Len())
	for _, c := range p.Copied {
		made -= int64(c.Samples)
	}
	if n == 0 {
		made = 0
	}
	env.Stats.Computed.Add(made)
	env.Stats.FromStore.Add(int64(ds.Len()) - made)
	return nil
}

// encoded is the dataset of the rows of samples.
type encoded struct {
	component.Samples
	ranges *dataset.Ranges
	node   string
	row    RowFunc
	of     func(i int) int // maps to sample positions; nil means the same
}

func newEncoded(ds component.Samples, node string, row RowFunc) encoded {
	return encoded{Samples: ds, ranges: dataset.RangesOf(ds), node: node, row: row}
}

// only returns the dataset of n of the rows; the i-th is of(i).
func (e encoded) only(n int, of func(i int) int) encoded {
	some := dataset.Func(n, func(ctx context.Context, i int) (dataset.Sample, error) { return e.Samples.At(ctx, of(i)) })
	rows := newEncoded(dataset.WithMinBatch(some, e.Batch()), e.node, e.row)
	rows.of = of
	return rows
}

func (e encoded) At(ctx context.Context, i int) ([]byte, error) {
	s, err := e.Samples.At(ctx, i)
	if err != nil {
		return nil, err
	}
	return e.append(ctx, nil, s, i)
}

func (e encoded) Batch() int { return dataset.BatchOf(e.Samples) }

func (e encoded) append(ctx context.Context, to []byte, s dataset.Sample, i int) ([]byte, error) {
	text, err := e.row(ctx, to, s)
	if err != nil {
		if e.of != nil {
			i = e.of(i)
		}
		return nil, &dataset.SampleError{Node: e.node, Index: i, Err: err}
	}
	return text, nil
}

// Range computes samples together, and encodes their rows.
func (e encoded) Range(ctx context.Context, from, to int) ([][]byte, error) {
	samples, err := e.ranges.Range(ctx, from, to)
	var all []byte
	ends := make([]int, 0, len(samples))
	for i, s := range samples {
		text, rerr := e.append(ctx, all, s, from+i)
		if rerr != nil {
			err = rerr
			break
		}
		if all = text; i == 0 {
			all = slices.Grow(all, len(samples)*(len(text)+len(text)/8)) // most rows have similar lengths
		}
		ends = append(ends, len(all))
	}
	texts, start := make([][]byte, len(ends)), 0
	for i, end := range ends {
		texts[i], start = all[start:end:end], end
	}
	return texts, err
}

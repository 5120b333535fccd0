// Package ipc reads Arrow IPC files, which begin with ARROW1, and streams. Each row is a
// sample, and each column an item.
//
// The positions of the messages in a file are cached (package indexed). A file lists
// them at its end; a stream is scanned once, message by message. A value is then read in
// place: from uncompressed buffers only that value, in pieces of the file that are held
// for adjacent values. Files are not mapped into memory, as truncating a mapped file
// would end the process.
//
// The content of a file is not trusted: each position and length is checked against the
// actual data.
package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// Options configures how files are read.
type Options struct {
	Incomplete bool // read truncated files, as far as they go
	// Item converts a value of a column to an item.
	Item func(f *Field, v any) (*dataset.Item, error)
	// About, if not nil, is what Item depends on in addition to the program. It allows
	// identifying values in files at URLs without reading them.
	About any
	Held  *indexed.Held // recently read parts of the files
}

// A File is a file with the positions of its messages. It may be used by many
// goroutines.
type File struct {
	*indexed.File
	Options
	Fields []*Field

	index   index
	batches []int // messages with rows
	ends    []int // rows up to the end of each
	parsed  []dataset.Once[*batch]
	dicts   []dataset.Once[*batch] // of all messages; only those of dictionaries are used
}

// Open scans a file, or finds its index in the cache l, which may be nil.
func Open(ctx context.Context, path string, l *larder.Larder, o Options) (*File, error) {
	in, err := indexed.Open(ctx, path, l, indexed.Scan{
		Name: "index of an Arrow file, by its end", About: []any{o.Incomplete},
		Func: func(ctx context.Context, path string, from io.ReaderAt, size int64) ([]byte, error) {
			return scan(ctx, path, from, size, o.Incomplete)
		},
		Check: func(retained []byte) error {
			_, _, err := parted(retained)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	in.Held = o.Held
	x, schema, err := parted(in.Index)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	f := &File{File: in, Options: o, index: x}
	if err := f.schema(schema); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	rows := int64(0)
	for i := range f.index.len() {
		if e := f.index.entry(i); e.kind == rowsMessage {
			rows += e.number
			f.batches, f.ends = append(f.batches, i), append(f.ends, int(rows))
		}
		if rows > maxRows || int64(int(rows)) != rows {
			return nil, fmt.Errorf("%s: too many rows", in.Path)
		}
	}
	f.parsed = make([]dataset.Once[*batch], len(f.batches))
	f.dicts = make([]dataset.Once[*batch], f.index.len())
	return f, nil
}

// schema reads the columns from metadata.
func (f *File) schema(meta []byte) (err error) {
	t := rootOf(slices.Clone(meta))
	if *t.fail != nil {
		return *t.fail
	}
	slot := 2 // of a message
	if f.index.entry(0).number == 1 {
		slot = 1 // of the footer of a file
	}
	header, ok := t.table(slot)
	if !ok {
		return errDamaged
	}
	if f.Fields, err = fieldsOf(header); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, c := range f.Fields {
		if names[c.Name] {
			return fmt.Errorf("two columns are named %s; rename one", display.Name(c.Name))
		}
		names[c.Name] = true
	}
	return nil
}

// message reads the metadata of a message.
func (f *File) message(ctx context.Context, i int) (table, error) {
	e := f.index.entry(i)
	b := make([]byte, e.meta)
	if err := f.Read(ctx, b, e.at); err != nil {
		return table{}, err
	}
	t := rootOf(b)
	return t, *t.fail
}

// Len returns the number of rows.
func (f *File) Len() int {
	if len(f.ends) == 0 {
		return 0
	}
	return f.ends[len(f.ends)-1]
}

// Sample returns the sample of a row, without reading it.
func (f *File) Sample(_ context.Context, i int) (dataset.Sample, error) {
	k, _ := slices.BinarySearch(f.ends, i+1)
	row := i
	if k > 0 {
		row -= f.ends[k-1]
	}
	fields := make([]dataset.Field, 0, len(f.Fields))
	for c, column := range f.Fields {
		name := fmt.Sprintf("column %s of row %d in %s", display.Name(column.Name), i, display.Name(f.Path))
		fields = append(fields, dataset.Field{Key: column.Name, Item: dataset.DeferredBy(name, func() (key.Ref, bool, error) {
			if f.About == nil {
				return key.Ref{}, false, nil
			}
			return f.RefMade("value in an Arrow file", column.Name, i, f.About)
		}, func(ctx context.Context) (*dataset.Item, error) {
			it, err := f.item(ctx, k, c, row)
			if err != nil && !errors.Is(err, dataset.ErrChanged) && ctx.Err() == nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return it, err
		})})
	}
	return dataset.NewSample(fields...), nil
}

// item reads a value.
func (f *File) item(ctx context.Context, k, column, row int) (*dataset.Item, error) {
	b, err := f.parsed[k].Get(ctx, func(ctx context.Context) (*batch, error) { return f.batch(ctx, f.batches[k], f.Fields) })
	if err != nil {
		return nil, err
	}
	v, err := (&reader{b, maxElements}).value(ctx, b.columns[column], int64(row))
	if err != nil {
		return nil, err
	}
	return f.Item(f.Fields[column], v)
}

// PlainItem returns the default conversion of values to items.
func PlainItem(formats columns.Formats) func(f *Field, v any) (*dataset.Item, error) {
	return func(f *Field, v any) (*dataset.Item, error) {
		return formats.Item(f.Name, v, f.Kind == "arrow.json")
	}
}

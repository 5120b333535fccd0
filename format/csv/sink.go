package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/csvtext"
	"github.com/larder-data/larder/internal/text/display"
)

func init() {
	component.RegisterSink("csv", "Writes a dataset to a table of comma-separated values, a row for each sample. An input with several outputs is written to files NAME.csv in a directory. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the table to write.
type Sink struct {
	Path         component.Path    `param:"path,required" doc:"the file to write, or for several outputs the directory; also a URL: s3://"`
	Overwrite    output.Overwrite  `param:"overwrite,how" doc:"what to do with an existing file: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
	Compress     rows.Packing      `param:"compress" doc:"none, gzip, zstd or xz; default: by the extension .gz, .zst or .xz, and none for several outputs" enum:"none|gzip|zstd|xz"`
	Columns      []string          `param:"columns" doc:"the items to write, in this order; a missing item becomes an empty field. Default: the items of the first sample, which all samples must have"`
	Header       bool              `param:"header" doc:"begin with a row of column names" default:"true"`
	Delimiter    string            `param:"delimiter" doc:"separator of fields: one character, or tab" default:"','"`
	Files        map[string]string `param:"files" doc:"item to column: write the path of the item's file, relative to the table, instead of its value"`
	ShardBytes   component.Size    `param:"shard-bytes" doc:"maximum size of a file, such as 256MiB: the path is then a directory of files, in which 000000.csv has as many samples as fit, followed by 000001.csv and so on. For files compressed as a whole, bytes are counted before compression"`
	ShardSamples int               `param:"shard-samples" doc:"maximum number of samples in a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
}

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.files() }

func (s Sink) files() rows.Sink {
	return rows.Sink{
		Target:   rows.Target{Path: s.Path, Overwrite: s.Overwrite, Ending: ".csv", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples}},
		Compress: s.Compress, Files: s.Files, Begin: s.begin,
	}
}

// Check refuses invalid parameters.
func (s Sink) Check() error {
	if slices.Contains(s.Columns, "") {
		return fmt.Errorf("columns: %q has an empty name; give it a name", s.Columns)
	}
	_, err := comma(s.Delimiter)
	return cmp.Or(err, s.files().Check())
}

// Pieces also reports that a row depends on the columns.
func (s Sink) Pieces(ctx context.Context, in component.Samples) (on []string, ok bool, err error) {
	_, ok, _ = s.files().Pieces(ctx, in)
	on, err = s.keys(ctx, in)
	return on, ok, err
}

// Write writes a dataset. Items must be strings, numbers, booleans or null, which is an
// empty field.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	if err := s.Check(); err != nil {
		return err
	}
	return s.files().Write(ctx, env, in)
}

// Fits returns an error if a row cannot hold a sample.
func (s Sink) Fits(ctx context.Context, env *component.Env, sample dataset.Sample, cheap func(f dataset.Field) bool) error {
	path := env.Path(s.Path)
	if _, _, err := s.begin(ctx, path, dataset.List(sample)); err != nil {
		return err
	}
	for f := range sample.Fields() {
		var err error
		switch {
		case s.Columns != nil && !slices.Contains(s.Columns, f.Key):
		case s.Files[f.Key] != "":
			_, err = rows.Name(path, f.Item)
		case cheap(f):
			_, err = text(ctx, f.Item)
		}
		if err != nil {
			return fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
	}
	return nil
}

// begin determines the columns and encodes the header.
func (s Sink) begin(ctx context.Context, path string, ds component.Samples) ([]byte, rows.RowFunc, error) {
	keys, err := s.keys(ctx, ds)
	if err != nil {
		return nil, nil, err
	}
	if len(keys) > maxColumns {
		return nil, nil, component.Unfit(fmt.Errorf("a sample has %d items, but a table has at most %d columns; drop some", len(keys), maxColumns))
	}
	names := slices.Clone(keys)
	for i, k := range keys {
		if column, ok := s.Files[k]; ok {
			names[i] = column
		}
		if s.Header && (names[i] == "" || !isText(names[i])) {
			return nil, nil, component.Unfit(fmt.Errorf("item %q cannot be the name of a column; rename the item", names[i]))
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, nil, component.Unfit(fmt.Errorf("two items map to column %q; drop or rename item %s first", names[i], names[i]))
		}
	}
	row := func(ctx context.Context, to []byte, sample dataset.Sample) ([]byte, error) {
		return s.row(ctx, to, path, keys, sample)
	}
	if !s.Header || len(names) == 0 {
		return nil, row, nil
	}
	return s.encode(nil, names), row, nil
}

// keys returns the items that are columns.
func (s Sink) keys(ctx context.Context, ds component.Samples) ([]string, error) {
	if s.Columns != nil || ds.Len() == 0 {
		return s.Columns, nil
	}
	first, err := ds.At(ctx, 0)
	return first.Keys(), err
}

// row appends the row of a sample.
func (s Sink) row(ctx context.Context, to []byte, path string, keys []string, sample dataset.Sample) ([]byte, error) {
	if s.Columns == nil {
		if err := sameKeys(keys, sample); err != nil {
			return nil, err
		}
	}
	if len(keys) == 0 {
		return nil, component.Unfit(errors.New("a sample has no items for a row; drop the sample, or give columns"))
	}
	record := make([]string, len(keys))
	for i, k := range keys {
		f, ok := sample.Field(k)
		if !ok {
			continue
		}
		var err error
		if s.Files[k] != "" {
			record[i], err = rows.Name(path, f.Item)
		} else {
			record[i], err = text(ctx, f.Item)
		}
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(k), err)
		}
	}
	return s.encode(to, record), nil
}

// sameKeys returns an error if a sample has other columns than the first one.
func sameKeys(keys []string, sample dataset.Sample) error {
	for _, k := range sample.Keys() {
		if !slices.Contains(keys, k) {
			return fmt.Errorf("item %s has no column; the first sample has %q; set columns", display.Name(k), keys)
		}
	}
	if sample.Len() < len(keys) {
		return fmt.Errorf("the first sample has the items %q, but this one %q; set columns to write empty fields", keys, sample.Keys())
	}
	return nil
}

// text returns the field of an item.
func text(ctx context.Context, it *dataset.Item) (string, error) {
	v, err := it.Value(ctx)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case *big.Int:
		return v.String(), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", component.Unfit(fmt.Errorf("%s cannot be written to a field; drop the item, or list it in files", display.Value(v)))
}

// encode appends one row.
func (s Sink) encode(to []byte, record []string) []byte {
	delimiter, _ := comma(s.Delimiter) // already checked
	return csvtext.Append(to, record, delimiter)
}

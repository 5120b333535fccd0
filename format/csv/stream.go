package csv

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/stream/content"
)

func (s Source) isStream() bool { return s.path().IsStream() }

// OpenStream returns a stream of the rows of a table.
func (s Source) OpenStream(ctx context.Context, env *component.Env) (component.Stream, error) {
	files, err := streamed.Files(ctx, env, s.Path)
	t := &table{Source: s}
	t.comma, _ = comma(s.Delimiter) // already checked
	table := content.CSV(content.Unpack(files), content.Rows{Comma: t.comma, Header: s.Columns == nil, Longest: int(codec.ItemLimit())})
	var checked []string // the columns already checked
	return streamed.Samples(table, "csv", func(r content.Row) string { return r.Name }, func(r content.Row) (dataset.Sample, error) {
		columns := s.Columns
		if columns == nil {
			columns = r.Columns
		}
		if !slices.Equal(columns, checked) {
			if err := s.checkColumns(columns); err != nil {
				return dataset.Sample{}, err
			}
			checked = columns
		}
		return t.fields(columns, r.Fields)
	}), err
}

// fields returns the sample of the fields of a row.
func (t *table) fields(columns, record []string) (dataset.Sample, error) {
	if len(record) != len(columns) {
		return dataset.Sample{}, fmt.Errorf("a row has %d fields, but there are %d columns", len(record), len(columns))
	}
	fields := make([]dataset.Field, len(record))
	for i, text := range record {
		v, err := t.value(columns[i], text)
		if err != nil {
			return dataset.Sample{}, fmt.Errorf("column %s: %w", columns[i], err)
		}
		fields[i] = dataset.Field{Key: columns[i], Item: dataset.NewItem("json", v)}
	}
	return dataset.NewSample(fields...), nil
}

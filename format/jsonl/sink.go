package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/rows"
	"github.com/larder-data/larder/guard"
)

func init() {
	component.RegisterSink("jsonl", "Writes a dataset to a file, a JSON value a line; of an input with several outputs, each to a file NAME.jsonl in a folder. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink says where and how lines are written.
type Sink struct {
	Path      component.Path    `param:"path,required" doc:"the file to write; of several outputs, the folder"`
	Overwrite output.Overwrite  `param:"overwrite" doc:"what to do with a file that is already there: fail (forbid), or put the new one in its place (replace)" default:"forbid" enum:"forbid|replace"`
	Items     Items             `param:"items" doc:"what a line holds: an object with a field for each item (fields), or the one item record (record)" default:"fields" enum:"fields|record"`
	Files     map[string]string `param:"files" doc:"item to field: the field gets the path of the file that the item lies in, from the folder of the lines, and nothing is copied"`
}

// Outputs says that of a folder only files are written.
func (s Sink) Outputs(env *component.Env) []guard.Output {
	return []guard.Output{{Path: env.Path(s.Path), Files: true}}
}

// Listed says that what was written, and was not touched since, may stay.
func (s Sink) Listed() bool { return s.Overwrite == output.Replace }

// Write writes a dataset. Items must be documents or text; what else there is
// must be dropped before, or named with Files.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	return rows.Sink{
		Path: s.Path, Overwrite: s.Overwrite, Ext: "jsonl",
		Begin: func(_ context.Context, path string, _ component.Samples) ([]byte, rows.RowFunc, error) {
			return nil, func(ctx context.Context, sample dataset.Sample) ([]byte, error) { return s.line(ctx, path, sample) }, nil
		},
	}.Write(ctx, env, in)
}

// line makes the line of a sample, its fields in the order of its items.
func (s Sink) line(ctx context.Context, path string, sample dataset.Sample) ([]byte, error) {
	if s.Items == Record {
		it, err := sample.Item(recordKey)
		if err != nil {
			return nil, err
		}
		if sample.Len() > 1 {
			return nil, fmt.Errorf("a line would hold item %s alone, and the sample has %q; keep only that one", recordKey, sample.Keys())
		}
		b, err := value(ctx, it)
		return append(b, '\n'), err
	}
	line := []byte{'{'}
	var names []string
	for f := range sample.Fields() {
		name, b, err := s.field(ctx, path, f)
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", f.Key, err)
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("item %s: there would be two fields %q", f.Key, name)
		}
		if names != nil {
			line = append(line, ',')
		}
		names = append(names, name)
		quoted, err := dataset.NewItem("json", name).Bytes(ctx)
		if err != nil {
			return nil, err
		}
		line = append(append(append(line, quoted...), ':'), b...)
	}
	return append(line, '}', '\n'), nil
}

// field returns the name and the value of the field that an item makes.
func (s Sink) field(ctx context.Context, path string, f dataset.Field) (name string, b []byte, err error) {
	field, ok := s.Files[f.Key]
	if !ok {
		b, err := value(ctx, f.Item)
		return f.Key, b, err
	}
	to, err := rows.Name(path, f.Item)
	if err != nil {
		return "", nil, err
	}
	b, err = dataset.NewItem("json", to).Bytes(ctx)
	return field, b, err
}

// value returns an item as JSON without line breaks: the very text, if it is
// JSON already.
func value(ctx context.Context, it *dataset.Item) ([]byte, error) {
	v, err := it.Value(ctx)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case nil, bool, int64, *big.Int, float64, string, []any, map[string]any:
	default:
		return nil, fmt.Errorf("it is a %T, which a line of JSON does not hold; drop it, or say files: to name its file", v)
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	if ext != "json" {
		it = dataset.NewItem("json", v)
	}
	b, err := it.Bytes(ctx)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	err = json.Compact(&line, b)
	return line.Bytes(), err
}

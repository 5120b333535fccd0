package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"sync"

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

// Pieces says that a line depends on its sample alone, where it names no file.
func (s Sink) Pieces(context.Context, component.Samples) (on []string, ok bool, err error) {
	return nil, len(s.Files) == 0, nil
}

// Write writes a dataset. Items must be documents or text; what else there is
// must be dropped before, or named with Files.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	return rows.Sink{
		Path: s.Path, Overwrite: s.Overwrite, Ext: "jsonl",
		Begin: func(_ context.Context, path string, _ component.Samples) ([]byte, rows.RowFunc, error) {
			l := &liner{Sink: s, path: path}
			return nil, l.line, nil
		},
	}.Write(ctx, env, in)
}

// Fits says whether a line can hold a sample.
func (s Sink) Fits(ctx context.Context, env *component.Env, sample dataset.Sample, cheap func(f dataset.Field) bool) error {
	l := &liner{Sink: s, path: env.Path(s.Path)}
	if s.Items == Record {
		if it, err := sample.Item(recordKey); err != nil || !cheap(dataset.Field{Key: recordKey, Item: it}) {
			return nil //nolint:nilerr // the run tells
		}
		_, err := l.line(ctx, sample)
		return err
	}
	names := map[string]bool{}
	for f := range sample.Fields() {
		name := cmp.Or(s.Files[f.Key], f.Key)
		if names[name] {
			return twoFields(f.Key, name)
		}
		names[name] = true
	}
	for f := range sample.Fields() {
		if _, file := s.Files[f.Key]; file || cheap(f) {
			if _, err := l.field(ctx, nil, f); err != nil {
				return fmt.Errorf("item %s: %w", f.Key, err)
			}
		}
	}
	return nil
}

func twoFields(item, name string) error {
	return component.Unfit(fmt.Errorf("item %s: there would be two fields %q; drop or rename the item %s before", item, name, name))
}

// liner makes lines for the file at path.
type liner struct {
	Sink
	path   string
	quoted sync.Map // names of fields, in quotes
}

// line makes the line of a sample, its fields in the order of its items.
func (l *liner) line(ctx context.Context, sample dataset.Sample) ([]byte, error) {
	if l.Items == Record {
		it, err := sample.Item(recordKey)
		if err != nil {
			return nil, err
		}
		if sample.Len() > 1 {
			return nil, component.Unfit(fmt.Errorf("a line would hold item %s alone, and the sample has %q; keep only that one", recordKey, sample.Keys()))
		}
		b, err := appendValue(ctx, nil, it)
		return append(b, '\n'), err
	}
	line := make([]byte, 1, 256)
	line[0] = '{'
	names := make([]string, 0, 16)
	for f := range sample.Fields() {
		name := f.Key
		if field, ok := l.Files[f.Key]; ok {
			name = field
		}
		if slices.Contains(names, name) {
			return nil, twoFields(f.Key, name)
		}
		if len(names) > 0 {
			line = append(line, ',')
		}
		names = append(names, name)
		quoted, err := l.quote(ctx, name)
		if err == nil {
			line = append(append(line, quoted...), ':')
			line, err = l.field(ctx, line, f)
		}
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", f.Key, err)
		}
	}
	return append(line, '}', '\n'), nil
}

// quote returns the name of a field in quotes.
func (l *liner) quote(ctx context.Context, name string) ([]byte, error) {
	if q, ok := l.quoted.Load(name); ok {
		return q.([]byte), nil
	}
	q, err := dataset.NewItem("json", name).Bytes(ctx)
	if err == nil {
		l.quoted.Store(name, q)
	}
	return q, err
}

// field appends the value of the field that an item makes.
func (l *liner) field(ctx context.Context, line []byte, f dataset.Field) ([]byte, error) {
	if _, ok := l.Files[f.Key]; !ok {
		return appendValue(ctx, line, f.Item)
	}
	to, err := rows.Name(l.path, f.Item)
	if err != nil {
		return nil, err
	}
	b, err := dataset.NewItem("json", to).Bytes(ctx)
	return append(line, b...), err
}

// appendValue appends an item as JSON without line breaks: the very text, which is
// not decoded, if it is JSON already.
func appendValue(ctx context.Context, line []byte, it *dataset.Item) ([]byte, error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	if ext == "json" {
		b, err := it.Bytes(ctx)
		if err != nil {
			return nil, err
		}
		out := bytes.NewBuffer(line)
		if json.Compact(out, b) == nil {
			return out.Bytes(), nil
		}
	}
	v, err := it.Value(ctx)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case nil, bool, int64, *big.Int, float64, string, []any, map[string]any:
	default:
		return nil, component.Unfit(fmt.Errorf("it is a %T, which a line of JSON does not hold; drop it, or say files: to name its file", v))
	}
	if ext != "json" {
		it = dataset.NewItem("json", v)
	}
	b, err := it.Bytes(ctx)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(line)
	err = json.Compact(out, b)
	return out.Bytes(), err
}

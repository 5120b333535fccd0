package jsonl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/jsontext"
)

func init() {
	component.RegisterSink("jsonl", "Writes a dataset to a file of JSON lines, a line for each sample. An input with several outputs is written to files NAME.jsonl in a directory. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the lines to write.
type Sink struct {
	Path         component.Path    `param:"path,required" doc:"the file to write, or for several outputs the directory; also a URL: s3://"`
	Overwrite    output.Overwrite  `param:"overwrite,how" doc:"what to do with an existing file: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
	Compress     rows.Packing      `param:"compress" doc:"none, gzip, zstd or xz; default: by the extension .gz, .zst or .xz, and none for several outputs" enum:"none|gzip|zstd|xz"`
	Items        Items             `param:"items" doc:"content of a line: an object with a field for each item (fields), or the item record (record)" default:"fields" enum:"fields|record"`
	Files        map[string]string `param:"files" doc:"item to field: write the path of the item's file, relative to the JSON file, instead of its value"`
	ShardBytes   component.Size    `param:"shard-bytes" doc:"maximum size of a file, such as 256MiB: the path is then a directory of files, in which 000000.jsonl has as many samples as fit, followed by 000001.jsonl and so on. For files compressed as a whole, bytes are counted before compression"`
	ShardSamples int               `param:"shard-samples" doc:"maximum number of samples in a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
}

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.files() }

func (s Sink) files() rows.Sink {
	return rows.Sink{
		Target:   rows.Target{Path: s.Path, Overwrite: s.Overwrite, Ending: ".jsonl", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples}},
		Compress: s.Compress, Files: s.Files,
		Begin: func(_ context.Context, path string, _ component.Samples) ([]byte, rows.RowFunc, error) {
			l := &liner{Sink: s, path: path}
			return nil, l.line, nil
		},
	}
}

// Write writes a dataset. Items must be documents or strings; other items must be
// dropped before, or named with Files.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	return s.files().Write(ctx, env, in)
}

// Fits returns an error if a line cannot hold a sample.
func (s Sink) Fits(ctx context.Context, env *component.Env, sample dataset.Sample, cheap func(f dataset.Field) bool) error {
	l := &liner{Sink: s, path: env.Path(s.Path)}
	if s.Items == Record {
		if it, err := sample.Item(recordKey); err != nil || !cheap(dataset.Field{Key: recordKey, Item: it}) {
			return nil //nolint:nilerr // the run tells
		}
		_, err := l.line(ctx, nil, sample)
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
				return fmt.Errorf("item %s: %w", display.Name(f.Key), err)
			}
		}
	}
	return nil
}

func twoFields(item, name string) error {
	return component.Unfit(fmt.Errorf("item %s: two items map to field %q; drop or rename item %s first", item, name, name))
}

// liner encodes lines for the file at path.
type liner struct {
	Sink
	path string
	last atomic.Pointer[heading] // of the previous line; most lines have the same
}

// heading is the names of the fields of a line.
type heading struct {
	keys  []string // of the items
	names [][]byte // of the fields, encoded
}

// line appends the line of a sample, with the fields in the order of its items.
func (l *liner) line(ctx context.Context, to []byte, sample dataset.Sample) ([]byte, error) {
	if l.Items == Record {
		return l.record(ctx, to, sample)
	}
	h, err := l.heading(ctx, sample)
	if err != nil {
		return nil, err
	}
	to = append(to, '{')
	i := 0
	for f := range sample.Fields() {
		if to, err = l.field(ctx, append(to, h.names[i]...), f); err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
		i++
	}
	return append(to, '}', '\n'), nil
}

// record appends the line that is one item.
func (l *liner) record(ctx context.Context, to []byte, sample dataset.Sample) ([]byte, error) {
	it, err := sample.Item(recordKey)
	if err != nil {
		return nil, err
	}
	if sample.Len() > 1 {
		return nil, component.Unfit(fmt.Errorf("a line stores item %s only, but the sample has %q; keep only that item", recordKey, sample.Keys()))
	}
	to, err = appendValue(ctx, to, it)
	return append(to, '\n'), err
}

// heading returns the heading of the line of a sample.
func (l *liner) heading(ctx context.Context, sample dataset.Sample) (*heading, error) {
	if last := l.last.Load(); last != nil && last.fits(sample) {
		return last, nil
	}
	h := &heading{keys: sample.Keys()}
	names := make([]string, 0, len(h.keys))
	for _, k := range h.keys {
		name := k
		if field, ok := l.Files[k]; ok {
			name = field
		}
		if slices.Contains(names, name) {
			return nil, twoFields(k, name)
		}
		quoted, err := dataset.NewItem("json", name).Bytes(ctx)
		if err != nil {
			return nil, fmt.Errorf("item %s: %w", display.Name(k), err)
		}
		if len(names) > 0 {
			quoted = append([]byte{','}, quoted...)
		}
		names, h.names = append(names, name), append(h.names, append(slices.Clip(quoted), ':'))
	}
	l.last.Store(h)
	return h, nil
}

// fits reports whether h is the heading of a sample.
func (h *heading) fits(sample dataset.Sample) bool {
	if sample.Len() != len(h.keys) {
		return false
	}
	i := 0
	for f := range sample.Fields() {
		if f.Key != h.keys[i] {
			return false
		}
		i++
	}
	return true
}

// field appends the value of an item's field.
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

// appendValue appends an item as JSON without line breaks. JSON is copied without
// decoding.
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
		if line, ok := jsontext.AppendCompact(line, b); ok {
			return line, nil
		}
	}
	v, err := it.Value(ctx)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case nil, bool, int64, *big.Int, float64, string, []any, map[string]any:
	case *array.Array:
		return nil, component.Unfit(errors.New("arrays cannot be written to JSON; write parquet, arrow or underfolder, convert to a list, or list the item in files"))
	default:
		return nil, component.Unfit(fmt.Errorf("%s cannot be written to JSON; drop the item, or list it in files", display.Value(v)))
	}
	if ext != "json" {
		it = dataset.NewItem("json", v)
	}
	if s, ok := v.(string); ok { // before it is written twice
		if err := codec.CheckItem(int64(len(line) + len(s))); err != nil {
			return nil, fmt.Errorf("the line: %w", err)
		}
	}
	b, err := it.Bytes(ctx)
	if err == nil {
		err = codec.CheckItem(int64(len(line) + len(b)))
	}
	if err != nil {
		return nil, err
	}
	line, ok := jsontext.AppendCompact(line, b)
	if !ok {
		return nil, fmt.Errorf("encoded as %.100q, which is not JSON", b)
	}
	return line, nil
}

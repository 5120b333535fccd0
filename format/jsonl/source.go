// Package jsonl reads and writes JSON lines: UTF-8 files in which each line is a JSON
// value, and a sample. Blank lines are ignored.
package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/jsontext"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

func init() {
	lines := component.RegisterSource("jsonl", "Reads JSON lines, each a sample, from a file or from the files *.jsonl and *.ndjson of a directory. Names that also end with .gz, .zst, .xz or .bz2 are decompressed.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.open(ctx, env.Path(p.Path), env.Files, env.Larder)
		})
	component.Streams(lines, Source.isStream, Source.OpenStream)
}

// Source configures the lines to read.
type Source struct {
	Path    component.Path    `param:"path,required" doc:"a file, or a directory of files, which are read in order of their names; also URLs (https://, s3://), or patterns of URLs: rows-{00..15}.jsonl"`
	Items   Items             `param:"items" doc:"items of a line: one for each field of its object (fields), or the item record (record)" default:"fields" enum:"fields|record"`
	Files   map[string]string `param:"files" doc:"item to field: read the item from the file whose path, relative to the JSON file, is in the field"`
	Outside bool              `param:"outside" doc:"allow files outside the directory of the JSON file"`
	File    string            `param:"file" doc:"add an item of this name with the file and line of the sample, without blank lines: {name: a.jsonl, row: 0}"`

	Stream bool `param:"stream" doc:"read sequentially and return a stream; always the case for standard input (path: -)"`
}

// Items says how lines map to the items of a sample.
type Items string

// The mappings.
const (
	Fields Items = "fields" // an item for each field of an object
	Record Items = "record" // the one item record
)

// recordKey is the item that is a whole line.
const recordKey = "record"

// Inputs also returns the files that rows name.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	all := s.path().Inputs(env)
	for i, in := range all {
		if len(s.Files) > 0 && !s.isStream() {
			all[i].Files = rows.Named(func(ctx context.Context) (component.Samples, error) { return s.Open(ctx, in.Path, nil) })
		}
	}
	return all
}

// Delegate returns the files to read.
func (s Source) Delegate() any { return s.path() }

func (s Source) path() streamed.Path { return streamed.Path{Path: s.Path, Stream: s.Stream} }

// Check refuses URLs that cannot be read.
func (s Source) Check() error {
	switch far := objectstore.Is(string(s.Path)); {
	case s.isStream() && (len(s.Files) > 0 || s.File != ""):
		return streamed.ErrBeside
	case !s.isStream() && !far:
		return nil
	case !s.isStream() && len(s.Files) > 0:
		return errors.New("files is not supported for a URL; copy the files to this machine, or use an archive (webdataset, zip)")
	}
	return s.path().Check()
}

// Open scans the files once to find the lines, at 8 bytes of memory each. A line is read
// and checked when its sample is requested. memo, which may be nil, caches digests of
// the files that lines name.
func (s Source) Open(ctx context.Context, path string, memo key.Memo) (component.Samples, error) {
	return s.open(ctx, path, memo, nil)
}

// open is Open, with l as the cache of files at URLs.
func (s Source) open(ctx context.Context, path string, memo key.Memo, l *larder.Larder) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	paths, err := filesAt(ctx, path)
	if err != nil {
		return nil, err
	}
	x := rows.Index{Keeping: rows.Keeping{Larder: l, About: []any{"lines of JSON"}}}
	for _, p := range paths {
		if err := x.Add(ctx, p, lines); err != nil {
			return nil, err
		}
	}
	files := rows.Files{Items: s.Files, Outside: s.Outside, Memo: memo, Listing: x.Listing()}
	in := &reader{Source: s, files: files}
	sample := in.sample
	if s.File != "" {
		return x.Samples(rows.Noting(s.File, sample)), nil
	}
	if len(s.Files) > 0 {
		return x.Samples(sample), nil
	}
	return x.Alone(nil, sample), nil
}

// filesAt returns the file at path, the files of a pattern, or the files of lines in the
// directory there.
func filesAt(ctx context.Context, path string) ([]string, error) {
	return indexed.Files(ctx, path, rows.Packed(".jsonl", ".ndjson")...)
}

// lines finds the lines that are not blank.
func lines(r io.Reader, add func(start int64)) error {
	var offset, start int64
	chunk := make([]byte, 1<<18)
	blank := true
	for {
		n, err := r.Read(chunk)
		for b := chunk[:n]; len(b) > 0; {
			end := bytes.IndexByte(b, '\n') + 1
			if end == 0 {
				end = len(b)
			}
			if blank && len(bytes.Trim(b[:end], " \t\r\n")) > 0 {
				blank = false
				add(start)
			}
			offset += int64(end)
			if b[end-1] == '\n' {
				start, blank = offset, true
			}
			b = b[end:]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reader returns samples of lines.
type reader struct {
	Source
	files   rows.Files
	buffers sync.Pool // of *buffer
}

// buffer holds memory for the fields of a line. It still has the names of an earlier
// line, as most lines have the same.
type buffer struct {
	members []jsontext.Member
	names   []string
	values  [][]byte
}

// sample returns the sample of a line.
func (in *reader) sample(r rows.Row) (dataset.Sample, error) {
	indent := len(r.Text) - len(bytes.TrimPrefix(r.Text, []byte(rows.ByteOrderMark)))
	text := bytes.TrimRight(r.Text[indent:], blanks)
	at := func(i int, err error) error { return r.Fail(1, indent+i+1, err) }
	s, err := in.items(text)
	if err != nil {
		i, wrong := check(text)
		return dataset.Sample{}, at(i, cmp.Or(wrong, err))
	}
	if in.files.Items != nil {
		named, err := in.files.Fields(r.Path, func(field string) (string, bool, error) { return textOf(text, field) })
		if err != nil {
			return dataset.Sample{}, at(0, err)
		}
		s = s.With(named...)
	}
	return s, nil
}

// items returns the items of a line.
func (in *reader) items(text []byte) (s dataset.Sample, err error) {
	if !utf8.Valid(text) {
		return s, errNoText
	}
	if in.Items == Record {
		if !jsontext.Valid(text) {
			return s, errNoText
		}
		return dataset.NewSample(dataset.Field{Key: recordKey, Item: dataset.NewBytes("json", bytes.TrimLeft(text, blanks))}), nil
	}
	at, _ := in.buffers.Get().(*buffer)
	if at == nil {
		at = &buffer{}
	}
	defer in.buffers.Put(at)
	return at.sample(text)
}

var errNoText = errors.New("not JSON")

// maxFields bounds the items of a sample.
const maxFields = 10_000

// sample returns an item for each field of an object, with its encoded value.
func (at *buffer) sample(text []byte) (s dataset.Sample, err error) {
	defer func() { clear(at.members); clear(at.values) }() // they refer to the text
	var ok bool
	if at.members, ok = jsontext.AppendMembers(at.members[:0], text); !ok {
		if first := bytes.TrimLeft(text, blanks); len(first) > 0 && first[0] == '[' {
			return s, errors.New("a list, not an object; write each element on its own line (jq -c '.[]'), or set items: record")
		}
		return s, errors.New("not an object such as {\"name\": 1}; write one, or set items: record")
	}
	if len(at.members) > maxFields {
		return s, fmt.Errorf("more than %d fields; set items: record to read a line as one item", maxFields)
	}
	if err := at.name(); err != nil {
		return s, err
	}
	at.values = at.values[:0]
	for _, m := range at.members {
		at.values = append(at.values, m.Value)
	}
	return dataset.NewEncoded("json", at.names, at.values), nil
}

// name decodes the names of the fields.
func (at *buffer) name() error {
	before := at.names
	at.names = at.names[:0]
	for i, m := range at.members {
		if i < len(before) && string(m.Name[1:len(m.Name)-1]) == before[i] && bytes.IndexByte(m.Name, '\\') < 0 {
			at.names = before[:i+1]
			continue
		}
		name, err := nameOf(m.Name)
		if err == nil && slices.Contains(at.names, name) {
			err = fmt.Errorf("duplicate field %q", name)
		}
		if err != nil {
			return err
		}
		before = nil // at.names is overwritten
		at.names = append(at.names, name)
	}
	return nil
}

// check returns the position at which text stops being a JSON value.
func check(text []byte) (at int, err error) {
	if !utf8.Valid(text) {
		return invalidAt(text), rows.ErrEncoding
	}
	if json.Valid(text) {
		return 0, nil
	}
	err = json.Unmarshal(text, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return max(0, int(syntax.Offset)-1), explain(text, syntax)
	}
	return 0, err
}

// invalidAt returns the position at which b stops being UTF-8.
func invalidAt(b []byte) (at int) {
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// blanks may occur between the parts of a JSON text.
const blanks = " \t\r\n"

// nameOf decodes a quoted string.
func nameOf(quoted []byte) (name string, err error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	err = json.Unmarshal(quoted, &name)
	return name, err
}

// textOf returns a field of an object in valid JSON, which must be a string; null counts
// as missing.
func textOf(text []byte, field string) (string, bool, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return "", false, errors.New("a file is named by an object")
	}
	raw, ok := object[field]
	if !ok || string(raw) == "null" {
		return "", false, nil
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return "", false, errors.New("the path of a file must be a string")
	}
	return name, true, nil
}

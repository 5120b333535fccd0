// Package csv reads and writes tables of comma-separated values (RFC 4180, UTF-8): each
// row is a sample, each column an item.
package csv

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/internal/streamed"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/csvtext"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

func init() {
	tables := component.RegisterSource("csv", "Reads a table of comma-separated values: each row is a sample, and each column an item. Files that end with .gz, .zst, .xz or .bz2 are decompressed.",
		func(ctx context.Context, env *component.Env, p Source) (component.Samples, error) {
			return p.open(ctx, env.Path(p.Path), env.Files, env.Larder)
		})
	component.Streams(tables, Source.isStream, Source.OpenStream)
}

// Source configures the table to read.
type Source struct {
	Path      component.Path    `param:"path,required" doc:"the file; also a URL: https://, s3://"`
	Columns   []string          `param:"columns" doc:"column names, for a file without a row of names; an unnamed column of a row of names is called column_1 by its position"`
	Delimiter string            `param:"delimiter" doc:"separator of fields: one character, or tab" default:"','"`
	Types     map[string]string `param:"types" doc:"column to type: int, float, bool or string (default); an empty field of int, float or bool is null"`
	Files     map[string]string `param:"files" doc:"item to column: read the item from the file whose path, relative to the table, is in the column"`
	Outside   bool              `param:"outside" doc:"allow files outside the directory of the table"`
	File      string            `param:"file" doc:"add an item of this name with the file and row of the sample: {name: a.csv, row: 0}"`

	Stream bool `param:"stream" doc:"read sequentially and return a stream; always the case for standard input (path: -)"`
}

// Check refuses invalid parameters.
func (s Source) Check() error {
	if _, err := comma(s.Delimiter); err != nil {
		return err
	}
	for column, typ := range s.Types {
		if parsers[typ] == nil {
			return fmt.Errorf("types: column %s has unknown type %q; use one of %s", column, typ, strings.Join(slices.Sorted(maps.Keys(parsers)), ", "))
		}
	}
	if s.Columns != nil {
		if err := s.checkColumns(s.Columns); err != nil {
			return err
		}
	}
	if s.isStream() {
		if len(s.Files) > 0 || s.File != "" {
			return streamed.ErrBeside
		}
		return s.path().Check()
	}
	if !objectstore.Is(string(s.Path)) {
		return nil
	}
	if len(s.Files) > 0 {
		return errors.New("files is not supported for a URL; copy the files to this machine, or use an archive (webdataset, zip)")
	}
	return objectstore.Check(string(s.Path))
}

// comma returns the separator of a delimiter.
func comma(delimiter string) (rune, error) {
	switch delimiter {
	case "":
		return ',', nil
	case "tab":
		return '\t', nil
	}
	r, size := utf8.DecodeRuneInString(delimiter)
	if size != len(delimiter) || r == utf8.RuneError || strings.ContainsRune("\"\r\n", r) {
		return 0, fmt.Errorf("delimiter %q is invalid; give one character other than quote and line break, or tab", delimiter)
	}
	return r, nil
}

// checkColumns refuses column names that are not valid keys, and parameters for missing
// columns.
func (s Source) checkColumns(columns []string) error {
	if len(columns) > maxColumns {
		return fmt.Errorf("the table has %d columns, but at most %d are supported", len(columns), maxColumns)
	}
	if slices.Equal(columns, []string{"sep=", "column_2"}) || len(columns) == 1 && strings.HasPrefix(columns[0], "sep=") && len(columns[0]) == len("sep=;") {
		return errors.New("the first line (sep=) sets the delimiter for Excel; remove it and set delimiter")
	}
	for i, c := range columns {
		if !isText(c) {
			return errors.New("not UTF-8 text; export spreadsheets as CSV in UTF-8, and name compressed tables .gz, .zst, .xz or .bz2")
		}
		if c == "" {
			return fmt.Errorf("column %d has no name", i+1)
		}
		if slices.Contains(columns[:i], c) {
			return fmt.Errorf("two columns are named %q; rename one", c)
		}
	}
	named := slices.Sorted(maps.Keys(s.Types))
	for _, c := range slices.Concat(named, slices.Sorted(maps.Values(s.Files))) {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("unknown column %q%s", c, component.Suggest(c, columns))
		}
	}
	return nil
}

// isText reports whether a string is a valid column name.
func isText(name string) bool { return utf8.ValidString(name) && !strings.ContainsRune(name, 0) }

// maxColumns bounds the items of a sample.
const maxColumns = 10_000

// table is an open table.
type table struct {
	Source
	rows.Index
	comma   rune
	columns []string
	files   rows.Files
}

// Inputs also returns the files that rows name.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	if s.isStream() {
		return s.path().Inputs(env)
	}
	in := pathguard.Input{Path: env.Path(s.Path), Flat: true}
	if len(s.Files) > 0 {
		in.Files = rows.Named(func(ctx context.Context) (component.Samples, error) { return s.Open(ctx, in.Path, nil) })
	}
	return []pathguard.Input{in}
}

// Delegate returns the file to read.
func (s Source) Delegate() any { return s.path() }

func (s Source) path() streamed.Path { return streamed.Path{Path: s.Path, Stream: s.Stream} }

// Open scans the file once to find the rows, at 8 bytes of memory each. It checks quotes
// and the number of fields; values are checked when their sample is requested. memo,
// which may be nil, caches digests of the files that rows name.
func (s Source) Open(ctx context.Context, path string, memo key.Memo) (component.Samples, error) {
	return s.open(ctx, path, memo, nil)
}

// open is Open, with l as the cache of a file at a URL.
func (s Source) open(ctx context.Context, path string, memo key.Memo, l *larder.Larder) (component.Samples, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	t := &table{Source: s, columns: s.Columns, files: rows.Files{Items: s.Files, Outside: s.Outside, Memo: memo}}
	t.files.Listing = t.Listing()
	t.comma, _ = comma(s.Delimiter) // already checked
	t.Keeping = rows.Keeping{Larder: l, About: []any{"rows of a table", t.comma, s.Columns}}
	name := objectstore.Name(path)
	if err := t.Add(ctx, path, func(r io.Reader, add func(int64)) error { return t.explained(name, r, add) }); err != nil {
		return nil, err
	}
	if t.columns == nil { // the scan was skipped, as its index is cached
		head, err := t.Before(ctx)
		if err == nil {
			err = t.explained(name, bytes.NewReader(head), func(int64) {})
		}
		if err != nil {
			return nil, err
		}
	}
	if s.File != "" {
		return t.Samples(rows.Noting(s.File, t.sample)), nil
	}
	if len(s.Files) > 0 {
		return t.Samples(t.sample), nil
	}
	return t.Alone(t.columns, t.sample), nil
}

// explained calls scan and adds positions to its errors.
func (t *table) explained(path string, r io.Reader, add func(start int64)) error {
	err := t.scan(path, r, add)
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		if err = errors.New(csvtext.Explain(at.Err)); at.StartLine < at.Line {
			err = fmt.Errorf("row at line %d: %w", at.StartLine, err)
		}
		return rows.At(path, at.Line, at.Column, err)
	}
	return err
}

// reader reads rows. Once the columns are known, each row must have as many fields.
func (t *table) reader(r io.Reader) *csvtext.Reader {
	in := csvtext.NewReader(r)
	in.Comma = t.comma
	in.Fields = len(t.columns)
	return in
}

// scan finds the rows of a file, and the columns unless they are configured.
func (t *table) scan(path string, r io.Reader, add func(start int64)) error {
	limited := &limited{r: r, left: codec.ItemLimit()}
	var base int64
	head := make([]byte, len(rows.ByteOrderMark))
	n, err := io.ReadFull(limited, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if begin := string(head[:min(n, 2)]); begin == "\xff\xfe" || begin == "\xfe\xff" {
		return rows.At(path, 1, 1, errors.New("the file is UTF-16; convert it with iconv -f UTF-16 -t UTF-8"))
	}
	if string(head[:n]) == rows.ByteOrderMark {
		base, n = int64(n), 0
	}
	in := t.reader(io.MultiReader(bytes.NewReader(head[:n]), limited))
	if t.columns == nil {
		header, err := in.Read()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: the table is empty; add a row of column names, or set columns", path)
		}
		if err != nil {
			return err
		}
		t.columns = csvtext.Header(header)
		if err := t.checkColumns(t.columns); err != nil {
			return rows.At(path, 1, 1, err)
		}
	}
	for {
		start := in.InputOffset()
		limited.left = codec.ItemLimit()
		switch _, err := in.Read(); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLong):
			return rows.FailAt(path, base+start, 1, 1, err)
		case err != nil:
			return err
		}
		add(base + start)
	}
}

// limited fails after a number of bytes: an unclosed quote must not use all memory.
type limited struct {
	r    io.Reader
	left int64
}

var errLong = errors.New("the row exceeds the limit of an item; close a quote before here, or raise --max-item")

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLong
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}

// sample returns the sample of a row.
func (t *table) sample(r rows.Row) (dataset.Sample, error) {
	in := t.reader(bytes.NewReader(r.Text))
	record, err := in.Read()
	if err != nil {
		return dataset.Sample{}, r.Fail(1, 1, err)
	}
	fields := make([]dataset.Field, len(record), len(record)+len(t.Files))
	for i, text := range record {
		v, err := t.value(t.columns[i], text)
		if err != nil {
			line, column := in.FieldPos(i)
			return dataset.Sample{}, r.Fail(line, column, fmt.Errorf("column %s: %w", t.columns[i], err))
		}
		fields[i] = dataset.Field{Key: t.columns[i], Item: dataset.NewItem("json", v)}
	}
	named, err := t.files.Fields(r.Path, func(column string) (string, bool, error) {
		text := record[slices.Index(t.columns, column)]
		return text, text != "", nil
	})
	if err != nil {
		return dataset.Sample{}, r.Fail(1, 1, err)
	}
	return dataset.NewSample(append(fields, named...)...), nil
}

// value parses a field with its column's type.
func (t *table) value(column, text string) (any, error) {
	if !utf8.ValidString(text) {
		return nil, rows.ErrEncoding
	}
	typ := t.Types[column]
	if typ == "" {
		typ = "string"
	}
	if text == "" && typ != "string" {
		return nil, nil //nolint:nilnil // null is a value
	}
	return parsers[typ](text)
}

// parsers parse fields of each type.
var parsers = map[string]func(text string) (any, error){
	"string": func(text string) (any, error) { return strings.Clone(text), nil },
	"int": func(text string) (any, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%.40q exceeds 64 bits; read the column as string", text)
		}
		return n, wanted(text, "an integer", err)
	},
	"float": func(text string) (any, error) {
		if strings.ContainsAny(text, "_xX") { // numbers of Go's syntax: 1_000, 0x1p3
			return nil, wanted(text, "a number", strconv.ErrSyntax)
		}
		f, err := strconv.ParseFloat(text, 64)
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%.40q exceeds 64-bit floats; read the column as string", text)
		}
		if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return nil, fmt.Errorf("%.40q is not finite; read the column as string", text)
		}
		return f, wanted(text, "a number", err)
	},
	"bool": func(text string) (any, error) {
		b, err := strconv.ParseBool(text)
		return b, wanted(text, "true or false", err)
	},
}

// wanted returns an error with the expected value of a field, unless err is nil.
func wanted(text, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%.40q is not %s", text, what)
}

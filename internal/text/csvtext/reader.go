// Package csvtext reads and writes rows of comma separated values (RFC 4180) without
// changing the bytes of fields: a line break within quotes stays as it is. encoding/csv
// converts it to a line feed.
//
// A row ends with a line feed, or with a carriage return and a line feed. Empty lines
// are skipped, but in a table of one column each is a row with an empty field. A
// carriage return without line feed outside of quotes is an error: some software ends
// lines with it, other software writes it as part of a field, and the file does not say
// which.
package csvtext

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"unicode/utf8"
)

// ErrReturn is the error of a carriage return that does not end a line.
var ErrReturn = errors.New("a carriage return without a line feed, outside of quotes: end lines with a line feed, and put quotes around fields that hold carriage returns")

// A Reader reads rows. Syntax errors are [*csv.ParseError]s; others are those of the
// underlying reader.
type Reader struct {
	Comma  rune // between fields
	Fields int  // per row; 0 for as many as the first row has

	in     *bufio.Reader
	line   []byte // current line, with its end
	number int    // of that line, from 1
	offset int64  // of the end of that line
	text   []byte // the fields of the row, concatenated
	ends   []int
	places []place
}

// A place is a line and a column, from 1. Columns count bytes.
type place struct{ line, column int }

// NewReader returns a reader of fields separated by commas.
func NewReader(r io.Reader) *Reader { return &Reader{Comma: ',', in: bufio.NewReader(r)} }

// Read returns the fields of the next row. It returns io.EOF if there is none.
func (r *Reader) Read() ([]string, error) {
	for {
		if err := r.next(); err != nil {
			return nil, err
		}
		if r.Fields == 1 || len(ending(r.line)) < len(r.line) {
			break
		}
	}
	first := r.number
	r.text, r.ends, r.places = r.text[:0], r.ends[:0], r.places[:0]
	comma := utf8.AppendRune(nil, r.Comma)
	for rest, more := r.line, true; more; {
		r.places = append(r.places, place{r.number, r.column(rest)})
		var err error
		if len(rest) > 0 && rest[0] == '"' {
			rest, more, err = r.quoted(rest[1:], comma)
		} else {
			rest, more, err = r.bare(rest, comma)
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			wrong.StartLine = first
		}
		if err != nil {
			return nil, err
		}
		r.ends = append(r.ends, len(r.text))
	}
	if r.Fields == 0 {
		r.Fields = len(r.ends)
	}
	if len(r.ends) != r.Fields {
		return nil, &csv.ParseError{StartLine: first, Line: first, Column: 1, Err: FieldsError{len(r.ends), r.Fields}}
	}
	return r.fields(), nil
}

// fields returns the fields as parts of a new string.
func (r *Reader) fields() []string {
	text, fields, from := string(r.text), make([]string, len(r.ends)), 0
	for i, end := range r.ends {
		fields[i], from = text[from:end], end
	}
	return fields
}

// InputOffset returns the number of bytes of the rows so far.
func (r *Reader) InputOffset() int64 { return r.offset }

// FieldPos returns the line and the column, from 1, at which a field of the last row
// begins.
func (r *Reader) FieldPos(i int) (line, column int) { return r.places[i].line, r.places[i].column }

func (r *Reader) next() error {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.in.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return err
	}
	r.line = line
	r.number++
	r.offset += int64(len(line))
	return nil
}

// column returns the column at which the rest of the line begins.
func (r *Reader) column(rest []byte) int { return len(r.line) - len(rest) + 1 }

func (r *Reader) fail(rest []byte, err error) error {
	return &csv.ParseError{Line: r.number, Column: r.column(rest), Err: err}
}

func ending(line []byte) []byte {
	switch {
	case bytes.HasSuffix(line, []byte("\r\n")):
		return line[len(line)-2:]
	case bytes.HasSuffix(line, []byte("\n")):
		return line[len(line)-1:]
	}
	return nil
}

func (r *Reader) bare(rest, comma []byte) (after []byte, more bool, err error) {
	field, after, more := bytes.Cut(rest, comma)
	if !more {
		field = rest[:len(rest)-len(ending(rest))]
	}
	if i := bytes.IndexAny(field, "\"\r"); i >= 0 {
		err = csv.ErrBareQuote
		if field[i] == '\r' {
			err = ErrReturn
		}
		return nil, false, r.fail(rest[i:], err)
	}
	r.text = append(r.text, field...)
	return after, more, nil
}

// quoted reads a field after its first quote.
func (r *Reader) quoted(rest, comma []byte) (after []byte, more bool, err error) {
	for {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			r.text = append(r.text, rest...)
			at := r.fail(nil, csv.ErrQuote)
			if err := r.next(); err != nil {
				if errors.Is(err, io.EOF) {
					err = at
				}
				return nil, false, err
			}
			rest = r.line
			continue
		}
		r.text = append(r.text, rest[:i]...)
		quote := rest[i:]
		switch rest = rest[i+1:]; {
		case bytes.HasPrefix(rest, []byte(`"`)):
			r.text = append(r.text, '"')
			rest = rest[1:]
		case bytes.HasPrefix(rest, comma):
			return rest[len(comma):], true, nil
		case len(ending(rest)) == len(rest):
			return nil, false, nil
		case rest[0] == '\r':
			return nil, false, r.fail(rest, ErrReturn)
		default:
			return nil, false, r.fail(quote, csv.ErrQuote)
		}
	}
}

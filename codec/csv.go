package codec

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// A Table is rows of text under the names of their columns. Every row has as
// many fields as there are columns.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Maps returns each row as a map from column to field.
func (t Table) Maps() []map[string]string {
	rows := make([]map[string]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make(map[string]string, len(row))
		for j, field := range row {
			rows[i][t.Columns[j]] = field
		}
	}
	return rows
}

// check reports columns of one name, and rows of another length.
func (t Table) check() error {
	seen := make(map[string]bool, len(t.Columns))
	for _, c := range t.Columns {
		if seen[c] {
			return fmt.Errorf("codec: csv: there are two columns %q", c)
		}
		seen[c] = true
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("codec: csv: row %d has %d fields and there are %d columns", i+1, len(row), len(t.Columns))
		}
	}
	return nil
}

// csvCodec reads comma separated values (RFC 4180, UTF-8) to a [Table]. The
// first line names the columns. It is not lossless: a line break of two
// characters within a field is read as one.
var csvCodec = Codec{
	Name:       "csv",
	Version:    1,
	Extensions: []string{"csv"},
	Decode:     decodeCSV,
	Encode:     encodeCSV,
}

func decodeCSV(b []byte) (any, error) {
	if err := validText("csv", b); err != nil {
		return nil, err
	}
	const byteOrderMark = "\ufeff"
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte(byteOrderMark))))
	columns, err := r.Read()
	if errors.Is(err, io.EOF) {
		return Table{}, nil
	}
	var rows [][]string
	if err == nil {
		rows, err = r.ReadAll()
	}
	if err != nil {
		return nil, fmt.Errorf("codec: csv: %w", err)
	}
	t := Table{columns, rows}
	return t, t.check()
}

func encodeCSV(v any) ([]byte, error) {
	t, ok := v.(Table)
	if !ok {
		return nil, unsupported("csv", v, "a codec.Table")
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(t.Columns) == 0 {
		return nil, nil
	}
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		if len(row) == 1 && row[0] == "" { // an empty line would be skipped
			w.Flush()
			buf.WriteString("\"\"\n")
			continue
		}
		if err := w.Write(row); err != nil {
			return nil, fmt.Errorf("codec: csv: %w", err)
		}
	}
	w.Flush()
	return buf.Bytes(), validText("csv", buf.Bytes())
}

package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder/internal/text/csvtext"
)

// A Table is rows of strings under the names of their columns. Every row has as many fields
// as there are columns.
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

// check returns an error for duplicate or empty column names, and for rows of another
// length.
func (t Table) check() error {
	seen := make(map[string]bool, len(t.Columns))
	for i, c := range t.Columns {
		if c == "" {
			return fmt.Errorf("csv: column %d has no name; give it one", i+1)
		}
		if seen[c] {
			return fmt.Errorf("csv: two columns are named %q; rename one", c)
		}
		seen[c] = true
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("csv: row %d has %d fields, but there are %d columns", i+1, len(row), len(t.Columns))
		}
	}
	return nil
}

// csvCodec reads comma separated values (RFC 4180, UTF-8) as a [Table]. The first line
// names the columns; an unnamed one is column_N by its position N. Fields keep their bytes,
// including line breaks. A lone carriage return outside of quotes is an error.
var csvCodec = Codec{
	Name:       "csv",
	Extensions: []string{"csv"},
	Lossless:   true,
	Decode:     decodeCSV,
	Check:      checkWhole(decodeCSV),
	Encode:     encodeCSV,
}

func decodeCSV(b []byte) (any, error) {
	if err := validText("csv", b); err != nil {
		return nil, err
	}
	r := csvtext.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte(byteOrderMark))))
	columns, err := r.Read()
	if errors.Is(err, io.EOF) {
		return Table{}, nil
	}
	t := Table{Columns: csvtext.Header(columns)}
	for err == nil {
		var row []string
		if row, err = r.Read(); err == nil {
			t.Rows = append(t.Rows, row)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("csv: %w", inPlain("csv", err))
	}
	return t, t.check()
}

func encodeCSV(v any) ([]byte, error) {
	t, ok := v.(Table)
	if !ok {
		return nil, unsupported("csv", v, "a table")
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(t.Columns) == 0 {
		return nil, nil
	}
	b := csvtext.Append(nil, t.Columns, ',')
	for _, row := range t.Rows {
		b = csvtext.Append(b, row, ',')
	}
	return b, validText("csv", b)
}

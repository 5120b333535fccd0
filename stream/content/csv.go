package content

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/internal/text/csvtext"
	"github.com/larder-data/larder/stream"
)

// Rows configures [CSV].
type Rows struct {
	Comma rune // field separator; 0 means a comma
	// Header says that the first row of each file has the column names. A column without a
	// name is named by its position, such as column_1.
	Header bool
	// Longest is the largest size of a row in bytes; 0 means 16 MiB.
	Longest int
}

// A Row is one row of a file. All rows of a file have the same number of fields.
type Row struct {
	Name    string   // of the file
	Columns []string // column names, if there is a header; shared by the rows of a file
	Fields  []string
}

// Field returns the field of a column.
func (r Row) Field(column string) (text string, ok bool) {
	if i := slices.Index(r.Columns, column); i >= 0 {
		return r.Fields[i], true
	}
	return "", false
}

// CSV reads files of comma-separated values (RFC 4180) by row. It preserves line breaks
// in quotes.
func CSV(s stream.Stream[File], o Rows) stream.Stream[Row] {
	return parsed(s, "csv", func(f File, in *bounded) func() (Row, error) {
		r := csvtext.NewReader(in)
		if o.Comma != 0 {
			r.Comma = o.Comma
		}
		var columns []string
		return func() (row Row, err error) {
			if o.Header && columns == nil {
				if columns, err = r.Read(); err != nil {
					return row, err
				}
				if err := distinct(columns); err != nil {
					return row, err
				}
				columns = csvtext.Header(columns)
			}
			row = Row{Name: f.Name, Columns: columns}
			row.Fields, err = r.Read()
			return row, err
		}
	}, o.Longest)
}

func distinct(columns []string) error {
	sorted := slices.Sorted(slices.Values(columns))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] && sorted[i] != "" {
			return fmt.Errorf("two columns are called %.80q; rename one of them", sorted[i])
		}
	}
	return nil
}

package content

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/internal/text/csvtext"
	"github.com/larder-data/larder/stream"
)

// Rows says how files of comma separated values are read.
type Rows struct {
	Comma rune // between fields; 0 stands for a comma
	// Header says that the first row of each file has the names of the columns. One without a
	// name is called by its place, column_1.
	Header bool
	// Longest is how many bytes a row may have, 16 MiB if it is 0.
	Longest int
}

// A Row is one of a file. All rows of a file have as many fields.
type Row struct {
	Name    string   // of the file
	Columns []string // their names, if there is a header; shared by the rows of a file
	Fields  []string
}

// Field returns the field in the column of that name.
func (r Row) Field(column string) (text string, ok bool) {
	if i := slices.Index(r.Columns, column); i >= 0 {
		return r.Fields[i], true
	}
	return "", false
}

// CSV reads files of comma separated values (RFC 4180) by row. Line breaks in quotes are
// kept as they are.
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

package csvtext

import (
	"fmt"
	"slices"
)

// Header returns the names of columns in a first row. A column without a name gets one
// from its position, such as column_1. Underscores follow it if another column has that
// name. pandas writes an index without a name, and a comma at the end of a row also
// gives such a column.
func Header(row []string) []string {
	if !slices.Contains(row, "") {
		return row
	}
	taken := make(map[string]bool, len(row))
	for _, name := range row {
		taken[name] = true
	}
	names := slices.Clone(row)
	for i, name := range names {
		if name == "" {
			for name = fmt.Sprint("column_", i+1); taken[name]; {
				name += "_"
			}
			names[i] = name
		}
	}
	return names
}

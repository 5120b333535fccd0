package csvtext

import (
	"fmt"
	"slices"
)

// Header returns the names of columns that a first row gives. A column without a name, as
// pandas writes an index and as a comma at the end makes, is called by its place, such as
// column_1, with underscores behind it while another column is called that.
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

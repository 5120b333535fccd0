package component

import (
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/text/display"
)

// Suggest returns "; did you mean X?" with the nearest valid name, or a list of the
// valid names if none is near, or "" if there are none.
func Suggest(name string, valid []string) string {
	if len(valid) == 0 {
		return ""
	}
	if best := display.Nearest(name, valid); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	sorted := slices.Sorted(slices.Values(valid))
	return "; valid: " + strings.Join(sorted, ", ")
}

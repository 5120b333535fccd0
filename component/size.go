package component

import "github.com/larder-data/larder/internal/text/display"

// A Size is a human-readable number of bytes as a parameter, such as 256MiB, 1GB or
// 1000; "" for none.
type Size string

// Bytes returns the number, 0 for none. The error for an invalid size does not contain
// the string.
func (s Size) Bytes() (int64, error) {
	if s == "" {
		return 0, nil
	}
	return display.ParseSize(string(s))
}

package component

import "github.com/larder-data/larder/internal/size"

// A Size is a parameter that is a number of bytes as people write it, such as 256MiB, 1GB or
// 1000; "" for none.
type Size string

// Bytes is the number, 0 for none. What is no size is an error that says so, without the text.
func (s Size) Bytes() (int64, error) {
	if s == "" {
		return 0, nil
	}
	return size.Parse(string(s))
}

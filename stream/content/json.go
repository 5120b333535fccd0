package content

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/larder-data/larder/stream"
)

// JSON reads files with a value of JSON after another, on a line each or not, of longest
// bytes at most; 0 stands for 16 MiB. T is what encoding/json makes of a value: a struct,
// any, or json.RawMessage for its text.
func JSON[T any](s stream.Stream[File], longest int) stream.Stream[T] {
	return parsed(s, "json", func(_ File, in *bounded) func() (T, error) {
		d, number := json.NewDecoder(in), 0
		return func() (v T, err error) {
			number++
			if err = d.Decode(&v); err != nil && err != io.EOF { //nolint:errorlint // an EOF that is wrapped is an error
				err = fmt.Errorf("value %d, at byte %d: %w", number, d.InputOffset(), err)
			}
			return v, err
		}
	}, longest)
}

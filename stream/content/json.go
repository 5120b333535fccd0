package content

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/larder-data/larder/stream"
)

// JSON reads files that contain a sequence of JSON values, on separate lines or not. A
// value has at most longest bytes; 0 means 16 MiB. T is any type that encoding/json
// decodes: a struct, any, or json.RawMessage for the encoded value.
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

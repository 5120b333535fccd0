package underfolder_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/larder-data/larder/format/underfolder"
)

// Opening a dataset lists names; items are read on request.
func ExampleOpen() {
	letters, err := underfolder.Open("../../examples/letters/data", nil, slog.Default())
	if err != nil {
		panic(err)
	}
	s, err := letters.At(context.Background(), 0)
	if err != nil {
		panic(err)
	}
	metadata, err := s.Value(context.Background(), "metadata")
	fmt.Println(letters.Len(), s.Keys(), metadata, err)
	// Output: 26 [image metadata consonants vowels] map[color:red letter:a] <nil>
}

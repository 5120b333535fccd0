package jsonl_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/format/jsonl"
)

// A line is a sample, a field an item. Any line can be read by its number.
func ExampleSource_Open() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "letters.jsonl")
	if err := os.WriteFile(path, []byte(`{"letter":"a"}`+"\n"+`{"letter":"b","meta":{"color":"red"}}`+"\n"), 0o666); err != nil {
		panic(err)
	}
	letters, err := jsonl.Source{}.Open(context.Background(), path, nil)
	if err != nil {
		panic(err)
	}
	s, err := letters.At(context.Background(), 1)
	if err != nil {
		panic(err)
	}
	meta, err := s.Value(context.Background(), "meta")
	fmt.Println(letters.Len(), s.Keys(), meta, err)
	// Output: 2 [letter meta] map[color:red] <nil>
}

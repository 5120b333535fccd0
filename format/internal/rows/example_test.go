package rows_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/format/internal/rows"
)

// An index has the start of each row, so that any row can be read directly.
func ExampleIndex() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rows.txt")
	if err := os.WriteFile(path, []byte("first\nsecond\nthird\n"), 0o666); err != nil {
		panic(err)
	}
	var x rows.Index
	err = x.Add(context.Background(), path, func(r io.Reader, add func(start int64)) error {
		at := int64(0)
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			add(at)
			at += int64(len(lines.Bytes())) + 1
		}
		return lines.Err()
	})
	if err != nil {
		panic(err)
	}
	row, err := x.Row(context.Background(), 1)
	fmt.Printf("%d rows, row 1: %q %v\n", x.Len(), row.Text, err)
	// Output: 3 rows, row 1: "second\n" <nil>
}

package output_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/format/output"
)

// A file appears when it is complete, and not at all if writing it fails.
func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "table.txt")
	_, err = output.WriteFile(context.Background(), path, output.Replace, func(w io.Writer) error {
		fmt.Fprintln(w, "half of it")
		return errors.New("the data ended")
	})
	_, statErr := os.Stat(path)
	fmt.Println(err, errors.Is(statErr, fs.ErrNotExist))
	n, err := output.WriteFile(context.Background(), path, output.Replace, func(w io.Writer) error {
		_, err := io.WriteString(w, "all of it\n")
		return err
	})
	fmt.Println(n, err)
	// Output:
	// the data ended true
	// 10 <nil>
}

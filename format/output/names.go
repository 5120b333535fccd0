package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/objectstore"
)

// maxName is the longest file name, in bytes, that file systems accept.
const maxName = 255

// CheckNames refuses names of outputs that are invalid for files with such endings, or
// for directories, and two names that the file system treats as one. It is called before
// the output is written.
func CheckNames(dir string, names []string, ending string) error {
	folded := make(map[string]string, len(names))
	for _, name := range names {
		if !SafeName(name) {
			return fmt.Errorf("output %q is not a file name; rename the output", name)
		}
		if n := len(name + ending); n > maxName {
			return fmt.Errorf("output %.40q...: a file name of %d bytes exceeds %d; shorten the name", name, n, maxName)
		}
		fold := strings.ToLower(name)
		if other, taken := folded[fold]; taken && (other == name || sameFile(dir, other, name)) {
			return fmt.Errorf("outputs %q and %q both map to file %s; rename one", other, name, name+ending)
		}
		folded[fold] = name
	}
	return nil
}

// sameFile reports whether the file system of a directory, which need not exist yet,
// treats two names as one. It returns true if that cannot be tested.
func sameFile(dir, a, b string) bool {
	if objectstore.Is(dir) {
		return false
	}
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	try, err := os.MkdirTemp(dir, ".larder-names-*")
	if err != nil {
		return true
	}
	defer os.RemoveAll(try)
	if err := os.Mkdir(filepath.Join(try, a), 0o700); err != nil {
		return true
	}
	_, err = os.Lstat(filepath.Join(try, b))
	return !errors.Is(err, fs.ErrNotExist)
}

package filecopy_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/format/internal/filecopy"
)

func TestCopyDoesNotOverwrite(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, name := range []string{src, dst} {
		if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []filecopy.Way{filecopy.Reflink, filecopy.HardLink, filecopy.SymbolicLink} {
		if _, _, err := c.File(dst, src); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", c, err)
		}
	}
	if b, err := os.ReadFile(dst); err != nil || string(b) != dst {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if _, _, err := filecopy.Reflink.File(filepath.Join(dir, "c"), dir); err == nil {
		t.Error("a directory was copied")
	}
}

//go:build unix

package guard_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/larder-data/larder/guard"
)

// Pipes are refused however they are named, but for a link that is replaced
// itself, and whether or not anything is read.
func TestSpecialFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), os.Symlink("pipe", link)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    guard.Output
		want error
	}{
		{guard.Output{Path: pipe}, guard.ErrSpecial},
		{guard.Output{Path: link}, guard.ErrSpecial},
		{guard.Output{Path: pipe, Files: true}, guard.ErrSpecial},
		{guard.Output{Path: pipe, Shallow: true}, guard.ErrSpecial},
		{guard.Output{Path: pipe, Itself: true}, guard.ErrSpecial},
		{guard.Output{Path: link, Itself: true}, nil},
		{guard.Output{Path: dir}, nil},
		{guard.Output{Path: filepath.Join(dir, "new")}, nil},
	} {
		for _, in := range []*guard.Inputs{nil, {}} {
			if err := in.Check(t.Context(), c.o); !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, want %v", c.o, err, c.want)
			}
		}
	}
}

//go:build unix

package pathguard_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/larder-data/larder/internal/fs/pathguard"
)

// TestSpecialFilesAreRefused checks that pipes are refused by any name, except a link that
// is itself replaced, and with or without inputs.
func TestSpecialFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), os.Symlink("pipe", link)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    pathguard.Output
		want error
	}{
		{pathguard.Output{Path: pipe}, pathguard.ErrSpecial},
		{pathguard.Output{Path: link}, pathguard.ErrSpecial},
		{pathguard.Output{Path: pipe, Files: true}, pathguard.ErrSpecial},
		{pathguard.Output{Path: pipe, Shallow: true}, pathguard.ErrSpecial},
		{pathguard.Output{Path: pipe, Itself: true}, pathguard.ErrSpecial},
		{pathguard.Output{Path: link, Itself: true}, nil},
		{pathguard.Output{Path: dir}, nil},
		{pathguard.Output{Path: filepath.Join(dir, "new")}, nil},
	} {
		for _, in := range []*pathguard.Inputs{nil, {}} {
			if err := in.Check(t.Context(), c.o); !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, want %v", c.o, err, c.want)
			}
		}
	}
}

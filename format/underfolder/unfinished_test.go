package underfolder_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
)

// TestLeftoversAreSwept checks that a write in place deletes unfinished files of killed
// writers, also next to shared items, and no others.
func TestLeftoversAreSwept(t *testing.T) {
	dead := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone, own := dead.Process.Pid, os.Getpid()
	leave := []string{
		fmt.Sprintf(".larder-%d-1", os.Getppid()), fmt.Sprintf(".larder-%d-99", own), fmt.Sprintf(".larder-%d", gone),
		fmt.Sprintf(".larder-%d-x", gone), fmt.Sprintf(".larder-0%d-1", gone), fmt.Sprintf(".larder-%d-1.txt", gone), ".larder-notes", ".larder--1", ".larder-0-1",
	}
	link, sub := fmt.Sprintf(".larder-%d-7", gone), fmt.Sprintf(".larder-%d-8", gone)
	swept := []string{fmt.Sprintf(".larder-%d-1", gone), fmt.Sprintf(".larder-%d-98", own)}
	for _, how := range []output.Overwrite{output.NewFiles, output.OverwriteFiles} {
		path := directory(t, map[string]string{"data/0_b.txt": "x"})
		for _, dir := range []string{path, filepath.Join(path, "data")} {
			for _, name := range append(slices.Clone(leave), swept...) {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			old := time.Now().Add(-time.Hour)
			if err := errors.Join(os.Symlink("nowhere", filepath.Join(dir, link)), os.Mkdir(filepath.Join(dir, sub), 0o777), os.Chtimes(filepath.Join(dir, swept[1]), old, old)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := write(t, path, how, component.One(dataset.List(dataset.NewSample(text("a", "x", false), text("z", "y", true))))); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{path, filepath.Join(path, "data")} {
			for _, name := range append(slices.Clone(leave), link, sub) {
				if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
					t.Errorf("%s: %s is gone: %v", how, name, err)
				}
			}
			for _, name := range swept {
				if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
					t.Errorf("%s: %s is still in %s", how, name, dir)
				}
			}
		}
		if _, err := write(t, path, output.Replace, component.One(dataset.List[dataset.Sample]())); err == nil {
			t.Errorf("a directory with files of another kind was replaced")
		}
	}
}

package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/dataset"
)

// ticked returns when the clock of the file system has passed a time. Before that, file
// times do not show a change.
func ticked(t *testing.T, since time.Time) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	for {
		if err := os.WriteFile(probe, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(probe); err != nil || info.ModTime().After(since) {
			return
		}
	}
}

// TestFilesThatAreReplacedAreNotRead checks that a read returns only the file that was
// listed.
func TestFilesThatAreReplacedAreNotRead(t *testing.T) {
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o666) }
	old := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		change func(dir string) error
		fails  bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"a file is written to": {func(dir string) error {
			return write(filepath.Join(dir, "in/b.txt"), "new")
		}, true},
		"a file takes the name": {func(dir string) error {
			return errors.Join(write(filepath.Join(dir, "b.txt"), "new"), os.Rename(filepath.Join(dir, "b.txt"), filepath.Join(dir, "in/b.txt")))
		}, true},
		"a file of old takes the name": {func(dir string) error {
			from := filepath.Join(dir, "b.txt")
			return errors.Join(write(from, "new"), os.Chtimes(from, old, old), os.Rename(from, filepath.Join(dir, "in/b.txt")))
		}, true},
		"a directory that was there takes the name": {func(dir string) error {
			in := filepath.Join(dir, "in")
			return errors.Join(os.Rename(in, in+"-old"), os.Rename(filepath.Join(dir, "other"), in))
		}, true},
		"another file is added": {func(dir string) error {
			return write(filepath.Join(dir, "in/c.txt"), "new")
		}, false},
		"a file gets another name": {func(dir string) error {
			return os.Link(filepath.Join(dir, "in/b.txt"), filepath.Join(dir, "linked.txt"))
		}, false},
		"a file is of the future": {func(dir string) error {
			path := filepath.Join(dir, "in/b.txt")
			return errors.Join(os.Link(path, filepath.Join(dir, "linked.txt")), os.Chtimes(path, time.Now().Add(time.Hour), time.Now().Add(time.Hour)))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"in", "other"} {
				sub := filepath.Join(dir, name)
				if err := errors.Join(os.Mkdir(sub, 0o777), write(filepath.Join(sub, "a.txt"), name), write(filepath.Join(sub, "b.txt"), name)); err != nil {
					t.Fatal(err)
				}
			}
			ticked(t, time.Now())
			listing := dataset.NewListing()
			if err := listing.Dir(filepath.Join(dir, "in")); err != nil {
				t.Fatal(err)
			}
			a, b := filepath.Join(dir, "in/a.txt"), filepath.Join(dir, "in/b.txt")
			if v, err := listing.File(a, nil).Value(t.Context()); err != nil || v != "in" {
				t.Fatal(v, err)
			}
			ticked(t, time.Now())
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			_, valueErr := listing.File(b, nil).Value(t.Context())
			_, digestErr := listing.File(b, nil).Digest(t.Context())
			for _, err := range []error{valueErr, digestErr} {
				if errors.Is(err, dataset.ErrChanged) != c.fails || c.fails && !strings.Contains(err.Error(), b) || !c.fails && err != nil {
					t.Errorf("the error is %v", err)
				}
			}
		})
	}
}

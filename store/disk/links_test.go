package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/store/disk"
)

// TestNothingIsSweptBehindLinks checks that files behind a link in the store's directory are not swept.
func TestNothingIsSweptBehindLinks(t *testing.T) {
	for _, name := range []string{"packs", "blobs", "manifests", "trash", "tmp", "quarantine", "touch"} {
		t.Run(name, func(t *testing.T) {
			dir, other := t.TempDir(), t.TempDir()
			precious := filepath.Join(other, "sub", "precious")
			if err := os.MkdirAll(filepath.Dir(precious), 0o777); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{precious, filepath.Join(other, "a")} {
				if err := os.WriteFile(file, []byte("years"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			use := func() {
				s, err := disk.Open(disk.Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Collect(t.Context(), 0); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			use()
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			use()
			use()
			for _, file := range []string{precious, filepath.Join(other, "a")} {
				if b, err := os.ReadFile(file); err != nil || string(b) != "years" {
					t.Errorf("%s: %q, %v", file, b, err)
				}
			}
			if entries, err := os.ReadDir(other); err != nil || len(entries) != 2 {
				t.Errorf("the directory has %v, %v", entries, err)
			}
		})
	}
}

package disk_test

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
)

// storeDirs are the names of directories in a store.
var storeDirs = []string{"packs", "blobs", "blobs/ab", "manifests", "trash", "tmp", "quarantine", "touch"}

// sow puts old files of a user into a directory.
func sow(t *testing.T, dir string, names ...string) map[string]string {
	t.Helper()
	sown := make(map[string]string)
	old := time.Now().Add(-9 * 24 * time.Hour)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(name), 0o666), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		sown[path] = name
	}
	return sown
}

func checkSown(t *testing.T, sown map[string]string) {
	t.Helper()
	for path, want := range sown {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			b, rerr := os.ReadFile(path)
			all[path], err = string(b), rerr
		} else if err == nil {
			all[path] = e.Type().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestForeignDirectoriesAreRefused checks that a directory with names like those of a store is refused and stays unchanged.
func TestForeignDirectoriesAreRefused(t *testing.T) {
	cases := map[string][]string{"a mark of something else": {"FORMAT", "CACHEDIR.TAG", "README"}, "leases": {"leases"}}
	for _, name := range storeDirs {
		cases[name] = []string{"packs/.keep", name + "/mine.txt", "tmp/0123456789abcdef.1"}
	}
	for what, names := range cases {
		for _, readOnly := range []bool{false, true} {
			dir := t.TempDir()
			sow(t, dir, names...)
			before := tree(t, dir)
			s, err := disk.Open(disk.Options{Dir: dir, ReadOnly: readOnly})
			if !errors.Is(err, store.ErrForeign) {
				t.Errorf("%s: Open: %v, want ErrForeign", what, err)
			}
			if err == nil {
				_ = s.Close() // reported above
			}
			if after := tree(t, dir); !maps.Equal(before, after) {
				t.Errorf("%s: %v became %v", what, before, after)
			}
		}
	}
}

// TestForeignFilesInAStoreStay checks that files with names that a store does not use are never swept.
func TestForeignFilesInAStoreStay(t *testing.T) {
	dir := t.TempDir()
	use := func() {
		s, err := disk.Open(disk.Options{Dir: dir, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			r := store.Record{Key: key.Key(key.DigestOf([]byte{byte(i)})), Payload: make([]byte, 1000)}
			if err := s.Put(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
		for _, err := range s.Manifests(t.Context()) {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Collect(t.Context(), 0); err != nil {
			t.Error(err)
		}
		// Damaged files are quarantined, and the quarantine trimmed.
		if err := os.WriteFile(filepath.Join(dir, "touch", "0123456789abcdef.touch"), make([]byte, 100_000), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	use()
	names := []string{"mine.txt", "tmp/my.1", "packs/mine.idx", "touch/mine.touch", "packs/directory/mine.txt"}
	for _, name := range storeDirs {
		names = append(names, name+"/mine.txt", name+"/mine", name+"/a directory/mine.txt")
	}
	sown := sow(t, dir, names...)
	for range 3 {
		use()
	}
	checkSown(t, sown)
}

// TestDeletedDirectoryIsMarkedAgain checks that a directory that was deleted while in use becomes a store again when it is
// next opened.
func TestDeletedDirectoryIsMarkedAgain(t *testing.T) {
	for _, size := range []int{10, 1 << 20} {
		dir := filepath.Join(t.TempDir(), "store")
		s, err := disk.Open(disk.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		r := store.Record{Key: key.Key(key.DigestOf(nil)), Payload: make([]byte, size)}
		if err := s.Put(t.Context(), r); err != nil {
			t.Error(err)
		}
		other, err := disk.Open(disk.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Get(t.Context(), r.Key); err != nil {
			t.Error(err)
		}
		if err := errors.Join(s.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	}
}

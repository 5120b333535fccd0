package images_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/images"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.png", "a.JPG", "note.txt", ".hidden.png", "a/b.png", "a-b/c.gif", ".git/x.png"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("not read"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	for recursive, want := range map[bool][]string{
		false: {"a.JPG", "b.png"},
		true:  {"a/b.png", "a-b/c.gif", "a.JPG", "b.png"},
	} {
		ds, err := images.Open(t.Context(), dir, recursive, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for s, err := range dataset.All(t.Context(), ds) {
			if err != nil {
				t.Fatal(err)
			}
			it, err := s.Item("image")
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(dir, it.Origin().(*dataset.FileOrigin).Path())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if !slices.Equal(got, want) {
			t.Errorf("recursive %v: %q, want %q", recursive, got, want)
		}
	}
	if _, err := images.Open(t.Context(), filepath.Join(dir, "none"), false, nil); err == nil {
		t.Error("a missing folder was opened")
	}
}

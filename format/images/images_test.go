package images_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/images"
)

// parent creates a directory of the given files, none of which can be decoded.
func parent(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("not read"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// paths returns the path of each sample's image relative to dir, after its label.
func paths(t testing.TB, dir string, ds component.Samples) (all []string) {
	t.Helper()
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
		rel = filepath.ToSlash(rel)
		if label, err := s.Value(t.Context(), "label"); err == nil {
			rel = label.(string) + ": " + rel
		}
		all = append(all, rel)
	}
	return all
}

func TestOpen(t *testing.T) {
	dir := parent(t, "b.png", "a.JPG", "note.txt", ".hidden.png", "a/b.png", "a-b/c.gif", ".git/x.png", "x.png.txt", "png")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "directory.png"), 0o777), os.Symlink("directory.png", filepath.Join(dir, "link.png")),
		os.Symlink("b.png", filepath.Join(dir, "c.png")), os.Symlink(".", filepath.Join(dir, "a", "loop"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		source images.Source
		want   []string
	}{
		{images.Source{}, []string{"a.JPG", "b.png", "c.png"}},
		{images.Source{Recursive: true}, []string{"a/b.png", "a-b/c.gif", "a.JPG", "b.png", "c.png"}},
		{images.Source{Recursive: true, Ext: []string{".PNG"}}, []string{"a/b.png", "b.png", "c.png"}},
		{images.Source{Ext: []string{"txt"}}, []string{"note.txt", "x.png.txt"}},
		{images.Source{Ext: []string{}}, nil},
		{images.Source{Include: []string{"*.png"}}, []string{"b.png", "c.png"}},
		{images.Source{Recursive: true, Include: []string{"b.*", "a-b/**"}}, []string{"a/b.png", "a-b/c.gif", "b.png"}},
		{images.Source{Recursive: true, Exclude: []string{"a"}}, []string{"a-b/c.gif", "a.JPG", "b.png", "c.png"}},
		{images.Source{Recursive: true, Include: []string{"*.png", "*.gif"}, Exclude: []string{"a*/[bc].*"}}, []string{"b.png", "c.png"}},
		{images.Source{Recursive: true, Exclude: []string{"**"}}, nil},
	} {
		ds, err := c.source.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths(t, dir, ds); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.source, got, c.want)
		}
	}
	if _, err := (images.Source{}).Open(t.Context(), filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a missing directory was opened")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := (images.Source{}).Open(ended, dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestLabel(t *testing.T) {
	dir := parent(t, "vowels/a.png", "vowels/deep/e.png", "consonants/b.png")
	source := images.Source{Label: true}
	ds, err := source.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(t, dir, ds), []string{"consonants: consonants/b.png", "vowels: vowels/a.png", "vowels: vowels/deep/e.png"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "loose.png"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Open(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "loose.png") {
		t.Errorf("an image without a directory gives %v", err)
	}
}

// TestClass checks the numbers of labels, and that they are part of what samples depend on.
func TestClass(t *testing.T) {
	dir := parent(t, "b/1.png", "a/2.png", "b/3.png")
	classes := func(source images.Source) (all []any) {
		t.Helper()
		ds, err := source.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ds.Len() {
			s, err := ds.At(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Value(t.Context(), "class")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	if got, want := classes(images.Source{Class: true}), []any{int64(0), int64(1), int64(1)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := classes(images.Source{Class: true, Classes: []string{"c", "b", "a"}}), []any{int64(2), int64(1), int64(1)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	chunks := func(source images.Source) []dataset.Chunk {
		ds, err := source.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := dataset.Chunks(t.Context(), ds)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if reflect.DeepEqual(chunks(images.Source{Class: true}), chunks(images.Source{Class: true, Classes: []string{"b", "a"}})) {
		t.Error("other numbers give the same chunks")
	}
	for says, source := range map[string]images.Source{
		`label "b" is not in classes`: {Class: true, Classes: []string{"a"}},
		`"a" is listed twice`:         {Class: true, Classes: []string{"a", "b", "a"}},
		"set class: true":             {Classes: []string{"a"}},
		`file: item "class" exists`:   {Class: true, File: "class"},
	} {
		if _, err := source.Open(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", source, err, says)
		}
	}
}

// TestOrient checks that images are turned, and that a run warns once where they are not.
func TestOrient(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 8)), nil); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	turned := slices.Insert(b.Bytes(), 2, []byte(exif)...)
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".jpg")), turned, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, orient := range []bool{false, true} {
		var log bytes.Buffer
		ctx, end := dataset.WithRunLog(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		ds, err := images.Source{Orient: orient}.Open(ctx, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ds.Len() {
			s, err := ds.At(ctx, i)
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Value(ctx, "image")
			if err != nil {
				t.Fatal(err)
			}
			if again, err := ds.At(ctx, i); err != nil { // another item, which decodes the file again
				t.Fatal(err)
			} else if _, err := again.Value(ctx, "image"); err != nil {
				t.Fatal(err)
			}
			if size := v.(image.Image).Bounds().Size(); (size == image.Pt(8, 16)) != orient {
				t.Errorf("orient %v: the size is %v", orient, size)
			}
		}
		end()
		if text := log.String(); strings.Contains(text, "images=3") == orient || strings.Count(text, "orientation") > 1 {
			t.Errorf("orient %v: the log is %q", orient, text)
		}
	}
}

// TestOrderIsByPathElements checks the order for any directories.
func TestOrderIsByPathElements(t *testing.T) {
	element := rapid.StringMatching(`[a-b\-]{1,2}`)
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		var want [][]string
		for _, elements := range rapid.SliceOfNDistinct(rapid.SliceOfN(element, 1, 3), 0, 8, func(e []string) string { return strings.Join(e, "/") }).Draw(rt, "paths") {
			elements[len(elements)-1] += ".png"
			path := filepath.Join(dir, filepath.Join(elements...))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
				rt.Fatal(err)
			}
			want = append(want, elements)
		}
		slices.SortFunc(want, slices.Compare)
		ds, err := images.Source{Recursive: true}.Open(t.Context(), dir, nil)
		if err != nil {
			rt.Fatal(err)
		}
		got := paths(t, dir, ds)
		if len(got) != len(want) {
			rt.Fatalf("%q, want %q", got, want)
		}
		for i, p := range got {
			if p != strings.Join(want[i], "/") {
				rt.Fatalf("%q, want %q", got, want)
			}
		}
	})
}

// TestReplacedWhileItIsRead checks that images of a directory that replaced the listed one
// are not read.
func TestReplacedWhileItIsRead(t *testing.T) {
	dir := t.TempDir()
	in, next := filepath.Join(dir, "in"), filepath.Join(dir, "next")
	for _, f := range []string{in, next} {
		if err := errors.Join(os.MkdirAll(filepath.Join(f, "a"), 0o777), os.WriteFile(filepath.Join(f, "a/x.png"), []byte("x"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := images.Source{Recursive: true}.Open(t.Context(), in, nil)
	if err != nil || ds.Len() != 1 {
		t.Fatal(ds, err)
	}
	if err := errors.Join(os.Rename(in, in+"-old"), os.Rename(next, in)); err != nil {
		t.Fatal(err)
	}
	s, err := ds.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := s.Field("image")
	if _, err := f.Item.Bytes(t.Context()); !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), "x.png") {
		t.Errorf("the error is %v", err)
	}
}

// TestSamplesAreKnownByNames checks that names identify samples, as they give the label and
// the format of an image. The state of the file does not.
func TestSamplesAreKnownByNames(t *testing.T) {
	dir := parent(t, "vowels/a.png", "vowels/e.png")
	chunks := func(s images.Source) []dataset.Chunk {
		ds, err := s.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := dataset.Chunks(t.Context(), ds)
		if err != nil || len(all) != ds.Len() {
			t.Fatal(all, err)
		}
		return all
	}
	source := images.Source{Label: true}
	before := chunks(source)
	if before[0].Digest == chunks(images.Source{Recursive: true})[0].Digest {
		t.Error("an image without a label is one with it")
	}
	if err := os.Rename(filepath.Join(dir, "vowels/a.png"), filepath.Join(dir, "vowels/a.jpg")); err != nil {
		t.Fatal(err)
	}
	jpg := chunks(source)
	if jpg[0].Digest == before[0].Digest || jpg[1].Digest != before[1].Digest {
		t.Error("a JPEG is known as a PNG is")
	}
	if err := os.Rename(filepath.Join(dir, "vowels"), filepath.Join(dir, "letters")); err != nil {
		t.Fatal(err)
	}
	if chunks(source)[1].Digest == before[1].Digest {
		t.Error("a label is that of before")
	}
}

func TestPatterns(t *testing.T) {
	dir := parent(t, "a.png", "x/a.png", "x/y/a.png", "x/y/z/b.png", "w/y/c.png")
	for pattern, want := range map[string]string{
		"a.png":         "a.png x/a.png x/y/a.png",
		"*.png":         "a.png w/y/c.png x/a.png x/y/a.png x/y/z/b.png",
		"x/*.png":       "x/a.png",
		"x/**":          "x/a.png x/y/a.png x/y/z/b.png",
		"x/**/a.png":    "x/a.png x/y/a.png",
		"**/y/*":        "w/y/c.png x/y/a.png",
		"**/y/**/*.png": "w/y/c.png x/y/a.png x/y/z/b.png",
		"*/y/?.png":     "w/y/c.png x/y/a.png",
		"[wx]/y/[^b]*":  "w/y/c.png x/y/a.png",
		"x":             "",
	} {
		ds, err := images.Source{Recursive: true, Include: []string{pattern}}.Open(t.Context(), dir, nil)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if got := strings.Join(slices.Sorted(slices.Values(paths(t, dir, ds))), " "); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for says, s := range map[string]images.Source{
		`pattern "a//b"`:            {Exclude: []string{"a//b"}},
		`pattern "../*"`:            {Exclude: []string{"../*"}},
		"[ without ]":               {Include: []string{"a["}},
		"set recursive: true":       {Include: []string{"a/*.png"}},
		`file: item "image" exists`: {File: "image"},
		`file: item "label" exists`: {File: "label", Label: true},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", s, err, says)
		}
	}
}

// TestFile checks that samples name their file relative to the directory, and that this
// name identifies them.
func TestFile(t *testing.T) {
	dir := parent(t, "vowels/a.png", "b.png")
	source := images.Source{Recursive: true, File: "from"}
	open := func() component.Samples {
		ds, err := source.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ds
	}
	ds := open()
	for i, want := range []string{"map[name:b.png path:b.png]", "map[name:a.png path:vowels/a.png]"} {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Value(t.Context(), "from"); err != nil || fmt.Sprint(v) != want || !slices.Equal(s.Keys(), []string{"image", "from"}) {
			t.Errorf("sample %d: %v, %v, items %q", i, v, err, s.Keys())
		}
	}
	before, err := dataset.Chunks(t.Context(), ds)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "vowels/a.png"), filepath.Join(dir, "vowels/e.png")); err != nil {
		t.Fatal(err)
	}
	if after, err := dataset.Chunks(t.Context(), open()); err != nil || after[1].Digest == before[1].Digest || after[0].Digest != before[0].Digest {
		t.Errorf("a sample is known as one of a file of another name: %v", err)
	}
}

// TestPicks checks that Picks accepts exactly the files that the source lists.
func TestPicks(t *testing.T) {
	all := []string{"a.png", "b.JPG", "c.txt", ".d.png", "x/a.png", "x/.y/e.png", "x/y/f.webp", "w/log", "w/g.log"}
	dir := parent(t, all...)
	for _, s := range []images.Source{
		{}, {Recursive: true}, {Exclude: []string{"x", "*.JPG"}, Recursive: true}, {Include: []string{"x/**"}, Recursive: true},
		{Ext: []string{"log", ".PNG"}, Recursive: true}, {Exclude: []string{"x/y/*"}, Recursive: true},
	} {
		ds, err := s.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		listed := paths(t, dir, ds)
		for _, file := range all {
			if picks := s.Picks(file); picks != slices.Contains(listed, file) {
				t.Errorf("%+v: %s: picked is %v, and listed are %v", s, file, picks, listed)
			}
		}
	}
	if s := (images.Source{Label: true}); !s.Picks("x/a.png") || s.Picks("x/a.txt") {
		t.Error("where directories are labels, images in directories are picked")
	}
}

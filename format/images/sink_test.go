package images_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/images"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/pool"
)

// pictures returns a dataset of n images of noise, with labels.
func pictures(n int, ext string) component.Samples {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		img := image.NewRGBA(image.Rect(0, 0, 32, 32))
		for k := range img.Pix {
			img.Pix[k] = uint8(k * (k + i) * 7)
		}
		img.SetRGBA(0, 0, color.RGBA{uint8(i), 0, 0, 255})
		return dataset.NewSample(
			dataset.Field{Key: "image", Item: dataset.NewItem(ext, img)},
			dataset.Field{Key: "label", Item: dataset.NewItem("json", []any{"odd", "even"}[(i+1)%2])},
			dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))},
		), nil
	})
}

func write(t *testing.T, s images.Sink, in component.Data) (*dataset.NodeStats, error) {
	t.Helper()
	env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
	return env.Stats, s.Write(t.Context(), env, in)
}

// tree lists the files below a directory, with their sizes and file identities.
func tree(t *testing.T, dir string) (names []string, states map[string]os.FileInfo) {
	t.Helper()
	states = map[string]os.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		states[filepath.ToSlash(name)], err = e.Info()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, states
}

// TestWriteImages checks names by number or expression, the original or another format, and
// reading them back.
func TestWriteImages(t *testing.T) {
	root := t.TempDir()
	for i, c := range []struct {
		sink images.Sink
		in   component.Data
		want string
	}{
		{images.Sink{}, component.One(pictures(11, "png")), ".larder-images.json 00.png 01.png 02.png 03.png 04.png 05.png 06.png 07.png 08.png 09.png 10.png"},
		{images.Sink{Name: `label + "/i" + string(n)`}, component.One(pictures(3, "bmp")), ".larder-images.json even/i0.bmp even/i2.bmp odd/i1.bmp"},
		{images.Sink{Format: "jpg"}, component.One(pictures(2, "png")), ".larder-images.json 0.jpg 1.jpg"},
		{images.Sink{}, component.Data{Names: []string{"a", "b"}, Parts: []component.Samples{pictures(1, "png"), pictures(2, "png")}}, ".larder-images.json a/0.png b/0.png b/1.png"},
		{images.Sink{}, component.One(pictures(0, "png")), ".larder-images.json"},
	} {
		dir := filepath.Join(root, fmt.Sprint(i), "out")
		c.sink.Path = component.Path(dir)
		if _, err := write(t, c.sink, c.in); err != nil {
			t.Errorf("%+v: %v", c.sink, err)
			continue
		}
		if names, _ := tree(t, dir); strings.Join(names, " ") != c.want {
			t.Errorf("%+v: %q, want %q", c.sink, names, c.want)
		}
	}
	back, err := images.Source{Label: true, File: "from"}.Open(t.Context(), filepath.Join(root, "1/out"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"even 0", "even 2", "odd 1"} {
		s, err := back.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(t.Context(), "image")
		if err != nil {
			t.Fatal(err)
		}
		label, _ := s.Value(t.Context(), "label")
		red, _, _, _ := v.(image.Image).At(0, 0).RGBA()
		if got := fmt.Sprint(label, " ", red>>8); got != want {
			t.Errorf("sample %d is %s, want %s", i, got, want)
		}
	}
}

// TestQuality checks the quality of JPEG, whatever the encoding of the image.
func TestQuality(t *testing.T) {
	size := func(ext string, quality int) int64 {
		dir := filepath.Join(t.TempDir(), "out")
		if _, err := write(t, images.Sink{Path: component.Path(dir), Format: "jpg", Quality: quality}, component.One(pictures(1, ext))); err != nil {
			t.Fatal(err)
		}
		_, states := tree(t, dir)
		return states["0.jpg"].Size()
	}
	for _, ext := range []string{"png", "jpg"} {
		if low, middle, high := size(ext, 5), size(ext, 0), size(ext, 98); low >= middle || middle >= high {
			t.Errorf("of %s: %d, %d and %d bytes", ext, low, middle, high)
		}
	}
}

// TestImagesAppearCompleteOrNotAtAll checks that a failure writes nothing, and keeps the
// old output.
func TestImagesAppearCompleteOrNotAtAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sink := images.Sink{Path: component.Path(dir), Overwrite: output.Replace}
	if _, err := write(t, sink, component.One(pictures(4, "png"))); err != nil {
		t.Fatal(err)
	}
	_, before := tree(t, dir)
	for says, c := range map[string]struct {
		sink images.Sink
		in   component.Samples
	}{
		"are both named even.png; make the expression name unique": {images.Sink{Name: "label"}, pictures(3, "png")},
		`"../x" is not a file path: part ".." is`:                  {images.Sink{Name: `"../x"`}, pictures(1, "png")},
		`part ".x" is`:                                        {images.Sink{Name: `"a/.x"`}, pictures(1, "png")},
		`"a//b" is not a file path: part "" is`:               {images.Sink{Name: `"a//b"`}, pictures(1, "png")},
		"name: expression n: is 0, an integer":                {images.Sink{Name: "n"}, pictures(1, "png")},
		`item "nn" not found; the sample has n, image, label`: {images.Sink{Name: "nn"}, pictures(1, "png")},
		`item "photo" not found`:                              {images.Sink{Item: "photo"}, pictures(1, "png")},
		"item label has format json, not an image":            {images.Sink{Item: "label"}, pictures(1, "png")},
		"item label: encode as png":                           {images.Sink{Item: "label", Format: "png"}, pictures(1, "png")},
	} {
		c.sink.Path, c.sink.Overwrite = sink.Path, output.Replace
		if _, err := write(t, c.sink, component.One(c.in)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "node out: sample ") {
			t.Errorf("%+v: the error is %v, want %q", c.sink, err, says)
		}
	}
	if stats, err := write(t, sink, component.One(pictures(4, "png"))); err != nil || stats.FromStore.Load() != 4 || stats.Computed.Load() != 0 || stats.BytesWritten.Load() != 0 {
		t.Errorf("of the same: %d written, %v", stats.Computed.Load(), err)
	}
	_, after := tree(t, dir)
	for name, was := range before {
		if !os.SameFile(was, after[name]) {
			t.Errorf("%s was written again, and is the same", name)
		}
	}
	if _, err := write(t, sink, component.One(pictures(2, "png"))); err != nil {
		t.Fatal(err)
	}
	if names, _ := tree(t, dir); !slices.Equal(names, []string{".larder-images.json", "0.png", "1.png"}) {
		t.Errorf("replaced, it has %q", names)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("left next to it: %v, %v", left, err)
	}
}

// TestImagesReplaceOnlyTheirs checks that a directory with any other file is not replaced.
func TestImagesReplaceOnlyTheirs(t *testing.T) {
	for what, lay := range map[string]func(dir string) error{
		"photos of another program": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "0.png"), []byte("mine"), 0o666))
		},
		"a file": func(dir string) error { return os.WriteFile(dir, []byte("mine"), 0o666) },
		"one more file": func(dir string) error {
			_, err := write(t, images.Sink{Path: component.Path(dir)}, component.One(pictures(1, "png")))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "note.txt"), []byte("mine"), 0o666))
		},
		"a mark without content": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, ".larder-images.json"), []byte("{"), 0o666))
		},
		"a link for a file": func(dir string) error {
			_, err := write(t, images.Sink{Path: component.Path(dir)}, component.One(pictures(1, "png")))
			return errors.Join(err, os.Remove(filepath.Join(dir, "0.png")), os.Symlink("/etc/passwd", filepath.Join(dir, "0.png")))
		},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := lay(dir); err != nil {
			t.Fatal(err)
		}
		names, _ := tree(t, dir)
		if _, err := write(t, images.Sink{Path: component.Path(dir), Overwrite: output.Replace}, component.One(pictures(2, "png"))); err == nil || !strings.Contains(err.Error(), "refusing to replace "+dir) {
			t.Errorf("%s: the error is %v", what, err)
		}
		if now, _ := tree(t, dir); !slices.Equal(now, names) {
			t.Errorf("%s became %q", what, now)
		}
		if _, err := write(t, images.Sink{Path: component.Path(dir)}, component.One(pictures(2, "png"))); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s, without replace: %v", what, err)
		}
	}
}

func TestSinkRefusesParameters(t *testing.T) {
	for says, s := range map[string]images.Sink{
		"is not a known extension": {Format: "xyz"},
		"webp":                     {Format: "webp"},
		"is not an image format":   {Format: "json"},
		"quality is 101":           {Format: "jpg", Quality: 101},
		"set format: jpg":          {Quality: 50},
		"unknown function \"f\"":   {Name: "f(n)"},
		"quality needs JPEG":       {Format: "png", Quality: 50},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", s, err, says)
		}
	}
}

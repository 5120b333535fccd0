package codec_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/codec"
)

// TestCheck checks that Decode refuses what Check refuses, with the same error, and that decodable files pass. Each
// codec of files refuses an empty file or accepts it.
func TestCheck(t *testing.T) {
	for _, ext := range []string{"json", "yaml", "csv", "txt", "npy", "npz", "png", "jpeg", "gif", "bmp", "tiff", "webp"} {
		c, _ := codec.ByExtension(ext)
		for _, b := range []string{"", "{", "[1, 2", "a: [", "a,b\n1,\"", "\xff\xfe", "\x93NUMPY\x01\x00", "PK\x03\x04", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF89a", "BM", "II*\x00", "RIFF"} {
			_, want := c.Decode([]byte(b))
			got := codec.Check(ext, []byte(b))
			if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
				t.Errorf("%s of %q: Check says %v, and Decode %v", ext, b, got, want)
			}
		}
	}
	if err := codec.Check("unknown", []byte("{")); err != nil {
		t.Errorf("of a format that is not known: %v", err)
	}
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // a directory
		}
		c, known := codec.ByExtension(filepath.Ext(file))
		if _, err := c.Decode(b); known && err == nil {
			if err := codec.Check(filepath.Ext(file), b); err != nil {
				t.Errorf("%s is read, and Check says %v", file, err)
			}
		}
	}
}

// TestCheckPassesOverSettings checks that an image above the pixel limit may be passed on.
func TestCheckPassesOverSettings(t *testing.T) {
	codec.MaxPixels.Store(1)
	defer codec.MaxPixels.Store(0)
	for _, ext := range []string{"png", "jpeg", "gif"} {
		files, _ := filepath.Glob("testdata/*/*." + ext)
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := codec.Check(ext, b); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

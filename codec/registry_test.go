package codec

import (
	"errors"
	"image"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

var decodeNothing = func([]byte) (any, error) { return nil, nil }

// registered holds the results of registrations from an init function, where the registry is still open.
var registered = map[string]error{}

func init() {
	try := func(what string, c Codec) { registered[what] = add(c) }
	try("good", Codec{Name: "test", Version: 2, Extensions: []string{"test", "tst"}, Decode: decodeNothing})
	try("name taken", Codec{Name: "test", Version: 1, Extensions: []string{"other"}, Decode: decodeNothing})
	try("extension taken", Codec{Name: "other", Version: 1, Extensions: []string{"x", "tst"}, Decode: decodeNothing})
	try("no name", Codec{Version: 1, Extensions: []string{"x"}, Decode: decodeNothing})
	try("a version below 0", Codec{Name: "x", Version: -1, Extensions: []string{"x"}, Decode: decodeNothing})
	try("no extension", Codec{Name: "x", Version: 1, Decode: decodeNothing})
	try("no Decode", Codec{Name: "x", Version: 1, Extensions: []string{"x"}})
	for _, ext := range []string{"", ".x", "X", "a/b", `a\b`} {
		try("extension "+ext, Codec{Name: "x", Version: 1, Extensions: []string{ext}, Decode: decodeNothing})
	}
}

// libraryReads makes the library of this test read all WebP images.
var libraryReads atomic.Bool

// used holds the results of calls of [Use].
var used = map[string]error{}

func init() {
	try := func(what string, l Library) { used[what] = Use(l) }
	read := func(_ []byte, c image.Config) (image.Image, bool) {
		return image.NewGray(image.Rect(0, 0, c.Width, c.Height)), libraryReads.Load()
	}
	try("good", Library{Format: "webp", ID: "fast/1/abc", Decode: read})
	try("again", Library{Format: "webp", ID: "fast/2/abc", Decode: read})
	try("no ID", Library{Format: "jpeg", Decode: read})
	try("no Decode", Library{Format: "jpeg", ID: "fast/1/abc"})
	try("no image", Library{Format: "json", ID: "fast/1/abc", Decode: read})
	try("unknown", Library{Format: "tga", ID: "fast/1/abc", Decode: read})
}

// TestLibrariesAreNamed checks that values that a library may have decoded have another name than those of the codec.
// The codec reads what the library does not.
func TestLibrariesAreNamed(t *testing.T) {
	for what, err := range used {
		if (err == nil) != (what == "good") {
			t.Errorf("%s: %v", what, err)
		}
	}
	c, _ := ByExtension("webp")
	if c.ID() != "webp by fast/1/abc" || c.Library != "fast/1/abc" {
		t.Errorf("the codec is %s", c.ID())
	}
	file, err := os.ReadFile("testdata/images/lossy.webp")
	if err != nil {
		t.Fatal(err)
	}
	for _, reads := range []bool{true, false} {
		libraryReads.Store(reads)
		v, err := c.Decode(file)
		if _, gray := v.(*image.Gray); err != nil || gray != reads {
			t.Errorf("it became a %T, %v; the library reads: %v", v, err, reads)
		}
	}
	libraryReads.Store(true)
	defer libraryReads.Store(false)
	MaxPixels.Store(1)
	defer MaxPixels.Store(0)
	if v, err := c.Decode(file); err == nil {
		t.Errorf("an image of more pixels than allowed became a %T", v)
	}
	if err := Use(Library{Format: "jpeg", ID: "late", Decode: func([]byte, image.Config) (image.Image, bool) { return nil, false }}); err == nil || !strings.Contains(err.Error(), "init function") {
		t.Errorf("a library after the first use: %v", err)
	}
}

func TestRegister(t *testing.T) {
	for what, err := range registered {
		if (err == nil) != (what == "good") {
			t.Errorf("%s: %v", what, err)
		}
	}
	c, ok := ByExtension("tst")
	if !ok || c.ID() != "test/2" || !c.ReadOnly {
		t.Errorf("%+v, %v", c, ok)
	}
	if _, err := c.Encode(nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("encoding a format that can only be read: %v", err)
	}
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "init") {
			t.Errorf("registering after the first use: %v", err)
		}
	}()
	Register(Codec{Name: "late", Version: 1, Extensions: []string{"late"}, Decode: decodeNothing})
}

func TestByExtension(t *testing.T) {
	for ext, want := range map[string]string{
		"jpeg": "jpeg", "jpg": "jpeg", "jfif": "jpeg", "jpe": "jpeg", "JPG": "jpeg", ".Jpg": "jpeg",
		"png": "png", "gif": "gif", "bmp": "bmp", "tif": "tiff", "tiff": "tiff", "webp": "webp",
		"json": "json", "yml": "yaml", "yaml": "yaml", "npy": "npy", "npz": "npz",
		"txt": "txt", "text": "txt", "csv": "csv", "bin": "raw", "raw": "raw",
	} {
		if c, ok := ByExtension(ext); !ok || c.Name != want {
			t.Errorf("%s: %s, %v", ext, c.Name, ok)
		}
	}
	for _, ext := range []string{"", ".", "pkl", "tar.gz", "..png"} {
		c, ok := ByExtension(ext)
		if ok || c.Name != Raw.Name {
			t.Errorf("%q: %s, %v", ext, c.Name, ok)
		}
		if v, err := c.Decode([]byte("x")); err != nil || string(v.([]byte)) != "x" {
			t.Errorf("%q: %v, %v", ext, v, err)
		}
	}
}

func TestAllAreComplete(t *testing.T) {
	all := All()
	if len(all) != 14 || !slices.IsSortedFunc(all, func(a, b Codec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d codecs", len(all))
	}
	for _, c := range all {
		if c.Encode == nil || c.Decode == nil {
			t.Errorf("%s: a function is missing", c.Name)
		}
		if _, err := c.Encode(make(chan int)); err == nil {
			t.Errorf("%s: wrote a channel", c.Name)
		}
	}
}

package codec

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var decodeNothing = func([]byte) (any, error) { return nil, nil }

// registered are the outcomes of registrations from an init function, where
// the registry is still open.
var registered = map[string]error{}

func init() {
	try := func(what string, c Codec) { registered[what] = Register(c) }
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
	err := Register(Codec{Name: "late", Version: 1, Extensions: []string{"late"}, Decode: decodeNothing})
	if err == nil || !strings.Contains(err.Error(), "init") {
		t.Errorf("registering after the first use: %v", err)
	}
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

package dataset

import (
	"image"
	"strings"
	"testing"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
)

// library represents a library of the machine, which reads nothing.
const library = "test/1/abc"

func init() {
	if err := codec.Use(codec.Library{Format: "webp", ID: library, Decode: func([]byte, image.Config) (image.Image, bool) { return nil, false }}); err != nil {
		panic(err)
	}
}

// TestLibrariesOfCodecs checks that a codec that decodes with a library is identified by
// this library and its own code, not by the build.
func TestLibrariesOfCodecs(t *testing.T) {
	ids, err := codecIDs(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	build, err := key.Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]bool{"webp": true, "jpeg": false} {
		id := ids[name]
		if id.err != nil || strings.Contains(id.text, build.ID) || strings.Contains(id.text, library) != by {
			t.Errorf("%s is identified by %s, %v", name, id.text, id.err)
		}
	}
}

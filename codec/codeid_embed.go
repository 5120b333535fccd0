package codec

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Pure: []string{
	// Accepted values do not depend on these limits; the rest is an error, and errors are
	// not cached.
	"github.com/larder-data/larder/codec.MaxItem", "github.com/larder-data/larder/codec.MaxPixels", "github.com/larder-data/larder/codec.MaxUnpacked", "github.com/larder-data/larder/codec.StrictYAML",
	"github.com/larder-data/larder/codec.deflaters", // a reset deflate writer is as good as a new one
	"github.com/klauspost/compress/...",
	"golang.org/x/image/...",
	"go.yaml.in/yaml/...",
}})

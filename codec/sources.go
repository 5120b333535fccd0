package codec

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files, source.Options{Pure: []string{
	// What these let pass is the same whatever they are; the rest is an error, and no error is kept.
	"github.com/larder-data/larder/codec.MaxItem", "github.com/larder-data/larder/codec.MaxPixels", "github.com/larder-data/larder/codec.MaxUnpacked", "github.com/larder-data/larder/codec.StrictYAML",
	"github.com/larder-data/larder/codec.deflaters", // a writer of deflate that was reset is as good as new
	"github.com/klauspost/compress/...",
	"golang.org/x/image/...",
	"go.yaml.in/yaml/...",
}})

package codec

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files, source.Options{Pure: []string{
	"github.com/larder-data/larder/codec.MaxPixels", // what is too large is an error, and no error is kept
	"golang.org/x/image/...",
	"go.yaml.in/yaml/...",
}})

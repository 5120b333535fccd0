// Package partial registers one of its two files.
package partial

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed files.go partial.go
var files embed.FS

var _ = source.Register(files)

package pyfunction

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files)

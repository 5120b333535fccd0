// Package units is part of a module that the program replaces by a folder.
package units

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

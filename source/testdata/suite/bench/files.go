// Package bench is part of a program whose sources are edited by a test.
package bench

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files)

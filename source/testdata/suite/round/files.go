// Package round is part of a program whose sources are edited by a test.
package round

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files)

// Package shape is part of a program whose sources are edited by a test.
// Its folder is not named like it.
package shape

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

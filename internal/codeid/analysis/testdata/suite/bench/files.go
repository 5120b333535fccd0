// Package bench is part of a program whose sources are edited by a test.
package bench

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

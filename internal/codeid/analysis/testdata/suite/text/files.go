// Package text is part of a program whose sources are edited by a test.
package text

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go words.txt phrases
var files embed.FS

var _ = codeid.Register(files)

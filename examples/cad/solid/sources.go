package solid

import (
	"embed"

	"github.com/larder-data/larder/source"
)

// The embedded sources identify the code: a result is computed again if and only if its
// code has changed.
//
//go:embed *.go
var files embed.FS

// The number of processors does not change results.
var _ = source.Register(files, source.Options{Pure: []string{"runtime.GOMAXPROCS"}})

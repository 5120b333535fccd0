package solid

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

// The embedded sources identify the code: a result is computed again if and only if its
// code has changed.
//
//go:embed *.go
var files embed.FS

// The number of processors does not change results.
var _ = codeid.Register(files, codeid.Options{Pure: []string{"runtime.GOMAXPROCS"}})

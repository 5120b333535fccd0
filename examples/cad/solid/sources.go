package solid

import (
	"embed"

	"github.com/larder-data/larder/source"
)

// The sources make the code known: a result is computed again when the code
// that makes it has changed, and only then.
//
//go:embed *.go
var files embed.FS

// How many processors share the work does not change what comes out.
var _ = source.Register(files, source.Options{Pure: []string{"runtime.GOMAXPROCS"}})

package process

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files, source.Options{Pure: []string{
	// Whom it ends changes no result.
	"os", "path/filepath", "syscall",
}})

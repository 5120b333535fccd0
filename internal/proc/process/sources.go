package process

import (
	"embed"

	"github.com/larder-data/larder/source"
)

//go:embed *.go
var files embed.FS

var _ = source.Register(files, source.Options{Pure: []string{
	// The ended processes do not affect results.
	"os", "path/filepath", "syscall",
}})

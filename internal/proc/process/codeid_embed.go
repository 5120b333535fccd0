package process

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Pure: []string{
	// The ended processes and shared memory do not affect results.
	"os", "path/filepath", "syscall", "golang.org/x/sys/unix",
}})

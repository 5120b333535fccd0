package python

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Pure: []string{
	// The management of workers does not change a result.
	"github.com/larder-data/larder/internal/app/python.crews",
	"github.com/larder-data/larder/internal/proc/process", "github.com/larder-data/larder/pool.Wait",
	"context", "os", "os/exec", "runtime", "syscall", "time", "golang.org/x/sys/unix",
}})

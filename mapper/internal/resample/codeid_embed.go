package resample

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Pure: []string{
	"golang.org/x/image/draw", "golang.org/x/sys/cpu",
	"github.com/larder-data/larder/mapper/internal/resample.fast",    // the numbers are the same either way
	"github.com/larder-data/larder/mapper/internal/resample.buffers", // its old content is not read
}})

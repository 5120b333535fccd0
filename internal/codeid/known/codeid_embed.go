package known

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

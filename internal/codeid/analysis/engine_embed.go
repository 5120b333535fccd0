package analysis

import (
	"embed"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/key"
)

//go:embed *.go
var files embed.FS

// ownPackages returns the packages of Larder that functions may call but that cannot
// register their sources themselves, because this package imports them.
func ownPackages() []*registration {
	return []*registration{
		{path: engine + "/key", files: key.Sources},
		{path: engine + "/array", files: array.Sources},
		{path: engine + "/codeid", files: codeid.Sources},
		{path: engine + "/internal/codeid/analysis", files: files},
	}
}

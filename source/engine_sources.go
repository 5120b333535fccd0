package source

import (
	"embed"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/key"
)

//go:embed *.go
var files embed.FS

// ownPackages returns the packages of Larder that functions may call but that cannot
// register their sources themselves, because this package imports them.
func ownPackages() []*Package {
	return []*Package{
		{path: engine + "/key", files: key.Sources},
		{path: engine + "/array", files: array.Sources},
		{path: engine + "/source", files: files},
	}
}

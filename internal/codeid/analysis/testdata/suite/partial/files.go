// Package partial registers all that is in its folder.
package partial

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *
var files embed.FS

var _ = codeid.Register(files)

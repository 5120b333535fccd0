package key

import "embed"

// Sources are the sources of this package, for package source: programs that
// are built with an edited Larder are other programs.
//
//go:embed *.go
var Sources embed.FS

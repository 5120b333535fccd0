package codeid

import "embed"

// Sources are the sources of this package. A program that is built with an edited Larder is
// another program.
//
//go:embed *.go
var Sources embed.FS

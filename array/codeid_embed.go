package array

import "embed"

// Sources are the sources of this package, for internal/codeid/analysis. A program that is built
// with an edited Larder is another program.
//
//go:embed *.go
var Sources embed.FS

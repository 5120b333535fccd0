// Package codeid registers the sources of packages, by which Larder identifies Go functions.
//
// The identity of a function is a digest of its declaration and of every declaration that it
// can reach in the program, without comments and layout. Larder finds them in sources
// embedded in the program, so it needs no tool and the sources are those of the build. Each
// package whose functions are to be identified registers its sources, by convention in a
// file codeid_embed.go:
//
//	//go:embed *.go
//	var files embed.FS
//	var _ = codeid.Register(files)
//
// An identity is precise only if everything that the function reaches is understood.
// Otherwise the whole program identifies the function. A function is refused, with the path,
// if it depends on what no code shows: clocks, random numbers, the environment, files,
// variables that change while the program runs. docs/internals/code-identity-go.md has the
// rules.
//
// A declaration is anything declared at package level. Packages of the standard library
// count by the version of the toolchain and their known effects; packages of versioned
// modules count by that version, if they are declared as pure.
//
// A function with a line
//
//	//larder:version 3
//
// in its doc comment is a boundary: it counts by its signature and that version, so its
// body can change without recomputing its callers.
package codeid

import (
	"io/fs"
	"runtime"
	"slices"
	"sync"
)

// Options are assumptions about packages, and inputs.
type Options struct {
	// Pure lists what may be reached although it is impure or unknown, because results
	// depend only on its arguments: functions and variables ("time.Now",
	// "example.com/m/pkg.Limit"), packages ("golang.org/x/image/draw"), or all packages
	// below a path ("golang.org/x/image/...").
	Pure []string
	// Inputs are pointers to package variables, written as such ([]any{&Limit,
	// &config.Default}). The value at the time of a call becomes part of the key of each
	// function that reads the variable, like an argument. So it may change, or come from
	// the environment.
	Inputs []any
}

// A Package is a package that registered its sources. It must not be changed.
type Package struct {
	Symbol  string // the function that called [Register], as named in the executable
	File    string // the file of that call, as named in the executable
	Files   fs.FS
	Options Options
}

var registry struct {
	sync.Mutex
	packages []*Package
}

// Register registers the sources of the calling package. Each package calls it once, as the
// value of a package variable; files holds all its .go files at the top. If functions read
// other embedded files through variables, the same pattern must embed these files in files.
func Register(files fs.FS, o ...Options) *Package {
	pc, file, _, _ := runtime.Caller(1)
	p := &Package{Symbol: runtime.FuncForPC(pc).Name(), File: file, Files: files}
	for _, o := range o {
		p.Options.Pure = append(p.Options.Pure, o.Pure...)
		p.Options.Inputs = append(p.Options.Inputs, o.Inputs...)
	}
	registry.Lock()
	defer registry.Unlock()
	registry.packages = append(registry.packages, p)
	return p
}

// Packages returns the registered packages in the order of their registration. The slice
// must not be changed.
func Packages() []*Package {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clip(registry.packages)
}

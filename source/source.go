// Package source identifies Go functions by their source.
//
// The identity of a function is a digest of its closure: its declaration and every
// declaration that it can reach in the program, without comments and layout. The type
// checker finds the closure in sources embedded in the program, so it needs no tool and is
// never out of date. Each package whose functions are to be identified registers its
// sources:
//
//	//go:embed *.go
//	var files embed.FS
//	var _ = source.Register(files)
//
// A closure is precise only if everything in it is understood. Otherwise the whole program
// identifies the function. A function is refused, with the path, if it depends on what no
// code shows: clocks, random numbers, the environment, files, variables that change while
// the program runs. docs/internals/code-identity-go.md has the rules.
//
// A declaration is anything declared at package level. Packages of the standard library
// count by the version of the toolchain, and package std describes their effects; packages
// of versioned modules count by that version, if they are declared as pure.
//
// A function with a line
//
//	//larder:version 3
//
// in its doc comment is a boundary: it counts by its signature and that version, so its
// body can change without recomputing its callers.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/internal/values/executable"
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

// A Package is a package with known sources.
type Package struct {
	path    string
	dir     string // as recorded in the executable
	main    bool
	files   fs.FS
	options Options
	beside  bool // not registered: its files are among those of the package that it tests
	names   namesakes
}

var registry struct {
	sync.Mutex
	packages []*Package
	programs map[bool]*parsedProgram // as seen by Larder's own functions, and by others; made at first use, from the packages registered until then
	held     held
}

// Register registers the sources of the calling package. Each package calls it once, as the
// value of a package variable; files holds all its .go files at the top. If functions read
// other embedded files through variables, the same pattern must embed these files in files.
func Register(files fs.FS, o ...Options) *Package {
	pc, file, _, _ := runtime.Caller(1)
	symbol := runtime.FuncForPC(pc).Name()
	path, _ := executable.Package(symbol, file)
	name, _ := executable.Split(symbol)
	p := &Package{path: path, dir: folderOf(file), main: name == "main", files: files}
	for _, o := range o {
		p.options.Pure = append(p.options.Pure, o.Pure...)
		p.options.Inputs = append(p.options.Inputs, o.Inputs...)
	}
	registry.Lock()
	defer registry.Unlock()
	registry.packages = append(registry.packages, p)
	registry.programs = nil
	return p
}

// known returns the registered package with a path, or nil.
func known(path string) *Package {
	registry.Lock()
	defer registry.Unlock()
	for _, p := range registry.packages {
		if p.path == path {
			return p
		}
	}
	return nil
}

// folderOf returns the directory of a file, as named in the executable.
func folderOf(file string) string { return file[:max(strings.LastIndexByte(file, '/'), 0)] }

// holder returns the package of a literal in a file. The compiler names a literal after the
// package into which it inlined the enclosing function, which may be another one.
func holder(named, file string) string {
	registry.Lock()
	defer registry.Unlock()
	dir, of, tested := folderOf(file), "", strings.TrimSuffix(named, testOf)
	for _, p := range registry.packages {
		switch {
		case p.dir != dir:
			continue
		case p.path != tested && p.path != tested+testOf:
		case strings.HasSuffix(file, "_test.go"):
			return named
		default:
			return tested
		}
		if of == "" || strings.HasSuffix(of, testOf) { // tests of a package are in its directory
			of = p.path
		}
	}
	switch {
	case of != "":
		return of
	case slices.ContainsFunc(registry.packages, func(p *Package) bool { return p.path == named }):
		return dir // of an unregistered package
	}
	return named
}

// loaded returns the registered program, parsed at first use, as far as it concerns
// functions of the wanted package.
func loaded(wanted string) (*parsedProgram, error) {
	registry.Lock()
	defer registry.Unlock()
	own := ofLarder(wanted)
	registry.held.asks()
	if registry.programs[own] == nil {
		list := slices.Clone(registry.packages)
		if !slices.ContainsFunc(list, func(p *Package) bool { return p.path == engine+"/key" }) {
			list = append(list, ownPackages()...)
		}
		p, err := load(list, thisBuild(), wanted)
		if err != nil {
			return nil, err
		}
		p.startsAgain(registry.held.started)
		if registry.programs == nil {
			registry.programs = map[bool]*parsedProgram{}
		}
		registry.programs[own] = p
	}
	return registry.programs[own], nil
}

// Surroundings lists what identities depend on in addition to the build: the registered
// packages, their declarations as Options, and the relevant settings in the environment.
func Surroundings() []string {
	debug := os.Getenv("GODEBUG")
	settings.CompareAndSwap(nil, &debug)
	registry.Lock()
	defer registry.Unlock()
	var list []string
	for _, p := range registry.packages {
		list = append(list, p.path+" "+strings.Join(p.options.Pure, ","))
	}
	slices.Sort(list)
	return append(list, "GODEBUG="+os.Getenv("GODEBUG"), zone())
}

// errStarting is returned while init functions run.
var errStarting = errors.New("source: init functions of the program still run, so that package variables may not have their values yet, and no key says which they have: compute this when main has begun")

// settings is the GODEBUG at the first identification of a function.
var settings atomic.Pointer[string]

// Steady returns an error if GODEBUG, which changes the behaviour of the standard library,
// differs from its value at the first identification. It also returns an error while init
// functions run, because package variables may not have their values yet.
func Steady() error {
	if !executable.Started() {
		return errStarting
	}
	if s, now := settings.Load(), os.Getenv("GODEBUG"); s != nil && *s != now {
		return fmt.Errorf("source: GODEBUG is %q by now and was %q when functions were identified: set it before the first is used, or when the program is started", now, *s)
	}
	return nil
}

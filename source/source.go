// Package source identifies Go functions by their source.
//
// The identity of a function is a digest of its closure: its own declaration
// and every declaration of the program that it can reach, over packages,
// without comments and layout. It is found by the type checker in sources that
// the program carries in itself, so it needs no tool and cannot be out of date.
// Each package whose functions are to be known registers its sources:
//
//	//go:embed *.go
//	var files embed.FS
//	var _ = source.Register(files)
//
// A closure is precise only where that is proved: where everything in it is
// understood. If something is not, the function is known by the whole program.
// If it depends on what no code can tell (clocks, random numbers, the
// environment, files, variables that change while the program runs) it is
// refused, with the way to it. docs/internals/code-identity-go.md has the rules.
//
// A declaration is anything declared at package level. Packages of the
// standard library count by the version of the toolchain, and package std says
// what they do; packages of modules with a version count by that version, if
// they are declared to be pure.
//
// A function with a line
//
//	//larder:version 3
//
// in its doc comment is a boundary: it counts by its signature and that
// version, so its body can change without its callers being computed again.
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

// Options say what to take for granted, and what is an input.
type Options struct {
	// Pure lists what may be reached although it is impure or unknown, because
	// results do not depend on what it does beyond its arguments: functions and
	// variables ("time.Now", "example.com/m/pkg.Limit"), packages
	// ("golang.org/x/image/draw"), or all packages below a path
	// ("golang.org/x/image/...").
	Pure []string
	// Inputs are pointers to package variables, written as such
	// ([]any{&Limit, &config.Default}). The value that one has when a function
	// is called becomes part of the key of each function that reads it, as if
	// it were an argument; so it may change, or come from the environment.
	Inputs []any
}

// A Package is a package whose sources are known.
type Package struct {
	path    string
	dir     string // as the executable has it
	main    bool
	files   fs.FS
	options Options
	beside  bool // it is not registered: its files lie among those of the package that it tests
	names   namesakes
}

var registry struct {
	sync.Mutex
	packages []*Package
	programs map[bool]*parsedProgram // as functions of Larder's own packages see it, and others; made at first use, of what was registered until then
	held     held
}

// Register makes the sources of the calling package known. It is called once
// by each package, as the value of a package variable; files holds all its
// .go files at the top. Files that other variables of the package embed must be
// embedded by the same pattern too where functions read those variables.
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

// known returns the registered package of that path, or nil.
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

// folderOf is the folder of a file, as the executable names files.
func folderOf(file string) string { return file[:max(strings.LastIndexByte(file, '/'), 0)] }

// holder returns the package that a literal in a file is of. The compiler names a literal
// by the package into which it put the function around it, which may be another one.
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
		if of == "" || strings.HasSuffix(of, testOf) { // tests of a package lie beside it
			of = p.path
		}
	}
	switch {
	case of != "":
		return of
	case slices.ContainsFunc(registry.packages, func(p *Package) bool { return p.path == named }):
		return dir // it is of one that does not register
	}
	return named
}

// loaded returns the program as registered, parsed on first use, as far as functions
// of one package can have to do with it.
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

// Surroundings lists what identities depend on beside the build itself: what is
// registered, with what each package declares, and the settings in the
// environment that count.
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

// settings is what GODEBUG was when a function was first identified.
var settings atomic.Pointer[string]

// Steady reports an error if GODEBUG, by which the standard library changes what
// it does at any time, is not what it was when the first function was identified, and
// while init functions run, as package variables may not have their values yet.
func Steady() error {
	if !executable.Started() {
		return errStarting
	}
	if s, now := settings.Load(), os.Getenv("GODEBUG"); s != nil && *s != now {
		return fmt.Errorf("source: GODEBUG is %q by now and was %q when functions were identified: set it before the first is used, or when the program is started", now, *s)
	}
	return nil
}

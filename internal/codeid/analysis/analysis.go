// Package analysis identifies Go functions by their source.
//
// The identity of a function is a digest of its closure: its declaration and every
// declaration that it can reach in the program, without comments and layout. The type
// checker finds the closure in the sources that packages registered with package codeid,
// which has the rules for users. Package std describes the effects of the standard library.
package analysis

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/internal/values/executable"
)

// A registration is a package with known sources.
type registration struct {
	path    string
	dir     string // as recorded in the executable
	main    bool
	files   fs.FS
	options codeid.Options
	also    bool // not registered: its files are among those of the package that it tests
	names   namesakes
}

var registry struct {
	sync.Mutex
	taken    int // how many of the packages of codeid are among packages
	packages []*registration
	programs map[bool]*parsedProgram // as seen by Larder's own functions, and by others; made at first use, from the packages registered until then
	held     held
}

// registrations returns the registered packages. After new registrations it drops the
// parsed programs. The caller holds the lock of the registry.
func registrations() []*registration {
	all := codeid.Packages()
	for _, p := range all[registry.taken:] {
		path, _ := executable.Package(p.Symbol, p.File)
		name, _ := executable.Split(p.Symbol)
		registry.packages = append(registry.packages, &registration{path: path, dir: dirOf(p.File), main: name == "main", files: p.Files, options: p.Options})
		registry.programs = nil
	}
	registry.taken = len(all)
	return registry.packages
}

// known returns the registered package with a path, or nil.
func known(path string) *registration {
	registry.Lock()
	defer registry.Unlock()
	for _, p := range registrations() {
		if p.path == path {
			return p
		}
	}
	return nil
}

// dirOf returns the directory of a file, as named in the executable.
func dirOf(file string) string { return file[:max(strings.LastIndexByte(file, '/'), 0)] }

// holder returns the package of a literal in a file. The compiler names a literal after the
// package into which it inlined the enclosing function, which may be another one.
func holder(named, file string) string {
	registry.Lock()
	defer registry.Unlock()
	dir, of, tested := dirOf(file), "", strings.TrimSuffix(named, testOf)
	for _, p := range registrations() {
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
	case slices.ContainsFunc(registrations(), func(p *registration) bool { return p.path == named }):
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
	registered := registrations()
	if registry.programs[own] == nil {
		list := slices.Clone(registered)
		if !slices.ContainsFunc(list, func(p *registration) bool { return p.path == engine+"/key" }) {
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
	for _, p := range registrations() {
		list = append(list, p.path+" "+strings.Join(p.options.Pure, ","))
	}
	slices.Sort(list)
	return append(list, "GODEBUG="+os.Getenv("GODEBUG"), zone())
}

// errStarting is returned while init functions run.
var errStarting = errors.New("codeid: init functions of the program still run, so package variables may not be initialised yet; compute this after main has started")

// settings is the GODEBUG at the first identification of a function.
var settings atomic.Pointer[string]

// CheckUnchanged returns an error if GODEBUG, which changes the behaviour of the standard library,
// differs from its value at the first identification. It also returns an error while init
// functions run, because package variables may not have their values yet.
func CheckUnchanged() error {
	if !executable.Started() {
		return errStarting
	}
	if s, now := settings.Load(), os.Getenv("GODEBUG"); s != nil && *s != now {
		return fmt.Errorf("codeid: GODEBUG is %q by now and was %q when functions were identified: set it before the first is used, or when the program is started", now, *s)
	}
	return nil
}

// Package source identifies Go functions by their source.
//
// The identity of a function is a digest of its closure: its own declaration
// and every declaration of the program that it can reach, over packages,
// without comments and layout. It is found by name, without types, in sources
// that the program carries in itself, so it needs no tool and cannot be out of
// date. Each package whose functions are to be known registers its sources:
//
//	//go:embed *.go
//	var files embed.FS
//	var _ = source.Register(files)
//
// A declaration is anything declared at package level. Packages of the
// standard library count by the version of the toolchain, packages of modules
// with a version by that version: both are leaves. What a function may not
// reach is refused, with the way to it: clocks, random numbers, the
// environment, files, networks, variables that change while the program runs,
// code that cannot be seen (cgo, assembly, linkname, unsafe), and packages
// that nothing is known of. Options.Pure declares what is harmless all the
// same.
//
// How it goes from a declaration to what that reaches, leaning to too much:
// a name stands for the declaration of that name; a type that is reached brings
// those of its methods that are selected by name anywhere in the closure or
// that the standard library calls; a package variable brings everything that
// writes to it or may do so through another name. If a function takes
// interfaces, types of all registered packages count as reached.
//
// A function with a line
//
//	//larder:version 3
//
// in its doc comment is a boundary: it counts by its signature and that
// version, so its body can change without its callers being computed again.
package source

import (
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Options say what to take for granted.
type Options struct {
	// Pure lists what may be reached although it is impure or unknown, because
	// results do not depend on what it does beyond its arguments: functions and
	// variables ("time.Now", "example.com/m/pkg.Limit"), packages
	// ("golang.org/x/image/draw"), or all packages below a path
	// ("golang.org/x/image/...").
	Pure []string
}

// A Package is a package whose sources are known.
type Package struct {
	path  string
	files fs.FS
	pure  []string
}

var registry struct {
	sync.Mutex
	packages []*Package
	program  *program // made at first use, of what was registered until then
}

// Register makes the sources of the calling package known. It is called once
// by each package, as the value of a package variable; files holds all its
// .go files at the top. Files that other variables of the package embed must be
// embedded by the same pattern too where functions read those variables.
func Register(files fs.FS, o ...Options) *Package {
	pc, _, _, _ := runtime.Caller(1)
	path, _ := splitSymbol(runtime.FuncForPC(pc).Name())
	p := &Package{path: path, files: files}
	for _, o := range o {
		p.pure = append(p.pure, o.Pure...)
	}
	registry.Lock()
	defer registry.Unlock()
	registry.packages = append(registry.packages, p)
	registry.program = nil
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

// loaded returns the program as registered, parsed on first use.
func loaded() (*program, error) {
	registry.Lock()
	defer registry.Unlock()
	if registry.program == nil {
		p, err := load(registry.packages, thisBuild())
		if err != nil {
			return nil, err
		}
		registry.program = p
	}
	return registry.program, nil
}

// splitSymbol splits the name of a function in the executable into the import
// path of its package and the rest: "example.com/m/calc" and "(*T).Area".
func splitSymbol(symbol string) (path, name string) {
	slash := strings.LastIndexByte(symbol, '/') + 1
	dot := strings.IndexByte(symbol[slash:], '.')
	if dot < 0 {
		return symbol, ""
	}
	path, name = symbol[:slash+dot], symbol[slash+dot+1:]
	return unescape(path), name
}

// unescape undoes the linker's spelling of import paths: %2e is a dot in the
// last element.
func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	return strings.NewReplacer("%2e", ".", "%22", `"`, "%25", "%").Replace(path)
}

// Surroundings lists what identities depend on beside the build itself: what is
// registered, with what each package declares, and the settings in the
// environment that count.
func Surroundings() []string {
	registry.Lock()
	defer registry.Unlock()
	var list []string
	for _, p := range registry.packages {
		list = append(list, p.path+" "+strings.Join(p.pure, ","))
	}
	slices.Sort(list)
	return append(list, "GODEBUG="+os.Getenv("GODEBUG"), "TZ="+os.Getenv("TZ"))
}

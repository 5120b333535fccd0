// Package executable knows the running program: its packages (as all main packages
// go by one name in an executable, those are named by the path that they are
// built from), and its memory.
package executable

import (
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// info is what the executable says of its build.
var info = sync.OnceValue(func() *debug.BuildInfo {
	i, ok := debug.ReadBuildInfo()
	if !ok {
		return &debug.BuildInfo{}
	}
	return i
})

// adHoc is the path that the Go command gives to a list of files.
const adHoc = "command-line-arguments"

// Package returns the import path of the package of a function, given by the
// name that the executable knows it by and the file it is in, and the rest of
// that name. For a main package it is the path that was built; for one that was
// built from a list of files, which has none, it has their folder in it.
func Package(symbol, file string) (pkg, name string) {
	pkg, name = Split(symbol)
	if pkg != "main" {
		return pkg, name
	}
	switch p := info().Path; p {
	case "":
		return pkg, name
	case adHoc:
		return p + " in " + path.Dir(file), name
	default:
		return p, name
	}
}

// IsFiles reports whether a path is that of a main package built from a list of files.
func IsFiles(path string) bool { return path == adHoc || strings.HasPrefix(path, adHoc+" in ") }

// Split splits the name of a function in the executable into the import path of
// its package and the rest: "example.com/m/calc" and "(*T).Area".
func Split(symbol string) (path, name string) {
	slash := strings.LastIndexByte(symbol, '/') + 1
	dot := strings.IndexByte(symbol[slash:], '.')
	if dot < 0 {
		return symbol, ""
	}
	return unescape(symbol[:slash+dot]), symbol[slash+dot+1:]
}

// unescape undoes the linker's spelling of import paths: %2e is a dot in the
// last element.
func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	return strings.NewReplacer("%2e", ".", "%22", `"`, "%25", "%").Replace(path)
}

// callers remembers the packages of places in the program.
var callers sync.Map // of strings, by program counter

// Caller returns the import path of the package of the function that called
// the one which calls Caller, skipping as many as skip says.
func Caller(skip int) string {
	var pcs [1]uintptr
	if runtime.Callers(skip+3, pcs[:]) == 0 {
		return ""
	}
	if p, ok := callers.Load(pcs[0]); ok {
		return p.(string)
	}
	frame, _ := runtime.CallersFrames(pcs[:]).Next()
	pkg, _ := Package(frame.Function, frame.File)
	callers.Store(pcs[0], pkg)
	return pkg
}

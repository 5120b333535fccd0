// Package executable provides facts about the running program: its packages and its
// memory. All main packages have one name in an executable, so they are identified by
// the path that they are built from.
package executable

import (
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

var info = sync.OnceValue(func() *debug.BuildInfo {
	i, ok := debug.ReadBuildInfo()
	if !ok {
		return &debug.BuildInfo{}
	}
	return i
})

// adHoc is the path that the Go command gives to a list of files.
const adHoc = "command-line-arguments"

// Package returns the import path of a function's package, and the rest of the
// function's name. symbol is the name in the executable, file its file. For a main
// package it returns the path that was built. A main package built from a list of files
// has no path; the result then contains their directory.
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

// Split splits the name of a function in the executable into the import path of its
// package and the rest: "example.com/m/calc" and "(*T).Area".
func Split(symbol string) (path, name string) {
	slash := strings.LastIndexByte(symbol, '/') + 1
	dot := strings.IndexByte(symbol[slash:], '.')
	if dot < 0 {
		return symbol, ""
	}
	return unescape(symbol[:slash+dot]), symbol[slash+dot+1:]
}

// unescape reverts the linker's escapes in import paths: %2e is a dot in the last
// element.
func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	return strings.NewReplacer("%2e", ".", "%22", `"`, "%25", "%").Replace(path)
}

// callers caches import paths by program counter.
var callers sync.Map // of strings, by program counter

// Caller returns the import path of the package of the function that called the caller
// of Caller. skip skips further callers.
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

package source

import (
	"go/build"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// A module is one that the program was built with.
type module struct {
	path    string
	version string // with its sum; "" if its sources lie in a folder that may change
}

// A setting is something of how the program was built that its results may
// depend on.
type setting struct{ name, value string }

// buildInfo is how the program was built.
type buildInfo struct {
	settings []setting
	modules  []module // longest path first
	context  build.Context
	test     bool
	trimmed  bool // linker flags are not on record
}

// thisBuild describes the running program.
func thisBuild() *buildInfo {
	b := &buildInfo{context: build.Default, test: testing.Testing()}
	b.context.GOOS, b.context.GOARCH = runtime.GOOS, runtime.GOARCH
	b.set("go", runtime.Version())
	b.set("GOOS", runtime.GOOS)
	b.set("GOARCH", runtime.GOARCH)
	b.set("GODEBUG", os.Getenv("GODEBUG"))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.context.BuildTags = nil
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			b.context.BuildTags = strings.Split(s.Value, ",")
		case "CGO_ENABLED":
			b.context.CgoEnabled = s.Value == "1"
		case "-trimpath":
			b.trimmed = s.Value == "true"
		case "-ldflags", "DefaultGODEBUG", "GOAMD64", "GOARM", "GOARM64", "GO386", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOEXPERIMENT":
			b.set(s.Key, s.Value)
		}
	}
	b.modules = append(b.modules, modules(info)...)
	return b
}

func (b *buildInfo) set(name, value string) {
	if value != "" {
		b.settings = append(b.settings, setting{name, value})
	}
}

func modules(info *debug.BuildInfo) []module {
	list := []module{{path: info.Main.Path}}
	for _, m := range info.Deps {
		as := module{path: m.Path}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Sum != "" {
			as.version = m.Path + "@" + m.Version + " " + m.Sum
		}
		list = append(list, as)
	}
	slices.SortFunc(list, func(a, b module) int { return len(b.path) - len(a.path) })
	return list
}

// module returns the module that a package is of.
func (b *buildInfo) module(pkg string) (module, bool) {
	for _, m := range b.modules {
		if pkg == m.path || strings.HasPrefix(pkg, m.path+"/") {
			return m, true
		}
	}
	return module{}, false
}

// match reports whether a file is part of the build, by its name and its
// constraints.
func (b *buildInfo) match(p *Package, file string) (bool, error) {
	if strings.HasSuffix(file, "_test.go") && !b.test {
		return false, nil
	}
	ctx := b.context
	ctx.OpenFile = opener(p.files)
	ctx.JoinPath = path.Join
	return ctx.MatchFile("", file)
}

package analysis

import (
	"fmt"
	"go/build"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/codeid/std"
)

// A module is a module of the build.
type module struct {
	path    string
	version string // with its sum; "" if its sources are in a directory that may change
	main    bool   // the program's own module
}

// A setting is a property of the build that results may depend on.
type setting struct{ name, value string }

// buildInfo describes the build of the program.
type buildInfo struct {
	settings  []setting
	modules   []module // longest path first
	context   build.Context
	test      bool
	tested    string            // the package under test
	workspace bool              // built from several directories with a module each
	trimmed   bool              // linker flags are not recorded
	linked    map[string]string // variables set by the linker
	linking   string            // linker flags with -X
}

// thisBuild describes the running program.
func thisBuild() *buildInfo {
	b := &buildInfo{context: build.Default, test: testing.Testing(), linked: map[string]string{}}
	b.context.GOOS, b.context.GOARCH = runtime.GOOS, runtime.GOARCH
	b.set("go", runtime.Version())
	b.set("GOOS", runtime.GOOS)
	b.set("GOARCH", runtime.GOARCH)
	b.set("GODEBUG", os.Getenv("GODEBUG"))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.test { // the Go command calls the binary for a test of x/calc x/calc.test
		b.tested = strings.TrimSuffix(info.Path, ".test")
	}
	b.context.BuildTags = nil
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			b.context.BuildTags = append(b.context.BuildTags, strings.Split(s.Value, ",")...)
		case "-race", "-msan", "-asan":
			if s.Value == "true" {
				b.context.BuildTags = append(b.context.BuildTags, s.Key[1:])
			}
		case "-pgo", "-compiler", "-buildmode":
			b.set(s.Key, path.Base(s.Value))
		case "CGO_ENABLED":
			b.context.CgoEnabled = s.Value == "1"
		case "-trimpath":
			b.trimmed = s.Value == "true"
		case "-ldflags":
			b.set(s.Key, b.link(s.Value))
		case "-gcflags", "-asmflags":
			b.set(s.Key, meaningful(s.Value))
		case "DefaultGODEBUG", "GOAMD64", "GOARM", "GOARM64", "GO386", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOEXPERIMENT":
			b.set(s.Key, s.Value)
		}
	}
	b.modules = append(b.modules, modules(info)...)
	b.workspace = isWorkspace(info)
	b.context.ToolTags = featureTags(b.context.ToolTags, info.Settings)
	return b
}

// meaningful returns compiler flags without those known not to affect results, such as
// debug information and printing. Inlining (-N, -l) affects allocation, and so capacities.
func meaningful(flags string) string {
	var rest []string
	for word := range strings.FieldsSeq(flags) {
		_, flag, ok := strings.Cut(word, "=-")
		switch {
		case ok && !strings.HasPrefix(word, "-"): // for some packages: pattern=-flag
			flag = "-" + flag
		default:
			flag = word
		}
		switch flag {
		case "-e", "-m", "-dwarf=false", "-dwarf=true", "-live", "-v", "-w":
		default:
			rest = append(rest, word)
		}
	}
	return strings.Join(rest, " ")
}

// featureTags returns the build tags for the processor features that the program was built
// for, which the environment of its run does not show.
func featureTags(tags []string, settings []debug.BuildSetting) []string {
	tags = slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return strings.HasPrefix(t, runtime.GOARCH+".") })
	for _, s := range settings {
		if s.Key == "GOEXPERIMENT" {
			for name := range strings.SplitSeq(s.Value, ",") {
				off, isOff := strings.CutPrefix(name, "no")
				tags = slices.DeleteFunc(tags, func(t string) bool { return isOff && t == "goexperiment."+off })
				if !isOff && name != "" && !slices.Contains(tags, "goexperiment."+name) {
					tags = append(tags, "goexperiment."+name)
				}
			}
		}
		level, isLevel := strings.CutPrefix(s.Value, "v")
		if s.Key != "GO"+strings.ToUpper(runtime.GOARCH) {
			continue
		}
		if n, err := strconv.Atoi(level); err == nil && isLevel {
			for i := 1; i <= n; i++ {
				tags = append(tags, fmt.Sprintf("%s.v%d", runtime.GOARCH, i))
			}
			continue
		}
		tags = append(tags, runtime.GOARCH+"."+s.Value)
	}
	return tags
}

// link records the variables that linker flags set (-X), and returns the other flags that
// affect results, without those about symbols.
func (b *buildInfo) link(flags string) string {
	if strings.ContainsAny(flags, "'\"") {
		b.linking = flags
		return flags // quoted, for which there is no single rule
	}
	var rest []string
	words := strings.Fields(flags)
	for i := 0; i < len(words); i++ {
		definition, ok := strings.CutPrefix(words[i], "-X=")
		if words[i] == "-X" && i+1 < len(words) {
			i++
			definition, ok = words[i], true
		}
		name, value, isDefinition := strings.Cut(definition, "=")
		switch {
		case ok && isDefinition:
			b.linked[name] = value
			b.linking = flags
		case words[i] != "-s" && words[i] != "-w":
			rest = append(rest, words[i])
		}
	}
	return strings.Join(rest, " ")
}

// local reports whether a package belongs to the program, or to a module in a directory:
// its sources may change without a new version.
func (b *buildInfo) local(path string) bool {
	if std.Has(path) || path == "C" {
		return false
	}
	m, ok := b.module(path)
	return ok && m.version == ""
}

// allModules lists the modules of the build.
func (b *buildInfo) allModules() string {
	var list []string
	for _, m := range b.modules {
		if !m.main {
			list = append(list, m.path+" "+m.version)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// allVersioned reports whether all modules except the program's own have versions.
func (b *buildInfo) allVersioned() bool {
	return !slices.ContainsFunc(b.modules, func(m module) bool { return !m.main && m.version == "" })
}

func (b *buildInfo) set(name, value string) {
	if value != "" {
		b.settings = append(b.settings, setting{name, value})
	}
}

func modules(info *debug.BuildInfo) []module {
	list := []module{{path: info.Main.Path, main: true}}
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

// isWorkspace reports whether several modules were built from their directories, without
// replacements. A main package that is built from a list of files belongs to no module.
func isWorkspace(info *debug.BuildInfo) bool {
	lie := 0
	for _, m := range info.Deps {
		if m.Replace == nil && m.Version == "(devel)" {
			lie++
		}
	}
	return lie > 1 || lie == 1 && info.Main.Path != ""
}

// module returns the module of a package.
func (b *buildInfo) module(pkg string) (module, bool) {
	if pkg == b.tested+testOf {
		pkg = b.tested
	}
	for _, m := range b.modules {
		if pkg == m.path || strings.HasPrefix(pkg, m.path+"/") {
			return m, true
		}
	}
	return module{}, false
}

// match reports whether a file is part of the build, by its name and its constraints.
func (b *buildInfo) match(p *registration, file string) (bool, error) {
	if strings.HasSuffix(file, "_test.go") && (b.tested == "" || p.path != b.tested && p.path != b.tested+testOf) {
		return false, nil
	}
	ctx := b.context
	ctx.OpenFile = opener(p.files)
	ctx.JoinPath = path.Join
	return ctx.MatchFile("", file)
}

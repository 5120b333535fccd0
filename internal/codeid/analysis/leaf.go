package analysis

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/key"
)

// leaf includes a name of a package without sources.
func (w *walker) leaf(d *decl, l leaf) {
	switch {
	case l.path == "unsafe":
		w.refuse(d, problem{what: "unsafe." + l.name + " (memory without types)", at: d.at(l.at), name: "unsafe." + l.name, fix: "code without it, or a version for its function: //larder:version 1"})
	case l.library:
		w.library(d, l)
	case isEngine(l.path):
		w.engine(d, l)
	default:
		w.foreign(d, l)
	}
}

// library includes a name of the standard library.
func (w *walker) library(d *decl, l leaf) {
	name := l.full()
	if w.declared(d, l.path, name) {
		return
	}
	fact, known := std.Lookup(name)
	switch {
	case !known && !ofInterface(l.object):
		w.refuse(d, problem{what: name + " (its effects are unknown)", at: d.at(l.at), name: name, refuse: true})
	case fact.Outside != "" && !changing[name]:
		w.refuse(d, problem{what: fmt.Sprintf("%s (%s)", name, fact.Outside), at: d.at(l.at), name: name, refuse: true})
	}
	if l.path == "time" {
		w.modules["time zone"] = zone()
	}
	if fact.Registry {
		w.registry(d, l)
	}
	if callsByName(name) {
		w.callsAnything()
	}
	w.libraryState(d, l)
}

// changing are methods that change their receiver, which is checked when they are called on
// package variables.
var changing = map[string]bool{"regexp.Regexp.Longest": true, "regexp.Regexp.UnmarshalText": true}

func ofInterface(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type())
}

// callsByName reports whether a function of the standard library calls methods by names
// that are not in the source, or are in text.
func callsByName(name string) bool {
	switch name {
	case "reflect.Value.Method", "reflect.Value.MethodByName", "reflect.Type.Method", "reflect.Type.MethodByName", "reflect.Value.Methods", "reflect.Type.Methods":
		return true
	}
	return isTemplate(name) || strings.HasPrefix(name, "net/rpc.")
}

// isTemplate reports whether a name belongs to a package of templates.
func isTemplate(name string) bool {
	return strings.HasPrefix(name, "text/template.") || strings.HasPrefix(name, "html/template.")
}

// takesFunctions reports whether a function of the standard library receives functions that
// it calls by names in text.
func takesFunctions(name string) bool {
	return name == "text/template.Template.Funcs" || name == "html/template.Template.Funcs"
}

// zone returns the time zone of the machine.
func zone() string {
	if tz, ok := os.LookupEnv("TZ"); ok {
		return "TZ=" + tz
	}
	b, err := os.ReadFile("/etc/localtime")
	if err != nil {
		return "none"
	}
	return key.DigestOf(b).String()
}

// registry includes what the program registers with a package of the standard library: by
// its own calls, and by importing packages that do.
func (w *walker) registry(d *decl, l leaf) {
	imports := map[string]bool{}
	for _, k := range w.program.order {
		for path := range k.imports {
			if w.program.packages[path] == nil {
				imports[path] = true
			}
		}
	}
	list := make([]string, 0, len(imports))
	for path := range imports {
		list = append(list, path)
	}
	slices.Sort(list)
	w.modules["imports of the program"] = strings.Join(list, " ")
	w.modules["all modules"] = w.program.build.allModules()
	if u := w.program.unknown; u != "" {
		w.refuse(d, problem{what: fmt.Sprintf("%s, with which package %s may register something", l.full(), u), at: d.at(l.at), name: l.full(), fix: "that package registered"})
	}
	for o, by := range w.program.indexed().mentioned {
		f, ok := o.(*types.Func)
		if !ok || f.Pkg() == nil || f.Pkg().Path() != l.path || !strings.HasPrefix(f.Name(), "Register") {
			continue
		}
		for _, m := range by {
			w.registers(d, m, f)
		}
	}
}

// registers includes a declaration that registers something with the standard library.
func (w *walker) registers(from, by *decl, f *types.Func) {
	callers, running := w.program.beforeMain(by)
	if running != nil {
		w.refuse(from, problem{
			what: fmt.Sprintf("what %s registers with %s.%s while the program runs", by.name(), f.Pkg().Path(), f.Name()), at: by.at(by.node.Pos()),
			name: f.Pkg().Path() + "." + f.Name(), refuse: true, state: true,
		})
		return
	}
	w.reach(by, from)
	for _, c := range callers {
		w.reach(c, from)
	}
}

// libraryState includes what the program writes to variables of the package, or of packages
// that it imports.
func (w *walker) libraryState(d *decl, l leaf) {
	p := w.program
	for _, written := range p.libraryWrites() {
		if l.object == nil || l.object.Pkg() == nil || !std.Imports(l.object.Pkg().Path(), written.variable.Pkg().Path()) {
			continue
		}
		if w.declared(d, written.variable.Pkg().Path()+"."+written.variable.Name()) {
			continue
		}
		if written.problem != nil {
			w.refuse(d, *written.problem)
			continue
		}
		for _, by := range written.writers {
			w.reach(by, d)
		}
	}
	if v, ok := l.object.(*types.Var); ok && p.unknown != "" && variables[l.full()] {
		w.refuse(d, problem{
			what: fmt.Sprintf("variable %s.%s, which package %s may write, whose sources are not registered", v.Pkg().Path(), v.Name(), p.unknown),
			at:   d.at(l.at), name: l.full(), refuse: true, opaque: true,
		})
	}
}

// A libraryWrite is a standard library variable that the program writes, or whose memory it
// may write.
type libraryWrite struct {
	variable *types.Var
	*verdict
}

// libraryWrites lists these variables, traced like those of the program.
func (p *parsedProgram) libraryWrites() []libraryWrite {
	p.verdicts.writesOnce.Do(func() {
		for o, by := range p.indexed().touched {
			v, ok := o.(*types.Var)
			if !ok || v.Pkg() == nil || p.packages[v.Pkg().Path()] != nil || !std.Has(v.Pkg().Path()) {
				continue
			}
			here := &decl{kind: "var", names: []string{v.Name()}, file: by[0].file, node: by[0].node} // it has no declaration
			t := newTracer(p, v, here)
			fact, _ := std.Lookup(v.Pkg().Path() + "." + v.Name())
			if isError(v.Type()) || flat(v.Type(), 0) || fact.Effect == std.Reads || fact.Outside != "" {
				t.assigned() // what it refers to cannot be written, or counts where it is named
			} else {
				t.follow()
			}
			t.spaceWritten()
			t.namedWriters()
			t.overwritten()
			ver := &verdict{problem: t.problem}
			if ver.problem == nil {
				ver.writers = t.inOrder()
			}
			if ver.problem != nil || ver.writers != nil {
				p.verdicts.writes = append(p.verdicts.writes, libraryWrite{v, ver})
			}
		}
		slices.SortFunc(p.verdicts.writes, func(a, b libraryWrite) int {
			return strings.Compare(a.variable.Pkg().Path()+"."+a.variable.Name(), b.variable.Pkg().Path()+"."+b.variable.Name())
		})
	})
	return p.verdicts.writes
}

// isError reports whether a type is error. Memory behind errors of the standard library
// cannot be written.
func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// assigned reports whether the last of the nodes, or something that contains it, is the
// target of an assignment or has its address taken.
func assigned(stack []ast.Node) bool {
	for i := len(stack) - 1; i > 0; i-- {
		switch p := stack[i-1].(type) {
		case *ast.AssignStmt:
			left, ok := stack[i].(ast.Expr)
			return ok && slices.Contains(p.Lhs, left)
		case *ast.IncDecStmt:
			return true
		case *ast.RangeStmt:
			return p.Tok == token.ASSIGN && (p.Key == stack[i] || p.Value == stack[i])
		case *ast.UnaryExpr:
			return p.Op == token.AND
		case *ast.IndexExpr:
			if p.X != stack[i] {
				return false
			}
		case *ast.SelectorExpr, *ast.StarExpr, *ast.ParenExpr:
		default:
			return false
		}
	}
	return false
}

// foreign includes a name of a package of a module, or of an unregistered package of the
// program.
func (w *walker) foreign(d *decl, l leaf) {
	if w.declared(d, l.path, l.full()) {
		w.vouchedFor(d, l)
		return
	}
	if m, ok := w.program.build.module(l.path); ok && m.version != "" {
		w.refuse(d, problem{what: l.full() + " (its module is unknown)", at: d.at(l.at), refuse: true})
		return
	}
	w.refuse(d, problem{what: l.full() + " (of a package that does not register its sources)", at: d.at(l.at), refuse: true, opaque: true})
}

// vouchedFor includes the code of a package declared as pure: by all modules of the build,
// because it imports others, and without a version by the executable.
func (w *walker) vouchedFor(d *decl, l leaf) {
	w.callsAnything()
	if ofLarder(l.path) && ofLarder(d.file.pkg.path) {
		return // how Larder transports samples to workers: other builds give the same results
	}
	w.modules["all modules"] = w.program.build.allModules()
	if m, ok := w.program.build.module(l.path); ok && m.version != "" && w.program.build.allVersioned() {
		return
	}
	code, err := key.Build()
	if err != nil {
		w.refuse(d, problem{what: fmt.Sprintf("%s, whose code is identified only by the executable (%v)", l.full(), err), at: d.at(l.at), refuse: true, opaque: true})
	}
	w.modules[l.path] = code.String()
}

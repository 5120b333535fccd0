package analysis

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
)

// Code may call methods of standard library types without naming them, through interfaces:
// exec.Cmd.Output through one with Output, http.Dir.Open through a file system.

// lends records a type whose values a declaration puts into interfaces.
func (w *walker) lends(d *decl, t types.Type) {
	if _, ok := w.borrowed[t]; !ok {
		w.borrowed[t] = d
	}
}

// libraryMethods refuses methods of such types that read the outside and may be called
// through interfaces.
func (w *walker) libraryMethods() {
	type call struct {
		libraryMethod
		by *decl
	}
	var calls []call
	for t, d := range w.borrowed {
		for _, m := range w.program.libraryMethodsOf(t) {
			if name := m.name[len(m.of)+1:]; w.dispatched[name] || calledByLibrary[name] || w.any(name) {
				calls = append(calls, call{m, d})
			}
		}
	}
	slices.SortFunc(calls, func(a, b call) int { return strings.Compare(a.name+" "+a.by.label(), b.name+" "+b.by.label()) })
	for _, c := range calls {
		if !w.declared(c.by, c.path, c.name) {
			w.refuse(c.by, problem{what: fmt.Sprintf("%s (%s), by an interface", c.name, c.outside), at: c.by.at(c.by.node.Pos()), name: c.name, refuse: true})
		}
	}
}

// A libraryMethod is a standard library method that reads the outside.
type libraryMethod struct{ path, of, name, outside string }

// libraryMethodsOf lists those methods of a type, its own and promoted ones.
func (p *parsedProgram) libraryMethodsOf(t types.Type) []libraryMethod {
	if list, known := p.borrowedMethods[t]; known {
		return list
	}
	var list []libraryMethod
	for _, of := range []types.Type{t, types.NewPointer(t)} {
		if types.IsInterface(of) {
			break
		}
		set := types.NewMethodSet(of)
		for m := range set.Methods() {
			f, ok := m.Obj().(*types.Func)
			if !ok || !f.Exported() || f.Pkg() == nil || !std.Has(f.Pkg().Path()) {
				continue
			}
			n, ok := types.Unalias(deref(f.Signature().Recv().Type())).(*types.Named)
			if !ok || types.IsInterface(n) {
				continue
			}
			name := n.Obj().Pkg().Path() + "." + n.Obj().Name()
			if outside := readsByMethod(name, f.Name()); outside != "" {
				list = append(list, libraryMethod{n.Obj().Pkg().Path(), name, name + "." + f.Name(), outside})
			}
		}
	}
	if p.borrowedMethods == nil {
		p.borrowedMethods = map[types.Type][]libraryMethod{}
	}
	p.borrowedMethods[t] = list
	return list
}

// readsByMethod returns what a method of a standard library type reads from outside, or "".
// It ignores open files, because opening them counted, and values of package reflect, which
// show addresses.
func readsByMethod(typ, method string) string {
	if typ == "os.File" || strings.HasPrefix(typ, "reflect.") || std.Harmless(typ) || isTemplate(typ) || changing[typ+"."+method] {
		return ""
	}
	fact, _ := std.Lookup(typ + "." + method)
	return fact.Outside
}

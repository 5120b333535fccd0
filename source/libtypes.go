package source

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/larder-data/larder/source/internal/std"
)

// Methods of types of the standard library may be called without being named, by
// interfaces: exec.Cmd.Output by one that has Output, http.Dir.Open by a file system.

// lends notes a type of which a declaration puts values behind interfaces.
func (w *walker) lends(d *decl, t types.Type) {
	if _, ok := w.lent[t]; !ok {
		w.lent[t] = d
	}
}

// libraryMethods refuses those of types that are lent which read the outside and may be
// called by interfaces.
func (w *walker) libraryMethods() {
	type call struct {
		libraryMethod
		by *decl
	}
	var calls []call
	for t, d := range w.lent {
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

// A libraryMethod is one of the standard library that reads the outside.
type libraryMethod struct{ path, of, name, outside string }

// libraryMethodsOf lists those that a type has, by itself or by what it embeds.
func (p *parsedProgram) libraryMethodsOf(t types.Type) []libraryMethod {
	if list, known := p.lentMethods[t]; known {
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
	if p.lentMethods == nil {
		p.lentMethods = map[types.Type][]libraryMethod{}
	}
	p.lentMethods[t] = list
	return list
}

// readsByMethod says what of the outside a method of a type of the standard library
// reads, or "". Of files that are open nothing counts: opening them did. Nor does it of
// values of package reflect, which tell where something lies.
func readsByMethod(typ, method string) string {
	if typ == "os.File" || strings.HasPrefix(typ, "reflect.") || std.Harmless(typ) || isTemplate(typ) || changing[typ+"."+method] {
		return ""
	}
	fact, _ := std.Lookup(typ + "." + method)
	return fact.Outside
}

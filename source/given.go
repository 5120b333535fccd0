package source

import (
	"go/ast"
	"go/types"
	"math"
)

// What the function around a maker's literal is given is its caller's, who answers for
// it by parameters. These cover numbers and texts, but neither code nor which code it
// is: functions must be identified beside the maker, and types that come in by
// interfaces count, and must not reach what no code identity covers.

// takesIn takes in what the function around a literal is given, as far as it is used.
func (r *root) takesIn(m *making, lists []*ast.FieldList) {
	m.in.file.pkg.program.indexed()
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if v, ok := m.in.info().Defs[id].(*types.Var); ok && m.in.uses(m.around, v) {
					r.takesParameter(m, v)
				}
			}
		}
	}
}

func (r *root) takesParameter(m *making, v *types.Var) {
	if f := m.function(v); f != nil {
		r.beside = append(r.beside, f)
		return
	}
	list, seen := m.passed(v)
	if seen {
		r.behind = append(r.behind, list...)
	} else {
		list = []types.Type{v.Type()}
		r.captured = append(r.captured, v.Type())
	}
	for _, t := range list {
		if !bringsFunctions(t, m.in.file.pkg.program.hidesFunctions, map[types.Type]bool{}) {
			continue
		}
		if _, one := under(t).(*types.Signature); one {
			r.gets++
		} else {
			r.gets = anyNumber
		}
		r.unseen = append(r.unseen, problem{
			what: "functions that it is given as values in " + v.Name() + ", and no key says which", at: m.in.at(v.Pos()), name: m.in.file.pkg.path + "." + v.Name(),
			refuse: true, cure: "call the function by its name, name it as what the maker is Given",
		})
	}
}

// function is the one that a parameter of the function around stands for, if all of
// the program passes the same and names it; else nil.
func (m *making) function(v *types.Var) *decl {
	p := m.in.file.pkg.program
	if _, ok := under(v.Type()).(*types.Signature); !ok || m.around != m.in.node {
		return nil
	}
	var one *decl
	all, ok := p.givens(m.in, v)
	for _, g := range all {
		f, isFunc := named(g.d.info(), g.e).(*types.Func)
		if !isFunc || f.Signature().Recv() != nil || isGeneric(f.Signature()) {
			return nil
		}
		d := p.declOf(f)
		if d == nil || one != nil && one != d {
			return nil
		}
		one = d
	}
	if !ok {
		return nil
	}
	return one
}

// passed lists the types of what the program puts behind a parameter of the function
// around that is an interface, and reports whether all of that is seen and tells.
func (m *making) passed(v *types.Var) (list []types.Type, ok bool) {
	if m.around != m.in.node || !types.IsInterface(v.Type()) {
		return nil, false
	}
	all, ok := m.in.file.pkg.program.givens(m.in, v)
	for _, g := range all {
		t := g.d.info().Types[g.e]
		if t.IsNil() {
			continue
		}
		_, several := t.Type.(*types.Tuple)
		ok = ok && t.Type != nil && !several && !isUnknown(deref(t.Type)) && !types.IsInterface(t.Type) && !generic(t.Type)
		list = append(list, t.Type)
	}
	return list, ok && len(all) > 0
}

// anyNumber is how many functions a list may hold, or whatever else.
const anyNumber = math.MaxInt32

// hidesFunctions reports whether functions, or what holds some, may come in by an
// interface: the program converts such values to it.
func (p *parsedProgram) hidesFunctions(i *types.Interface) bool {
	for held := range p.converted() {
		if bringsFunctions(held, nil, map[types.Type]bool{}) && (types.Implements(held, i) || types.Implements(types.NewPointer(held), i)) {
			return true
		}
	}
	return false
}

// bringsFunctions reports whether values of a type hold functions, but for those that
// Larder hands in. If hides is not nil, it is asked of interfaces.
func bringsFunctions(t types.Type, hides func(*types.Interface) bool, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		if path := n.Obj().Pkg().Path(); handsIn(path) || harmless(n) && path != "sync" { // whose pools make values
			return false
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Pointer:
		return bringsFunctions(u.Elem(), hides, seen)
	case *types.Slice:
		return bringsFunctions(u.Elem(), hides, seen)
	case *types.Array:
		return bringsFunctions(u.Elem(), hides, seen)
	case *types.Chan:
		return true
	case *types.Map:
		return bringsFunctions(u.Key(), hides, seen) || bringsFunctions(u.Elem(), hides, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if bringsFunctions(f.Type(), hides, seen) {
				return true
			}
		}
	case *types.Interface:
		return hides != nil && hides(u)
	}
	return false
}

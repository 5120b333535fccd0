package analysis

import (
	"go/ast"
	"go/types"
	"slices"
)

// The analysis does not see types of unregistered packages. Their values may arrive through
// interfaces and type parameters, with methods that do anything.

// isUnknown reports whether a type is not known.
func isUnknown(of types.Type) bool { return of == nil || of == types.Typ[types.Invalid] }

// unseen records where the program admits values of such types.
type unseen struct {
	anywhere bool               // not known where
	behind   []*types.Interface // interfaces that receive them
	asserted []*types.Interface // interfaces asserted on other interfaces
}

// An unseenFrom is the origin of unseen types that may arrive through an interface.
type unseenFrom int

const (
	nothingUnseen unseenFrom = iota
	ownUnseen                // including packages of the program itself
	modulesUnseen
)

// comesInUnseen reports whether a value of an unseen type may arrive through an interface
// with at least the given methods.
func (p *parsedProgram) comesInUnseen(methods []string) bool {
	return p.comesInFrom(methods) != nothingUnseen
}

// comesInFrom returns the origin of such a value.
func (p *parsedProgram) comesInFrom(methods []string) unseenFrom {
	if !p.foreign() {
		return nothingUnseen
	}
	u := p.found.unseen.get(p.findUnseen)
	has := func(i *types.Interface) bool {
		all := methodsOf(i)
		return !slices.ContainsFunc(methods, func(m string) bool { return !slices.Contains(all, m) })
	}
	exported := !slices.ContainsFunc(methods, func(m string) bool { return !isExported(m) })
	switch {
	case p.unknown != "" && (exported || u.anywhere):
		return ownUnseen // it may put one anywhere
	case u.anywhere: // it has unexported methods of embedded types
		return modulesUnseen
	case !exported:
		return nothingUnseen
	case slices.ContainsFunc(u.behind, has) || len(u.behind) > 0 && slices.ContainsFunc(u.asserted, has):
		return modulesUnseen
	}
	return nothingUnseen
}

// methodsOf lists the names of the methods of an interface.
func methodsOf(of types.Type) (names []string) {
	if i, ok := of.Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			names = append(names, m.Name())
		}
	}
	return names
}

// findUnseen scans the whole program.
func (p *parsedProgram) findUnseen() (u unseen) {
	for _, k := range p.order {
		if k.engine {
			continue
		}
		for _, in := range k.info.Instances {
			for a := range in.TypeArgs.Types() {
				u.anywhere = u.anywhere || isUnknown(deref(a))
			}
		}
		for _, o := range k.info.Defs {
			if v, ok := o.(*types.Var); ok && v.Embedded() && isUnknown(deref(v.Type())) {
				u.anywhere = true
			}
		}
		for _, d := range k.decls {
			for _, t := range d.resolved().letsIn {
				if i, ok := under(t).(*types.Interface); ok {
					u.behind = append(u.behind, i)
				}
			}
			ast.Inspect(d.node, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				if tv := k.info.Types[e]; tv.IsType() && types.IsInterface(tv.Type) && !isError(tv.Type) {
					u.asserted = append(u.asserted, tv.Type.Underlying().(*types.Interface)) // may be asserted: it is named here
				}
				return true
			})
		}
	}
	return u
}

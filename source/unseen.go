package source

import (
	"go/ast"
	"go/types"
	"slices"
)

// Types of packages that do not register are not seen. Values of them may come in by
// interfaces and type parameters: whatever their methods do, then happens.

// isUnknown reports whether a type is not known.
func isUnknown(of types.Type) bool { return of == nil || of == types.Typ[types.Invalid] }

// unseen is where the program lets values of such types in.
type unseen struct {
	anywhere bool               // there is no telling where
	behind   []*types.Interface // they are put behind these
	asserted []*types.Interface // to which something behind an interface is taken
}

// An unseenFrom says where types come from that are not seen and may come in by an interface.
type unseenFrom int

const (
	nothingUnseen unseenFrom = iota
	ownUnseen                // packages of the program itself, among others
	modulesUnseen
)

// comesInUnseen reports whether a value of a type that is not seen may be behind an
// interface with some methods, at least.
func (p *parsedProgram) comesInUnseen(methods []string) bool {
	return p.comesInFrom(methods) != nothingUnseen
}

// comesInFrom says where such a value may be from.
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
	case u.anywhere: // it has methods that are not exported from what it embeds
		return modulesUnseen
	case !exported:
		return nothingUnseen
	case slices.ContainsFunc(u.behind, has) || len(u.behind) > 0 && slices.ContainsFunc(u.asserted, has):
		return modulesUnseen
	}
	return nothingUnseen
}

// methodsOf lists the names of an interface's methods.
func methodsOf(of types.Type) (names []string) {
	if i, ok := of.Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			names = append(names, m.Name())
		}
	}
	return names
}

// findUnseen goes through the whole program.
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
					u.asserted = append(u.asserted, tv.Type.Underlying().(*types.Interface)) // it may be: here it is named
				}
				return true
			})
		}
	}
	return u
}

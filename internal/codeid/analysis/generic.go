package analysis

import (
	"go/types"
	"iter"
)

// core returns the underlying type of a type: for a type parameter, the common one of its
// type set, or nil if there is none.
func core(of types.Type) types.Type {
	p, ok := types.Unalias(of).(*types.TypeParam)
	if !ok {
		return under(of)
	}
	var one types.Type
	for term := range terms(p.Constraint()) {
		if u := core(term); u == nil || one != nil && !types.Identical(u, one) {
			return nil
		} else {
			one = u
		}
	}
	return one
}

// terms lists the types that a constraint names.
func terms(constraint types.Type) iter.Seq[types.Type] {
	return func(yield func(types.Type) bool) {
		i, ok := constraint.Underlying().(*types.Interface)
		if !ok {
			yield(constraint)
			return
		}
		for e := range i.EmbeddedTypes() {
			if u, ok := types.Unalias(e).(*types.Union); ok {
				for t := range u.Terms() {
					if !yield(t.Type()) {
						return
					}
				}
				continue
			}
			for t := range terms(e) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// alike reports whether two types may be identical in some instance.
func alike(a, b types.Type) bool { return types.Identical(a, b) || generic(a) || generic(b) }

// generic reports whether a type contains type parameters.
func generic(of types.Type) bool {
	switch u := types.Unalias(of).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return generic(u.Elem())
	case *types.Slice:
		return generic(u.Elem())
	case *types.Array:
		return generic(u.Elem())
	case *types.Map:
		return generic(u.Key()) || generic(u.Elem())
	case *types.Chan:
		return generic(u.Elem())
	case *types.Named:
		for a := range u.TypeArgs().Types() {
			if generic(a) {
				return true
			}
		}
	}
	return false
}

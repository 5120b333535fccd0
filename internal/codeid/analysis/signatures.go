package analysis

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/larder-data/larder/internal/codeid/std"
)

// The program's sources make all function values whose type names a type of the program: as
// a literal, or by naming a function without a call. So if it is not visible which function
// a value is, it is one with its type: an option is one of the existing options.

// A value is a function used as a value.
type value struct {
	callee
	of      *types.Signature
	unknown bool // a method, or its body is not available
}

// valuesOf lists the functions that a value of a type may be, and reports whether the list
// is complete.
func (p *parsedProgram) valuesOf(of *types.Signature) (list []callee, ok bool) {
	if !isOwnSignature(of) || p.foreign() || p.makesFunctions() {
		return nil, false
	}
	for _, v := range p.allValues() {
		switch {
		case v.of.Params().Len() != of.Params().Len() || v.of.Results().Len() != of.Results().Len():
		case hasParameters(v.of, 0):
			return nil, false // of a type that differs from use to use
		case !types.Identical(v.of, of):
		case v.unknown:
			return nil, false
		default:
			list = append(list, v.callee)
		}
	}
	return list, len(list) > 0
}

// makesFunctions reports whether the program makes function values by reflection, which its
// sources do not show.
func (p *parsedProgram) makesFunctions() bool {
	return p.found.makesFunctions.get(func() bool {
		return p.namesAny("reflect", "MakeFunc", "Method", "MethodByName", "Methods")
	})
}

// namesAny reports whether the program's own code names one of the given functions or
// methods of a library package, or calls one of such a name through an interface.
func (p *parsedProgram) namesAny(path string, names ...string) bool {
	for _, k := range p.order {
		if k.engine {
			continue
		}
		for id, o := range k.info.Uses {
			f, ok := o.(*types.Func)
			if !ok || !slices.Contains(names, id.Name) {
				continue
			}
			if f.Pkg() == nil || f.Pkg().Path() == path || f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
				return true
			}
		}
	}
	return false
}

// allValues finds the functions used as values.
func (p *parsedProgram) allValues() []value {
	return p.found.values.get(func() (all []value) {
		for _, k := range p.order {
			if k.engine {
				continue
			}
			for _, d := range k.decls {
				walk(d.node, func(stack []ast.Node) bool {
					if v, ok := p.valueAt(d, stack); ok {
						all = append(all, v)
					}
					return true
				})
			}
		}
		return all
	})
}

// valueAt returns the function that the last of the nodes is, if it is used as a value.
func (p *parsedProgram) valueAt(d *decl, stack []ast.Node) (v value, ok bool) {
	info := d.info()
	switch n := stack[len(stack)-1].(type) {
	case *ast.FuncLit:
		v.of, ok = info.TypeOf(n).(*types.Signature)
		v.callee = callee{d, n}
		return v, ok
	case *ast.Ident:
		f, isFunc := info.Uses[n].(*types.Func)
		if !isFunc || isCalled(stack) {
			return v, false
		}
		e := ast.Expr(n)
		for i := len(stack) - 2; i >= 0; i-- { // package.F, x.Method, F[int]
			switch x := stack[i].(type) {
			case *ast.SelectorExpr:
				if x.Sel == e {
					e = x
					continue
				}
			case *ast.IndexExpr:
				if x.X == e {
					e = x
					continue
				}
			case *ast.IndexListExpr:
				if x.X == e {
					e = x
					continue
				}
			}
			break
		}
		if v.of, ok = under(info.TypeOf(e)).(*types.Signature); !ok {
			return v, false
		}
		k := p.declOf(f.Origin())
		v.unknown = k == nil || f.Signature().Recv() != nil || k.function().Body == nil
		v.callee = callee{k, nil}
		return v, true
	}
	return v, false
}

// isOwnSignature reports whether only sources of the program make functions of a type. It
// must contain a type of the program. It must not have the form of functions that generic
// library functions make from their type arguments: iterators, their callbacks, and
// functions without parameters.
func isOwnSignature(of *types.Signature) bool {
	if of.Params().Len() == 0 || hasParameters(of, 0) {
		return false
	}
	if r := of.Results(); r.Len() == 1 && of.Params().Len() <= 2 {
		if b, ok := r.At(0).Type().Underlying().(*types.Basic); ok && b.Kind() == types.Bool {
			return false
		}
	}
	own := false
	for _, tuple := range []*types.Tuple{of.Params(), of.Results()} {
		for v := range tuple.Variables() {
			switch o := owner(v.Type()); o {
			case ownedByProgram:
				own = true
			case ownedByOthers:
				return false
			}
		}
	}
	return own
}

// owned tells which code declares the types in a type.
type owned int

const (
	ownedByNobody owned = iota
	ownedByProgram
	ownedByOthers // or unknown
)

// owner returns the owner of the named type that a type is, points to, or lists. Library
// types have no owner.
func owner(of types.Type) owned {
	switch u := types.Unalias(of).(type) {
	case *types.Basic:
		return ownedByNobody
	case *types.Pointer:
		return owner(u.Elem())
	case *types.Slice:
		return owner(u.Elem())
	case *types.Array:
		return owner(u.Elem())
	case *types.Named:
		switch pkg := u.Obj().Pkg(); {
		case pkg == nil || std.Has(pkg.Path()):
			if u.TypeArgs().Len() > 0 {
				return ownedByOthers
			}
			return ownedByNobody
		case isEngine(pkg.Path()) || u.TypeArgs().Len() > 0:
			return ownedByOthers
		}
		return ownedByProgram
	}
	return ownedByOthers
}

// hasParameters reports whether a type contains type parameters.
func hasParameters(of types.Type, depth int) bool {
	if depth > 10 {
		return true
	}
	switch u := types.Unalias(of).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return hasParameters(u.Elem(), depth+1)
	case *types.Slice:
		return hasParameters(u.Elem(), depth+1)
	case *types.Array:
		return hasParameters(u.Elem(), depth+1)
	case *types.Chan:
		return hasParameters(u.Elem(), depth+1)
	case *types.Map:
		return hasParameters(u.Key(), depth+1) || hasParameters(u.Elem(), depth+1)
	case *types.Named:
		for a := range u.TypeArgs().Types() {
			if hasParameters(a, depth+1) {
				return true
			}
		}
	case *types.Struct:
		for f := range u.Fields() {
			if hasParameters(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Signature:
		return hasParameters(u.Params(), depth+1) || hasParameters(u.Results(), depth+1)
	case *types.Tuple:
		for v := range u.Variables() {
			if hasParameters(v.Type(), depth+1) {
				return true
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			if hasParameters(m.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

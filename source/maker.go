package source

import (
	"errors"
	"go/ast"
	"go/types"
	"math"
)

// errInit is returned for a literal that captures variables of what init does.
var errInit = errors.New("captures variables of an init function, which no key covers: make it in a function of its own")

// maker returns as root the function that makes a literal which captures some of its
// variables: the one that is declared around it or, where that is called while the
// program starts, the outermost literal. What the literal does is then done by the
// code of that function with what that is given.
func (d *decl) maker(lit *ast.FuncLit) (root, error) {
	r := root{decl: d, made: lit}
	making := &making{in: d, around: d.node, lit: lit, only: map[*decl]bool{}}
	var takes []*ast.FieldList
	if f := d.function(); f != nil && d.kind != "init" {
		takes = []*ast.FieldList{f.Recv, f.Type.TypeParams, f.Type.Params}
	} else {
		outer := d.outermost(lit)
		if outer == lit {
			return root{}, errInit
		}
		r.decl = &decl{file: d.file, kind: "literal", names: []string{d.names[0] + ".func"}, node: outer}
		r.decl.resolved()
		making.around = outer
		takes = []*ast.FieldList{outer.Type.Params}
	}
	for _, list := range takes {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			t := d.info().TypeOf(field.Type)
			if e, ok := field.Type.(*ast.Ellipsis); ok {
				t = types.NewSlice(d.info().TypeOf(e.Elt))
			}
			if isGeneric(t) {
				return root{}, errors.New("captures variables of a generic function, of which the code does not tell the type arguments: make it in a function without, or give it a version")
			}
			if bringsFunctions(t, d.file.pkg.program.hidesFunctions, map[types.Type]bool{}) {
				if _, one := under(t).(*types.Signature); one {
					r.gets += max(1, len(field.Names))
				} else {
					r.gets = anyNumber
				}
				r.unseen = append(r.unseen, problem{
					what: "functions that it is given as values", at: d.at(field.Pos()),
					cure: "the functions named where it is made",
				})
			}
			r.captured = append(r.captured, t)
		}
	}
	if d.file.pkg.engine { // whose makers capture parameters and what they make of these
		return r, nil
	}
	r.making = making
	for _, v := range d.captures(lit) {
		if v.Pos() < making.around.Pos() || v.Pos() >= making.around.End() {
			return root{}, errInit
		}
		r.takes = append(r.takes, v)
	}
	return r, making.checkOnce()
}

// outermost returns the outermost literal in a declaration around one.
func (d *decl) outermost(lit *ast.FuncLit) *ast.FuncLit {
	outer := lit
	walk(d.node, func(stack []ast.Node) bool {
		if stack[len(stack)-1] == lit {
			for _, n := range stack {
				if l, ok := n.(*ast.FuncLit); ok {
					outer = l
					break
				}
			}
		}
		return true
	})
	return outer
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

// isGeneric reports whether a type is, or is made of, a type parameter.
func isGeneric(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return isGeneric(t.Elem())
	case *types.Slice:
		return isGeneric(t.Elem())
	case *types.Interface:
		return !t.IsMethodSet() // a constraint
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if isGeneric(a) {
				return true
			}
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
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && handsIn(n.Obj().Pkg().Path()) {
		return false
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

package analysis

import (
	"errors"
	"go/ast"
	"go/types"
)

// errInit is returned for a literal that captures variables of init code.
var errInit = errors.New("captures variables of an init function, which no key covers: make it in a function of its own")

// errGeneric is returned for a literal that captures variables of a generic function.
var errGeneric = errors.New("captures variables of a generic function, whose type arguments are unknown; create it in a function without type parameters, or give it a version")

// maker returns as root the function that makes a literal with captured variables: the
// declared function around it or, if that runs at program start, the outermost literal. The
// code and the arguments of that function then identify the literal.
func (d *decl) maker(lit *ast.FuncLit) (root, error) {
	r := root{decl: d, made: lit}
	creation := &creation{in: d, around: d.node, lit: lit, only: map[*decl]bool{}}
	var takes []*ast.FieldList
	if f := d.function(); f != nil && d.kind != "init" {
		if isGeneric(d.info().Defs[f.Name].Type().(*types.Signature)) {
			return root{}, errGeneric
		}
		takes = []*ast.FieldList{f.Recv, f.Type.Params}
	} else {
		outer := d.outermost(lit)
		if outer == lit {
			return root{}, errInit
		}
		r.decl = &decl{file: d.file, kind: "literal", names: []string{d.names[0] + ".func"}, node: outer}
		r.decl.resolved()
		creation.around = outer
		takes = []*ast.FieldList{outer.Type.Params}
	}
	r.takesIn(creation, takes)
	if d.file.pkg.engine { // its makers capture parameters and values computed from these
		return r, nil
	}
	r.creation = creation
	for _, v := range d.captures(lit) {
		if v.Pos() < creation.around.Pos() || v.Pos() >= creation.around.End() {
			return root{}, errInit
		}
		r.takes = append(r.takes, v)
	}
	return r, creation.checkOnce()
}

// isGeneric reports whether a function has type parameters, or is a method of a type with
// some.
func isGeneric(f *types.Signature) bool {
	return f.TypeParams().Len() > 0 || f.RecvTypeParams().Len() > 0
}

// outermost returns the outermost literal in a declaration around a literal.
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

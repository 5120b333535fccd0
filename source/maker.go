package source

import (
	"errors"
	"go/ast"
	"go/types"
)

// errInit is returned for a literal that captures variables of what init does.
var errInit = errors.New("captures variables of an init function, which no key covers: make it in a function of its own")

// errGeneric is returned for a literal that captures variables of a generic function.
var errGeneric = errors.New("captures variables of a generic function, of which the code does not tell the type arguments: make it in a function without, or give it a version")

// maker returns as root the function that makes a literal which captures some of its
// variables: the one that is declared around it or, where that is called while the
// program starts, the outermost literal. What the literal does is then done by the
// code of that function with what that is given.
func (d *decl) maker(lit *ast.FuncLit) (root, error) {
	r := root{decl: d, made: lit}
	making := &making{in: d, around: d.node, lit: lit, only: map[*decl]bool{}}
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
		making.around = outer
		takes = []*ast.FieldList{outer.Type.Params}
	}
	r.takesIn(making, takes)
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

// isGeneric reports whether a function has type arguments, or is a method of a type
// that has some.
func isGeneric(f *types.Signature) bool {
	return f.TypeParams().Len() > 0 || f.RecvTypeParams().Len() > 0
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

package source

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// A pointer to a struct may be converted to one to another struct of the same fields,
// and structs without a name are one type wherever they are written: then fields are
// one memory with several names.

// twin notes a conversion of a pointer to a struct.
func (r *resolver) twin(n *ast.CallExpr) {
	if len(n.Args) != 1 || !r.info.Types[ast.Unparen(n.Fun)].IsType() {
		return
	}
	to, from := structBehind(r.info.TypeOf(n)), structBehind(r.info.TypeOf(n.Args[0]))
	if to != nil && from != nil && to != from && to.NumFields() == from.NumFields() {
		r.decl.twinned = append(r.decl.twinned, [2]*types.Struct{to, from})
	}
}

// structBehind is the struct that values of a type point to, or nil.
func structBehind(of types.Type) *types.Struct {
	if of == nil {
		return nil
	}
	p, ok := core(of).(*types.Pointer)
	if !ok {
		return nil
	}
	s, _ := core(p.Elem()).(*types.Struct)
	return s
}

// twins lists the fields that may be the same memory as one.
func (p *parsedProgram) twins(f *types.Var) []*types.Var {
	return p.found.twins.get(func() twins {
		all := twins{}
		var unnamed typeutil.Map // each the first of its kind
		for _, k := range p.order {
			if k.engine {
				continue
			}
			for _, d := range k.decls {
				r := d.resolved()
				for _, pair := range r.twinned {
					all.pair(pair[0], pair[1])
				}
				for _, s := range r.unnamed {
					if first, ok := unnamed.At(s).(*types.Struct); ok {
						all.pair(first, s)
					} else {
						unnamed.Set(s, s)
					}
				}
			}
		}
		return all
	})[f]
}

// twins are the fields that are the same memory as others.
type twins map[*types.Var][]*types.Var

// pair notes that the fields of two structs are the same memory.
func (t twins) pair(s, with *types.Struct) {
	for i := range min(s.NumFields(), with.NumFields()) {
		a, b := s.Field(i).Origin(), with.Field(i).Origin()
		if a != b && !slices.Contains(t[a], b) {
			t[a], t[b] = append(t[a], b), append(t[b], a)
		}
	}
}

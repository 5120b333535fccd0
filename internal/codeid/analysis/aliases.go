package analysis

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// A pointer to a struct can be converted to a pointer to another struct with the same
// fields, and equal unnamed structs are one type. Then several fields are names of the same
// memory.

// twin records a conversion of a pointer to a struct.
func (r *resolver) twin(n *ast.CallExpr) {
	if len(n.Args) != 1 || !r.info.Types[ast.Unparen(n.Fun)].IsType() {
		return
	}
	to, from := structBehind(r.info.TypeOf(n)), structBehind(r.info.TypeOf(n.Args[0]))
	if to != nil && from != nil && to != from && to.NumFields() == from.NumFields() {
		r.decl.twinned = append(r.decl.twinned, [2]*types.Struct{to, from})
	}
}

// structBehind returns the struct to which values of a type point, or nil.
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

// twins lists the fields that may share memory with f.
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

// twins maps fields to those that share their memory.
type twins map[*types.Var][]*types.Var

// pair records that the fields of two structs share memory.
func (t twins) pair(s, with *types.Struct) {
	for i := range min(s.NumFields(), with.NumFields()) {
		a, b := s.Field(i).Origin(), with.Field(i).Origin()
		if a != b && !slices.Contains(t[a], b) {
			t[a], t[b] = append(t[a], b), append(t[b], a)
		}
	}
}

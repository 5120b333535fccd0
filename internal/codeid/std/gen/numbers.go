package main

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Writes of numbers cannot change memory without numbers. So the analysis records whether a
// function writes only numbers.

// change records an observed write of values of some types.
func (a *analysis) change(to objects, of ...types.Type) {
	a.written(to)
	a.sum.certain.join(to)
	for _, t := range of {
		if !numbers(t) {
			a.sum.mixed.join(to)
		}
	}
	if len(of) == 0 {
		a.sum.mixed.join(to)
	}
}

// cast records that memory is treated as another type.
func (a *analysis) cast(i ssa.Instruction) {
	c, ok := i.(*ssa.Convert)
	if !ok {
		return
	}
	if b, ok := c.X.Type().Underlying().(*types.Basic); ok && b.Kind() == types.UnsafePointer {
		a.sum.mixed.join(a.value(c.X))
	}
}

// elements returns the types of the elements of a list or a map.
func elements(t types.Type) []types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return []types.Type{u.Elem()}
	case *types.Map:
		return []types.Type{u.Key(), u.Elem()}
	}
	return nil
}

// numbers reports whether values of a type consist of numbers only.
func numbers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsNumeric) != 0
	case *types.Array:
		return numbers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !numbers(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// usesUnsafe reports whether a package may treat memory as another type, and pass on
// pointers to it.
func usesUnsafe(p *types.Package) bool { return slices.Contains(p.Imports(), types.Unsafe) }

// numbers reports whether a function writes to memory of its operands, but only numbers,
// and neither retains it nor passes it on.
func (s *summary) numbers() bool {
	for i := range s.written.all {
		if s.mixed.has(i) {
			return false
		}
	}
	for i, in := range s.stored {
		for j := range in.all {
			if j/2 != i/2 {
				return false
			}
		}
	}
	return !s.written.empty() && s.handed.empty()
}

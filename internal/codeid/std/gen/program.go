package main

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A program is the standard library in SSA form.
type program struct {
	pkgs      []*packages.Package
	functions []*ssa.Function // with or without a body, in the order of their names
	fixes     corrections
	prog      *ssa.Program
}

func build(pkgs []*packages.Package, fixes corrections) *program {
	prog, _ := ssautil.AllPackages(pkgs, 0)
	prog.Build()
	p := &program{pkgs: pkgs, fixes: fixes, prog: prog}
	seen := map[*ssa.Function]bool{}
	add := func(f *ssa.Function) {
		if f != nil && !seen[origin(f)] {
			seen[origin(f)] = true
			p.functions = append(p.functions, origin(f))
		}
	}
	for f := range ssautil.AllFunctions(prog) {
		add(f)
	}
	for _, pkg := range pkgs { // generic ones, too
		for _, o := range pkg.TypesInfo.Defs {
			if f, ok := o.(*types.Func); ok {
				add(prog.FuncValue(f))
			}
		}
	}
	// Anonymous functions belong to the enclosing ones.
	for i := 0; i < len(p.functions); i++ {
		for _, anonymous := range p.functions[i].AnonFuncs {
			add(anonymous)
		}
	}
	slices.SortFunc(p.functions, func(a, b *ssa.Function) int {
		if c := strings.Compare(a.String(), b.String()); c != 0 {
			return c
		}
		return int(a.Pos()) - int(b.Pos())
	})
	return p
}

// origin returns the generic function of an instance.
func origin(f *ssa.Function) *ssa.Function {
	if o := f.Origin(); o != nil {
		return o
	}
	return f
}

// nameOf returns the name of a function in facts, "" if it has none.
func nameOf(f *ssa.Function) string {
	if o, ok := origin(f).Object().(*types.Func); ok && f.Synthetic == "" {
		return objectName(o)
	}
	return ""
}

// objectName returns the name of a function, method or variable in facts.
func objectName(o types.Object) string {
	if o.Pkg() == nil {
		if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
			return "error." + o.Name()
		}
		return "builtin." + o.Name()
	}
	if f, ok := o.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil {
			if n := named(recv.Type()); n != nil {
				return n.Obj().Pkg().Path() + "." + n.Obj().Name() + "." + o.Name()
			}
			return "" // of an unnamed interface
		}
	}
	return o.Pkg().Path() + "." + o.Name()
}

// named returns the declared type that t is, or points to.
func named(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	if n == nil || n.Obj().Pkg() == nil {
		return nil
	}
	return n
}

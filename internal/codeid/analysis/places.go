package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A place is the location of a used value of package sync.
type place struct {
	v     *types.Var   // a package variable, a field, or a local variable
	local bool         // it is a local variable
	base  types.Object // the variable that has it as a field, if named
}

// name returns the name of a package variable, or "".
func (at place) name() string {
	if at.v == nil || !isPackageVariable(at.v) {
		return ""
	}
	return at.v.Pkg().Path() + "." + at.v.Name()
}

// placeOf returns the location of the receiver of a method call; none if it may be one of
// several, or if a pointer from elsewhere leads to it.
func (d *decl) placeOf(call *ast.CallExpr) (at place) {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return place{}
	}
	sel := d.info().Selections[s]
	if sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) != 1 {
		return place{}
	}
	var v *types.Var
	switch x := ast.Unparen(s.X).(type) {
	case *ast.Ident:
		v, _ = d.info().Uses[x].(*types.Var)
	case *ast.SelectorExpr:
		v, _ = d.info().Uses[x.Sel].(*types.Var)
		at.base = baseOf(d.info(), x)
	}
	if v == nil {
		return place{}
	}
	at.v, at.local = v.Origin(), !v.IsField() && !isPackageVariable(v)
	if _, pointer := types.Unalias(v.Type()).(*types.Pointer); at.local && (pointer || d.isParameter(v)) {
		return place{}
	}
	return at
}

// isParameter reports whether a variable is a parameter or result of a function.
func (d *decl) isParameter(v *types.Var) (is bool) {
	ast.Inspect(d.node, func(n ast.Node) bool {
		if f, ok := n.(*ast.FieldList); ok {
			for _, list := range f.List {
				is = is || slices.ContainsFunc(list.Names, func(id *ast.Ident) bool { return d.info().Defs[id] == v })
			}
		}
		return !is
	})
	return is
}

// atOnce reports whether the last of the nodes runs, if at all, before the declared
// function ends: literals around it are called, deferred or started where they are.
func (d *decl) atOnce(stack []ast.Node) bool {
	for i, n := range stack {
		if _, ok := n.(*ast.FuncLit); !ok || i == 0 { // the function itself
			continue
		}
		call, ok := stack[i-1].(*ast.CallExpr)
		if !ok {
			return false
		}
		if f := staticCallee(d.info(), call); call.Fun != n && (f == nil || f.FullName() != "(*sync.WaitGroup).Go" && f.FullName() != "(*sync.Once).Do") {
			return false
		}
	}
	return true
}

// usedDirectly reports whether all uses of a variable or field of package sync are method
// calls, or make it.
func (p *parsedProgram) usedDirectly(v *types.Var) bool {
	direct := true
	p.mentions(v, func(m *decl, stack []ast.Node) {
		direct = direct && m.usesDirectly(stack)
	})
	return direct
}

// mentions calls do for all positions where the program names an object: the last of the
// nodes.
func (p *parsedProgram) mentions(o types.Object, do func(m *decl, stack []ast.Node)) {
	for _, m := range append(slices.Clip(p.indexed().mentioned[o]), p.declOf(o)) {
		if m == nil {
			continue
		}
		walk(m.node, func(stack []ast.Node) bool {
			if id, ok := stack[len(stack)-1].(*ast.Ident); ok && origin(m.info().Uses[id]) == o {
				do(m, stack)
			}
			return true
		})
	}
}

func (d *decl) usesDirectly(stack []ast.Node) bool {
	for i := len(stack) - 1; i > 0; i-- {
		switch n := stack[i-1].(type) {
		case *ast.ParenExpr:
		case *ast.KeyValueExpr: // of a literal
			return n.Key == stack[i] && d.isMade(n.Value)
		case *ast.SelectorExpr:
			if n.Sel == stack[i] {
				continue // base.v
			}
			f, isMethod := d.info().Uses[n.Sel].(*types.Func)
			if !isMethod { // New of a pool
				a, ok := stack[max(i-2, 0)].(*ast.AssignStmt)
				return ok && a.Tok == token.ASSIGN && slices.Contains(a.Lhs, ast.Expr(n))
			}
			call, ok := stack[max(i-2, 0)].(*ast.CallExpr)
			return ok && call.Fun == n && f.Pkg() != nil && f.Pkg().Path() == "sync"
		default:
			return false
		}
	}
	return false
}

// isMade reports whether an expression makes a new value.
func (d *decl) isMade(e ast.Expr) bool {
	switch e := strip(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return isBuiltin(d.info(), e, "new")
	}
	return false
}

// baseOf returns the variable x of an expression x.f, or nil.
func baseOf(info *types.Info, n ast.Node) types.Object {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	id, ok := ast.Unparen(s.X).(*ast.Ident)
	if !ok {
		return nil
	}
	return info.Uses[id]
}

package source

import (
	"go/ast"
	"go/types"
	"slices"
)

// callsThen are functions of the standard library that call what they are given then and
// there, and do not keep it.
var callsThen = setOf("go/ast.Inspect", "sort.Slice", "sort.SliceStable", "slices.SortFunc", "slices.SortStableFunc",
	"io/fs.WalkDir", "path/filepath.WalkDir", "strings.Map", "slices.IndexFunc", "slices.ContainsFunc", "slices.DeleteFunc", "maps.DeleteFunc")

// isLater is [isLater], but for literals that do not outlive the function around them:
// a visitor that is given to what only calls it, or is a variable that is only called.
func (d *decl) isLater(stack []ast.Node) bool {
	for i, n := range stack {
		lit, ok := n.(*ast.FuncLit)
		if _, goes := n.(*ast.GoStmt); goes {
			return true
		}
		if !ok || i == 0 {
			continue
		}
		switch p := stack[i-1].(type) {
		case *ast.CallExpr:
			if p.Fun == lit || d.visits(p, slices.Index(p.Args, ast.Expr(lit)), map[types.Object]bool{}) {
				continue
			}
		case *ast.AssignStmt:
			if at := slices.Index(p.Rhs, ast.Expr(lit)); len(p.Lhs) == len(p.Rhs) && d.onlyVisits(p.Lhs[at], map[types.Object]bool{}) {
				continue
			}
		}
		return true
	}
	return false
}

// visits reports whether what is called does nothing with an argument but call it then and
// there.
func (d *decl) visits(call *ast.CallExpr, arg int, seen map[types.Object]bool) bool {
	f := staticCallee(d.info(), call)
	if f == nil || arg < 0 {
		return false
	}
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && d.info().Selections[s] != nil && d.info().Selections[s].Kind() == types.MethodExpr {
		return false // whose first argument is the receiver
	}
	if f.Pkg() == nil || d.file.pkg.program.packages[f.Pkg().Path()] == nil {
		return f.Pkg() != nil && callsThen[stdName(f)]
	}
	c := d.file.pkg.program.declOf(f)
	if c == nil || f.Signature().Variadic() { // a method of an interface, or what universe has
		return false
	}
	fn := c.function()
	if fn == nil || fn.Body == nil {
		return false
	}
	n := 0
	for _, field := range fn.Type.Params.List {
		if len(field.Names) == 0 {
			n++ // nothing can be done with it
		}
		for _, id := range field.Names {
			if n == arg {
				return c.onlyVisits(id, seen)
			}
			n++
		}
	}
	return arg < n
}

// onlyVisits reports whether a function that a local variable holds is called then and
// there, or handed to what does no more, and nothing else.
func (d *decl) onlyVisits(name ast.Expr, seen map[types.Object]bool) bool {
	id, ok := name.(*ast.Ident)
	if !ok {
		return false
	}
	if id.Name == "_" {
		return true
	}
	v, ok := d.info().ObjectOf(id).(*types.Var)
	if !ok || isPackageVariable(v) || v.IsField() {
		return false
	}
	if seen[v] {
		return true // as far as it is known
	}
	seen[v] = true
	only := true
	walk(d.node, func(stack []ast.Node) bool {
		use, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[use] != v || !only {
			return only
		}
		only = d.usesThen(v, stack, seen)
		return only
	})
	return only
}

// usesThen reports whether one use of such a variable is of that kind: or gives it a value.
func (d *decl) usesThen(v *types.Var, stack []ast.Node, seen map[types.Object]bool) bool {
	use := stack[len(stack)-1].(*ast.Ident)
	for i, n := range stack { // in a literal only if that is the one that it holds
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.FuncLit:
			if i > 0 && v.Pos() < n.Pos() && !d.isOf(v, stack[i-1], n) {
				return false
			}
		}
	}
	switch p := stack[len(stack)-2].(type) {
	case *ast.CallExpr:
		return p.Fun == use || d.visits(p, slices.Index(p.Args, ast.Expr(use)), seen)
	case *ast.AssignStmt:
		return slices.Contains(p.Lhs, ast.Expr(use))
	case *ast.BinaryExpr:
		return true // is it nil?
	}
	return false
}

// isOf reports whether a literal is assigned to a variable.
func (d *decl) isOf(v *types.Var, parent ast.Node, lit *ast.FuncLit) bool {
	a, ok := parent.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != len(a.Rhs) {
		return false
	}
	id, ok := a.Lhs[slices.Index(a.Rhs, ast.Expr(lit))].(*ast.Ident)
	return ok && d.info().ObjectOf(id) == v
}

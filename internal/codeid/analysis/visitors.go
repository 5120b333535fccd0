package analysis

import (
	"go/ast"
	"go/types"
	"slices"
)

// callsThen are standard library functions that call their argument directly, and do not
// retain it.
var callsThen = setOf("go/ast.Inspect", "sort.Slice", "sort.SliceStable", "slices.SortFunc", "slices.SortStableFunc",
	"io/fs.WalkDir", "path/filepath.WalkDir", "strings.Map", "slices.IndexFunc", "slices.ContainsFunc", "slices.DeleteFunc", "maps.DeleteFunc")

// A visitor is a function literal that does not outlive the enclosing function: it is
// called directly, passed to functions that only call it, or held by a variable that is
// only called.
type visitor struct {
	seen  map[types.Object]bool // variables that hold it
	calls []visit
	lost  bool // the standard library calls it, too
}

// A visit is a call of a visitor.
type visit struct {
	d    *decl
	call *ast.CallExpr
}

// visitorOf returns a literal, the last but one of the nodes around it, as a visitor; nil
// if it may outlive the function.
func (d *decl) visitorOf(lit *ast.FuncLit, around ast.Node) *visitor {
	v := &visitor{seen: map[types.Object]bool{}}
	switch p := around.(type) {
	case *ast.CallExpr:
		if p.Fun == lit {
			v.calls = []visit{{d, p}}
			return v
		}
		if v.given(d, p, slices.Index(p.Args, ast.Expr(lit))) {
			return v
		}
	case *ast.AssignStmt:
		if at := slices.Index(p.Rhs, ast.Expr(lit)); len(p.Lhs) == len(p.Rhs) && v.held(d, p.Lhs[at]) {
			return v
		}
	}
	return nil
}

// isLater reports whether the last of the nodes is in a goroutine, or in a literal that may
// outlive the enclosing function.
func (d *decl) isLater(stack []ast.Node) bool {
	for i, n := range stack {
		switch n := n.(type) {
		case *ast.GoStmt:
			return true
		case *ast.FuncLit:
			if i > 0 && d.visitorOf(n, stack[i-1]) == nil {
				return true
			}
		}
	}
	return false
}

// given reports whether the called function only calls an argument directly.
func (v *visitor) given(d *decl, call *ast.CallExpr, arg int) bool {
	f := staticCallee(d.info(), call)
	if f == nil || arg < 0 || isMethodExpression(d.info(), call) {
		return false
	}
	if f.Pkg() == nil || d.file.pkg.program.packages[f.Pkg().Path()] == nil {
		v.lost = true
		return f.Pkg() != nil && callsThen[stdName(f)]
	}
	c := d.file.pkg.program.declOf(f)
	if c == nil || f.Signature().Variadic() { // a method of an interface
		return false
	}
	fn := c.function()
	if fn == nil || fn.Body == nil {
		return false
	}
	n := 0
	for _, field := range fn.Type.Params.List {
		if len(field.Names) == 0 {
			n++ // it cannot be used
		}
		for _, id := range field.Names {
			if n == arg {
				return v.held(c, id)
			}
			n++
		}
	}
	return arg < n
}

// held reports whether a local variable with the visitor is only called directly, or passed
// to functions that only call it.
func (v *visitor) held(d *decl, name ast.Expr) bool {
	id, ok := name.(*ast.Ident)
	if !ok || id.Name == "_" {
		return ok
	}
	o, ok := d.info().ObjectOf(id).(*types.Var)
	if !ok || isPackageVariable(o) || o.IsField() || d.isResult(o) {
		return false
	}
	if v.seen[o] {
		return true // until found otherwise
	}
	v.seen[o] = true
	only := true
	walk(d.node, func(stack []ast.Node) bool {
		if use, ok := stack[len(stack)-1].(*ast.Ident); ok && d.info().Uses[use] == o {
			only = only && v.used(d, o, stack)
		}
		return only
	})
	return only
}

// used reports whether a use of such a variable is one of these, or assigns it.
func (v *visitor) used(d *decl, o *types.Var, stack []ast.Node) bool {
	use := stack[len(stack)-1].(*ast.Ident)
	for i, n := range stack { // in a literal only if the variable holds that one
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.FuncLit:
			if i > 0 && o.Pos() < n.Pos() && !d.isAssigned(o, stack[i-1], n) {
				return false
			}
		}
	}
	switch p := stack[len(stack)-2].(type) {
	case *ast.CallExpr:
		if p.Fun == use {
			v.calls = append(v.calls, visit{d, p})
			return true
		}
		return v.given(d, p, slices.Index(p.Args, ast.Expr(use)))
	case *ast.AssignStmt:
		return slices.Contains(p.Lhs, ast.Expr(use))
	case *ast.BinaryExpr:
		return true // comparison with nil
	}
	return false
}

// isAssigned reports whether a literal is assigned to a variable.
func (d *decl) isAssigned(o *types.Var, around ast.Node, lit *ast.FuncLit) bool {
	a, ok := around.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != len(a.Rhs) {
		return false
	}
	id, ok := a.Lhs[slices.Index(a.Rhs, ast.Expr(lit))].(*ast.Ident)
	return ok && d.info().ObjectOf(id) == o
}

// isResult reports whether a variable is a result of a function, which its callers receive.
func (d *decl) isResult(o *types.Var) (found bool) {
	ast.Inspect(d.node, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok && f.Results != nil {
			found = found || f.Results.Pos() <= o.Pos() && o.Pos() < f.Results.End()
		}
		return !found
	})
	return found
}

// visited traces a parameter of a literal back to its arguments.
func (t *tracer) visited(d *decl, o *types.Var) {
	walk(d.node, func(stack []ast.Node) bool {
		lit, ok := stack[len(stack)-1].(*ast.FuncLit)
		if !ok || len(stack) < 2 || lit.Type.Params.Pos() > o.Pos() || o.Pos() >= lit.Type.Params.End() {
			return true
		}
		s, _ := d.info().TypeOf(lit).(*types.Signature)
		v := d.visitorOf(lit, stack[len(stack)-2])
		if s == nil || v == nil || v.lost {
			t.lost(d, lit, "an argument of a function literal")
			return true
		}
		n := slices.Index(slices.Collect(s.Params().Variables()), o)
		for _, c := range v.calls {
			switch {
			case s.Variadic() || len(c.call.Args) != s.Params().Len() || n < 0:
				t.lost(c.d, c.call, "an argument of a function literal")
			default:
				t.source(c.d, c.call.Args[n])
			}
		}
		return true
	})
}

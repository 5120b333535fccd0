package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A copy of a lock, or a comparison with one, shows its owner, and for a sync.Once whether
// it is done. (Go vet finds most copies, too.)

// lockCopy returns how the last of the nodes observes the state of locks in a value, or "".
func (r *resolver) lockCopy(stack []ast.Node) string {
	e, ok := stack[len(stack)-1].(ast.Expr)
	if !ok || len(stack) < 2 {
		return ""
	}
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr, *ast.IndexExpr, *ast.ParenExpr, *ast.TypeAssertExpr:
	default:
		return "" // literals are new, and results were copied before
	}
	what := r.usedAs(e, stack[len(stack)-2])
	if what == "" {
		return ""
	}
	if tv, ok := r.info.Types[e]; ok && !tv.IsValue() || !r.p.hasLock(r.info.TypeOf(e)) {
		return ""
	}
	return what
}

// usedAs returns how a node copies or compares an expression that contains locks, or "".
func (r *resolver) usedAs(e ast.Expr, by ast.Node) string {
	const copied = "a copy of a lock, which shows its state"
	is := false
	switch p := by.(type) {
	case *ast.BinaryExpr:
		return "a comparison of locks, which shows their states"
	case *ast.AssignStmt:
		is = slices.Contains(p.Rhs, e)
	case *ast.ValueSpec:
		is = slices.Contains(p.Values, e)
	case *ast.CallExpr:
		is = p.Fun != e && !isBuiltin(r.info, p, "new", "len", "cap")
	case *ast.KeyValueExpr:
		is = p.Value == e
	case *ast.IndexExpr:
		is = p.Index == e
	case *ast.SelectorExpr: // a method with a value receiver
		if sel := r.info.Selections[p]; p.X == e && sel != nil && sel.Kind() == types.MethodVal {
			f, ok := sel.Obj().(*types.Func)
			is = ok && r.p.hasLock(f.Signature().Recv().Type())
		}
	case *ast.ReturnStmt, *ast.CompositeLit, *ast.SendStmt, *ast.SwitchStmt, *ast.CaseClause:
		is = true
	case *ast.RangeStmt:
		is = p.Value == e && p.Tok == token.ASSIGN
	}
	if is {
		return copied
	}
	return ""
}

// hasLock reports whether a value of a type is or contains a type of package sync.
func (p *parsedProgram) hasLock(of types.Type) bool {
	switch t := types.Unalias(of).(type) {
	case *types.Named:
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return false
		}
		if has, ok := p.found.locks.Load(t); ok {
			return has.(bool)
		}
		pkg := t.Obj().Pkg()
		has := pkg != nil && pkg.Path() == "sync" || p.hasLock(s)
		p.found.locks.Store(t, has)
		return has
	case *types.Array:
		return p.hasLock(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if p.hasLock(f.Type()) {
				return true
			}
		}
	}
	return false
}

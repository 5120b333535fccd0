package source

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A copy of a lock, or a comparison with one, tells who holds it, and of a sync.Once
// whether it is done. (Go vet finds most copies, too.)

// lockCopy returns what the last of the nodes does with the state of locks, if it
// uses a value that has some, as such; or "".
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
	if tv, ok := r.info.Types[e]; ok && !tv.IsValue() || !r.hasLock(r.info.TypeOf(e)) {
		return ""
	}
	const copied = "a copy of a lock, which tells who holds it"
	switch p := stack[len(stack)-2].(type) {
	case *ast.BinaryExpr:
		return "a comparison of locks, which tells who holds them"
	case *ast.AssignStmt:
		for _, v := range p.Rhs {
			if v == e {
				return copied
			}
		}
	case *ast.ValueSpec:
		for _, v := range p.Values {
			if v == e {
				return copied
			}
		}
	case *ast.CallExpr:
		if p.Fun != e && !isBuiltin(r.info, p, "new", "len", "cap") {
			return copied
		}
	case *ast.KeyValueExpr:
		if p.Value == e {
			return copied
		}
	case *ast.IndexExpr:
		if p.Index == e {
			return copied
		}
	case *ast.SelectorExpr: // a method that has its receiver by value
		if sel := r.info.Selections[p]; sel != nil && sel.Kind() == types.MethodVal && p.X == e {
			if f, ok := sel.Obj().(*types.Func); ok && r.hasLock(f.Signature().Recv().Type()) {
				return copied
			}
		}
	case *ast.ReturnStmt, *ast.CompositeLit, *ast.SendStmt, *ast.SwitchStmt, *ast.CaseClause:
		return copied
	case *ast.RangeStmt:
		if p.Value == e && p.Tok == token.ASSIGN {
			return copied
		}
	}
	return ""
}

// hasLock reports whether a value of a type is, or has in itself, one of package
// sync.
func (r *resolver) hasLock(of types.Type) bool {
	if of == nil {
		return false
	}
	if has, ok := r.locks[of]; ok {
		return has
	}
	has := false
	if r.locks == nil {
		r.locks = map[types.Type]bool{}
	}
	r.locks[of] = false
	switch t := types.Unalias(of).(type) {
	case *types.Named:
		p := t.Obj().Pkg()
		_, isStruct := t.Underlying().(*types.Struct)
		has = isStruct && (p != nil && p.Path() == "sync" || r.hasLock(t.Underlying()))
	case *types.Array:
		has = r.hasLock(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			has = has || r.hasLock(f.Type())
		}
	}
	r.locks[of] = has
	return has
}

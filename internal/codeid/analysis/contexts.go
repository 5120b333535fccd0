package analysis

import (
	"go/ast"
	"go/types"
	"slices"
)

// contextShown returns how the last of the nodes observes the content of a context: by
// printing it, or by asserting other methods.
func (r *resolver) contextShown(stack []ast.Node) string {
	const shown = "a context behind another interface, where what its values are can be seen"
	switch n := stack[len(stack)-1].(type) {
	case *ast.TypeAssertExpr:
		if isContext(r.info.TypeOf(n.X)) {
			return shown
		}
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr:
		e := n.(ast.Expr)
		if len(stack) < 2 || !isContext(r.info.TypeOf(e)) {
			return ""
		}
		if t := r.becomes(e, stack[len(stack)-2]); t != nil && types.IsInterface(t) && !isContext(t) {
			return shown
		}
	}
	return ""
}

func isContext(of types.Type) bool {
	n, ok := types.Unalias(of).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" && n.Obj().Name() == "Context"
}

// becomes returns the type to which a node converts an expression, or nil.
func (r *resolver) becomes(e ast.Expr, by ast.Node) types.Type {
	switch p := by.(type) {
	case *ast.CallExpr:
		if r.info.Types[ast.Unparen(p.Fun)].IsType() {
			return r.info.TypeOf(p)
		}
		s, ok := under(r.info.TypeOf(p.Fun)).(*types.Signature)
		i := slices.Index(p.Args, e)
		if !ok || i < 0 || s.Params().Len() == 0 {
			return nil
		}
		t := s.Params().At(min(i, s.Params().Len()-1)).Type()
		if list, ok := under(t).(*types.Slice); ok && s.Variadic() && i >= s.Params().Len()-1 && !p.Ellipsis.IsValid() {
			t = list.Elem()
		}
		return t
	case *ast.AssignStmt:
		if i := slices.Index(p.Rhs, e); i >= 0 && len(p.Lhs) == len(p.Rhs) {
			return r.info.TypeOf(p.Lhs[i])
		}
	case *ast.ValueSpec:
		if p.Type != nil {
			return r.info.TypeOf(p.Type)
		}
	case *ast.CompositeLit:
		return elementOrValue(r.info.TypeOf(p))
	case *ast.KeyValueExpr:
		if id, ok := p.Key.(*ast.Ident); ok && p.Value == e && r.info.Uses[id] != nil {
			return r.info.Uses[id].Type()
		}
	}
	return nil
}

// elementOrValue returns the type of the elements of a list or map, or nil.
func elementOrValue(of types.Type) types.Type {
	if m, ok := under(of).(*types.Map); ok {
		return m.Elem()
	}
	return elementOf(of)
}

package source

import "go/ast"

// outlives reports whether a variable of a loop can be used after its turn: it
// is captured by a function literal, or its address is taken. Whether such a
// variable is the same in all turns depends on the version of the language
// that the module asks for, which a program does not know of modules that have
// no version themselves.
func outlives(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch loop := n.(type) {
		case *ast.ForStmt:
			if init, ok := loop.Init.(*ast.AssignStmt); ok {
				found = found || escapes(loop.Body, init.Lhs...)
			}
		case *ast.RangeStmt:
			found = found || escapes(loop.Body, loop.Key, loop.Value)
		}
		return !found
	})
	return found
}

// escapes reports whether one of the variables is captured or has its address
// taken in a loop's body.
func escapes(body *ast.BlockStmt, variables ...ast.Expr) bool {
	objects := map[*ast.Object]bool{}
	for _, v := range variables {
		if id, ok := v.(*ast.Ident); ok && id.Obj != nil {
			objects[id.Obj] = true
		}
	}
	found := false
	uses := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && objects[id.Obj]
			return !found
		})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			uses(n)
		case *ast.UnaryExpr:
			uses(n)
		}
		return !found
	})
	return found
}

package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// The values of a local variable or parameter are known if all assignments and arguments
// are visible. This file lists them, and resolves function values.

// A given is an expression whose value a variable may have.
type given struct {
	d *decl
	e ast.Expr
}

// givens lists the values of a local variable or parameter, and reports whether the list is
// complete.
func (p *parsedProgram) givens(d *decl, v *types.Var) (list []given, ok bool) {
	if isPackageVariable(v) || v.IsField() || d.pointsTo(v) {
		return nil, false
	}
	for _, e := range d.assignments(v) {
		list = append(list, given{d, e})
	}
	if !d.isOperand(v) {
		return list, true
	}
	passed, ok := p.passed(d, v)
	return append(list, passed...), ok
}

// isOperand reports whether a variable is a parameter, a receiver or a result, also of a
// function literal in the declaration.
func (d *decl) isOperand(v *types.Var) (found bool) {
	has := func(l *ast.FieldList) bool {
		return l != nil && slices.ContainsFunc(l.List, func(f *ast.Field) bool {
			return slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return d.info().Defs[id] == v })
		})
	}
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			found = found || has(n.Recv)
		case *ast.FuncType:
			found = found || has(n.Params) || has(n.Results)
		}
		return !found
	})
	return found
}

// passed lists the arguments for a parameter of the declared function, and reports whether
// the list is complete.
func (p *parsedProgram) passed(d *decl, v *types.Var) (list []given, ok bool) {
	f, isFunc := d.object().(*types.Func)
	if !isFunc || !p.inSight(d) {
		return nil, false
	}
	s := f.Signature()
	n := slices.Index(slices.Collect(s.Params().Variables()), v)
	if n < 0 || s.Variadic() && n == s.Params().Len()-1 {
		return nil, false
	}
	ok = true
	for _, m := range p.mentioned[f] {
		walk(m.node, func(stack []ast.Node) bool {
			if id, isIdent := stack[len(stack)-1].(*ast.Ident); !isIdent || origin(m.info().Uses[id]) != f {
				return true
			}
			call := callOf(m.info(), stack, f)
			if call == nil || len(call.Args) <= n || len(call.Args) == 1 && s.Params().Len() > 1 {
				ok = false
				return true
			}
			list = append(list, given{m, call.Args[n]})
			return true
		})
	}
	return list, ok
}

// callOf returns the call of a function that the last of the nodes names, or nil if it is
// not called there.
func callOf(info *types.Info, stack []ast.Node, f *types.Func) *ast.CallExpr {
	if !isCalled(stack) {
		return nil
	}
	for i := len(stack) - 1; i >= 0; i-- {
		if call, ok := stack[i].(*ast.CallExpr); ok {
			if staticCallee(info, call) != f || isMethodExpression(info, call) {
				return nil
			}
			return call
		}
	}
	return nil
}

// inSight reports whether a function is called only where the sources name it.
func (p *parsedProgram) inSight(d *decl) bool {
	switch {
	case d.file.pkg.assembly || p.roots[d.object()]:
		return false
	case d.kind == "method" && p.mayBeHeld(d):
		return false
	}
	return p.callersUnseen(d.file.pkg) == "" || d.file.pkg.main || !p.callable(d, map[*decl]bool{})
}

// A callee is a possible function of a value: a literal in a declaration, or a declared
// function.
type callee struct {
	d   *decl
	lit *ast.FuncLit
}

// callees lists the functions that a value may be, and reports whether the list is
// complete.
func (p *parsedProgram) callees(d *decl, e ast.Expr) ([]callee, bool) {
	var list []callee
	seen := map[*types.Var]bool{}
	var find func(d *decl, e ast.Expr) bool
	find = func(d *decl, e ast.Expr) bool {
		if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
			list = append(list, callee{d, lit})
			return true
		}
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && d.info().Types[ast.Unparen(call.Fun)].IsType() {
			return find(d, call.Args[0])
		}
		switch o := named(d.info(), e).(type) {
		case *types.Nil:
			return true
		case *types.Func:
			k := p.declOf(o)
			if k == nil || o.Signature().Recv() != nil || k.function().Body == nil {
				return false
			}
			list = append(list, callee{k, nil})
			return true
		case *types.Var:
			if seen[o] {
				return true
			}
			seen[o] = true
			all, ok := p.givens(d, o)
			return ok && !slices.ContainsFunc(all, func(g given) bool { return !find(g.d, g.e) })
		}
		return false
	}
	if find(d, e) && len(list) > 0 {
		return list, true
	}
	if of, ok := under(d.info().TypeOf(e)).(*types.Signature); ok {
		return p.valuesOf(of)
	}
	return nil, false
}

// params returns the parameters of a callee.
func (c callee) params() *types.Tuple {
	if c.lit != nil {
		s, _ := c.d.info().TypeOf(c.lit).(*types.Signature)
		return s.Params()
	}
	return c.d.object().(*types.Func).Signature().Params()
}

// body returns the callee's body and its syntactic type.
func (c callee) body() (*ast.BlockStmt, *ast.FuncType) {
	if c.lit != nil {
		return c.lit.Body, c.lit.Type
	}
	return c.d.function().Body, c.d.function().Type
}

// named returns the object that an expression names, also as an instance, or nil.
func named(info *types.Info, e ast.Expr) types.Object {
	e = ast.Unparen(e)
	if _, isFunc := under(info.TypeOf(e)).(*types.Signature); isFunc {
		switch x := e.(type) {
		case *ast.IndexExpr:
			if id := ast.Unparen(x.X); isFunction(info, id) {
				e = id
			}
		case *ast.IndexListExpr:
			e = ast.Unparen(x.X)
		}
	}
	switch x := e.(type) {
	case *ast.Ident:
		return origin(info.Uses[x])
	case *ast.SelectorExpr:
		if o, ok := info.Uses[x.Sel].(*types.Func); ok {
			return o.Origin()
		}
	}
	return nil
}

// isFunction reports whether an expression names a declared function.
func isFunction(info *types.Info, e ast.Expr) bool {
	_, ok := funcNamed(info, e).(*types.Func)
	return ok
}

// pointsTo reports whether the address of a variable is taken, also by calling a pointer
// method.
func (d *decl) pointsTo(v *types.Var) bool {
	found := false
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && rootOf(d.info(), n.X) == v
		case *ast.SelectorExpr:
			sel := d.info().Selections[n]
			found = found || sel != nil && sel.Kind() == types.MethodVal && rootOf(d.info(), n.X) == v && byPointer(sel)
		}
		return !found
	})
	return found
}

// byPointer reports whether a method has a pointer receiver.
func byPointer(sel *types.Selection) bool {
	f, ok := sel.Obj().(*types.Func)
	if !ok || types.IsInterface(f.Signature().Recv().Type()) {
		return false
	}
	_, pointer := types.Unalias(f.Signature().Recv().Type()).(*types.Pointer)
	_, already := types.Unalias(sel.Recv()).(*types.Pointer)
	return pointer && !already
}

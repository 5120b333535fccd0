package analysis

import (
	"go/ast"
	"go/types"
	"slices"
)

// returns traces a result of a function to its calls.
func (t *tracer) returns(f *types.Func, i int) {
	f = f.Origin()
	if r := (returned{f, i}); t.returned[r] {
		return
	} else {
		t.returned[r] = true
	}
	t.leaked = t.leaked || f.Exported() && t.root.Pkg().Name() != "main"
	if m := t.p.declOf(f); m != nil && m.recv != nil && !t.handedToLibrary(m, f, i) {
		return
	}
	visit := func(d *decl, is func(*ast.Ident) bool, dispatched bool) {
		walk(d.node, func(stack []ast.Node) bool {
			id, ok := stack[len(stack)-1].(*ast.Ident)
			if !ok || t.problem != nil || !is(id) {
				return true
			}
			at := len(stack) - 2
			for at >= 0 {
				switch stack[at].(type) {
				case *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr, *ast.ParenExpr:
					at--
					continue
				}
				break
			}
			call, ok := stack[max(at, 0)].(*ast.CallExpr)
			switch {
			case ok && isCalled(stack):
				t.result(d, stack[:at+1], i, f.Signature().Results().Len())
			case !dispatched && ok && d.toEngine(call) && !isBorrowed(f.Signature().Results().At(i).Type(), nil):
			default:
				t.lost(d, id, "whatever calls "+f.Name()+", which is passed on as a value and returns it,")
			}
			return true
		})
	}
	for _, d := range t.p.mentioned[f] {
		visit(d, func(id *ast.Ident) bool { return origin(d.info().Uses[id]) == f }, false)
	}
	if f.Signature().Recv() != nil {
		for _, d := range t.p.called[f.Name()] {
			visit(d, func(id *ast.Ident) bool {
				g, ok := d.info().Uses[id].(*types.Func)
				return ok && g.Name() == f.Name() && g.Signature().Recv() != nil && types.IsInterface(g.Signature().Recv().Type())
			}, true)
		}
	}
}

// handedToLibrary traces a result of a method into the standard library, which may call it,
// and reports whether that is possible.
func (t *tracer) handedToLibrary(m *decl, f *types.Func, i int) bool {
	if f.Exported() && t.p.mayBeHeld(m) && t.p.namesMethods() {
		t.namedOn(f.Signature().Results().At(i).Type(), map[types.Type]bool{})
		if t.p.writesByReflection() {
			t.lost(m, m.node, "whatever calls "+m.name()+" by its name and writes by reflection")
		}
	}
	if t.p.libraryMayCall(m, f) {
		t.lost(m, m.node, "whatever the library hands it to, which may call "+m.name()+",")
	}
	return t.problem == nil
}

// result traces result i of a call.
func (t *tracer) result(d *decl, stack []ast.Node, i, of int) {
	if of == 1 {
		t.flow(d, slices.Clone(stack), false)
		return
	}
	call := stack[len(stack)-1].(ast.Expr)
	tuple, ok := d.info().TypeOf(call).(*types.Tuple)
	if !ok || i >= tuple.Len() || !t.carries(tuple.At(i).Type()) {
		return
	}
	switch p := stack[len(stack)-2].(type) {
	case *ast.AssignStmt:
		if len(p.Lhs) == tuple.Len() {
			t.store(d, p.Lhs[i], stack)
		}
	case *ast.ValueSpec:
		if len(p.Names) == tuple.Len() {
			t.holds(d.info().Defs[p.Names[i]])
		}
	case *ast.ReturnStmt:
		t.returnedBy(d, stack[:len(stack)-2], i)
	case *ast.CallExpr:
		if !t.argument(d, p, i, i, tuple.At(i).Type()) {
			return
		}
		t.flow(d, slices.Clone(stack[:len(stack)-1]), false)
	case *ast.ExprStmt:
	default:
		t.lost(d, call, "what cannot be followed")
	}
}

// toEngine reports whether a call is one of Larder's own functions, which copy their
// arguments and results, except those with functions in them.
func (d *decl) toEngine(call *ast.CallExpr) bool {
	f := staticCallee(d.info(), call)
	return f != nil && f.Pkg() != nil && isEngine(f.Pkg().Path())
}

// isBorrowed reports whether Larder does not copy values of a type, because they contain
// functions or channels.
func isBorrowed(of types.Type, seen map[types.Type]bool) bool {
	if seen == nil {
		seen = map[types.Type]bool{}
	}
	if of == nil || seen[of] {
		return false
	}
	seen[of] = true
	switch u := of.Underlying().(type) {
	case *types.Signature, *types.Chan:
		return true
	case *types.Pointer:
		return isBorrowed(u.Elem(), seen)
	case *types.Slice:
		return isBorrowed(u.Elem(), seen)
	case *types.Array:
		return isBorrowed(u.Elem(), seen)
	case *types.Map:
		return isBorrowed(u.Key(), seen) || isBorrowed(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if isBorrowed(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// returnedBy traces what the enclosing function returns.
func (t *tracer) returnedBy(d *decl, stack []ast.Node, n int) {
	for i := len(stack) - 1; i >= 0; i-- {
		lit, ok := stack[i].(*ast.FuncLit)
		if !ok {
			continue
		}
		if i == 0 { // the declaration itself
			return
		}
		t.literalReturns(d, stack[:i+1], lit, n)
		return
	}
	if f, ok := d.object().(*types.Func); ok {
		t.returns(f, n)
	}
}

// A returnedLiteral is a result of a function literal.
type returnedLiteral struct {
	lit *ast.FuncLit
	i   int
}

// literalReturns traces what a function literal returns.
func (t *tracer) literalReturns(d *decl, stack []ast.Node, lit *ast.FuncLit, n int) {
	if r := (returnedLiteral{lit, n}); len(stack) < 2 || t.literals[r] || t.creation != nil && lit == t.creation.lit { // Larder calls it
		return
	} else {
		t.literals[r] = true
	}
	results := d.info().TypeOf(lit).(*types.Signature).Results().Len()
	switch p := stack[len(stack)-2].(type) {
	case *ast.CallExpr:
		if p.Fun == lit {
			t.result(d, stack[:len(stack)-1], n, results)
			return
		}
		if d.toEngine(p) && !isBorrowed(d.info().TypeOf(lit).(*types.Signature).Results().At(n).Type(), nil) || t.memo && d == t.decl { // a memoizing function is the variable itself
			return
		}
	case *ast.AssignStmt:
		for i, e := range p.Rhs {
			if id, ok := p.Lhs[min(i, len(p.Lhs)-1)].(*ast.Ident); ok && e == lit {
				o := d.info().Defs[id]
				if o == nil {
					o = d.info().Uses[id]
				}
				if t.callsOf(d, o, n, results) {
					return
				}
			}
		}
	}
	t.lost(d, lit, "whatever calls the function literal that returns it")
}

// callsOf traces the results of calls of a local variable, and reports whether it is only
// called.
func (t *tracer) callsOf(d *decl, o types.Object, n, results int) bool {
	if v, ok := o.(*types.Var); !ok || v.Parent() == v.Pkg().Scope() {
		return false
	}
	only := true
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[id] != o {
			return true
		}
		if p, ok := stack[len(stack)-2].(*ast.AssignStmt); ok && slices.Contains(p.Lhs, ast.Expr(id)) {
			return true
		}
		if !isCalled(stack) {
			only = false
			return true
		}
		t.result(d, stack[:len(stack)-1], n, results)
		return true
	})
	return only
}

package analysis

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// carelessOnce returns why the effect of a sync.Once, or whether it runs, may depend on its
// first caller.
func (d *decl) carelessOnce(u use) string {
	const first = "a sync.Once that does what the first caller passes"
	p := d.file.pkg.program
	at := d.placeOf(u.call)
	switch {
	case at.local && d.atOnce(u.stack):
		return ""
	case at.v == nil || at.local:
		return "a sync.Once of which it is not known which one it is"
	case !p.usedDirectly(at.v):
		return "a sync.Once that is handed on, or replaced"
	case d.firstComes(u.call, at.base) || !p.oneFunction(at.v):
		return first
	case p.recovers() && d.panics(u.call.Args):
		return "a sync.Once whose function panics, which only the first caller sees"
	}
	return ""
}

// oneFunction reports whether a sync.Once always runs the same function: a named one, or
// one literal.
func (p *parsedProgram) oneFunction(v *types.Var) bool {
	var of any
	one := true
	p.mentions(v, func(m *decl, stack []ast.Node) {
		for _, n := range slices.Backward(stack) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				continue
			}
			if len(call.Args) != 1 || m.placeOf(call).v != v {
				return
			}
			var f any = call.Args[0]
			if o := funcNamed(m.info(), call.Args[0]); o != nil {
				f = o
			}
			one = one && (of == nil || of == f)
			of = f
			return
		}
	})
	return one
}

// guardOf returns the package variable or field whose Do is called: a sync.Once, or nil.
func (d *decl) guardOf(call *ast.CallExpr) *types.Var {
	if f := staticCallee(d.info(), call); f == nil || f.FullName() != "(*sync.Once).Do" {
		return nil
	}
	if at := d.placeOf(call); !at.local {
		return at.v
	}
	return nil
}

// firstComes reports whether the function of a lasting sync.Once depends on its first
// caller: it captures variables other than the one with the sync.Once as a field, or is a
// function value.
func (d *decl) firstComes(call *ast.CallExpr, base types.Object) bool {
	if len(call.Args) != 1 || d.isGeneric(base) {
		return true
	}
	switch f := ast.Unparen(call.Args[0]).(type) {
	case *ast.FuncLit:
		return slices.ContainsFunc(d.captures(f), func(v *types.Var) bool { return types.Object(v) != base })
	case *ast.Ident:
		_, named := d.info().Uses[f].(*types.Func)
		return !named
	case *ast.SelectorExpr:
		if sel := d.info().Selections[f]; sel != nil {
			return sel.Kind() != types.MethodVal || base == nil || baseOf(d.info(), f) != base
		}
		_, named := d.info().Uses[f.Sel].(*types.Func)
		return !named
	}
	return true
}

// panics reports whether a passed function may call panic, directly or indirectly.
func (d *decl) panics(args []ast.Expr) bool {
	if len(args) != 1 {
		return false
	}
	if d.callsBuiltin(args[0], "panic") {
		return true
	}
	seen, panics := map[*decl]bool{}, false
	ast.Inspect(args[0], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !panics {
			panics = d.file.pkg.program.declOf(origin(d.info().Uses[id])).mayPanic(seen)
		}
		return !panics
	})
	return panics
}

// mayPanic reports whether a declaration, or one that it names, calls panic.
func (d *decl) mayPanic(seen map[*decl]bool) bool {
	if d == nil || seen[d] {
		return false
	}
	seen[d] = true
	return d.callsBuiltin(d.node, "panic") || slices.ContainsFunc(d.resolved().targets, func(t *decl) bool { return t.mayPanic(seen) })
}

func (d *decl) callsBuiltin(in ast.Node, name string) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || isBuiltin(d.info(), call, name)
		}
		return !found
	})
	return found
}

// isGeneric reports whether a function has types that differ between calls, rather than
// between receivers.
func (d *decl) isGeneric(base types.Object) bool {
	f, ok := d.object().(*types.Func)
	if !ok {
		return false
	}
	s := f.Signature()
	return s.TypeParams().Len() > 0 || s.RecvTypeParams().Len() > 0 && (base == nil || base != types.Object(s.Recv()))
}

// jumps reports whether a function contains a goto.
func jumps(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Tok == token.GOTO
		return !found
	})
	return found
}

// recovers reports whether the program recovers from panics.
func (p *parsedProgram) recovers() bool {
	return p.found.recovers.get(func() bool {
		for _, k := range p.order {
			for _, o := range k.info.Uses {
				if b, ok := o.(*types.Builtin); ok && !k.engine && b.Name() == "recover" {
					return true
				}
			}
		}
		return false
	})
}

// guards reports whether a sync.Once field guards the written expression, the last of the
// nodes: another field of the same value, which is read only after Do. [tracer.checkOnces]
// handles variables.
func (t *tracer) guards(d *decl, o once, stack []ast.Node) bool {
	guard := o.guard
	if !guard.IsField() {
		return true
	}
	if stack == nil || o.lit == nil {
		return false
	}
	s, ok := stack[len(stack)-1].(ast.Expr)
	for i := len(stack) - 1; i > 0; i-- {
		e, isExpr := stack[i-1].(ast.Expr)
		if !isExpr {
			break
		}
		s = e
	}
	sel, isSelector := ast.Unparen(s).(*ast.SelectorExpr)
	if !ok || !isSelector {
		return false
	}
	field, ok := origin(d.info().Uses[sel.Sel]).(*types.Var)
	if base := baseOf(d.info(), sel); !ok || !field.IsField() || base == nil || base != o.base {
		return false
	}
	for _, m := range t.p.mentioned[field] {
		safe := true
		walk(m.node, func(stack []ast.Node) bool {
			id, isIdent := stack[len(stack)-1].(*ast.Ident)
			if isIdent && origin(m.info().Uses[id]) == field && !within(stack, o.lit) && !calledBefore(m, guard, stack) {
				safe = false
			}
			return true
		})
		if !safe {
			return false
		}
	}
	return true
}

// inOnce finds the sync.Once that calls the function literal around a position.
func (t *tracer) inOnce(d *decl, at token.Pos) (o once, ok bool) {
	walk(d.node, func(stack []ast.Node) bool {
		lit, isLit := stack[len(stack)-1].(*ast.FuncLit)
		if isLit && lit.Pos() <= at && at < lit.End() && len(stack) > 1 && !ok {
			if call, isCall := stack[len(stack)-2].(*ast.CallExpr); isCall {
				if guard := d.guardOf(call); guard != nil && !laterIn(lit, at) {
					o, ok = once{d, guard, lit, at, d.placeOf(call).base}, true
				}
			}
		}
		return true
	})
	if ok {
		return o, true
	}
	if d.later(at) {
		return o, false
	}
	guard := t.p.onceOf(d, map[*decl]bool{})
	return once{d, guard, nil, at, nil}, guard != nil
}

// laterIn reports whether code at a position in a function or other code runs later than
// it.
func laterIn(n ast.Node, at token.Pos) (found bool) {
	walk(n, func(stack []ast.Node) bool {
		n := stack[len(stack)-1]
		found = found || n.Pos() == at && isLater(stack)
		return n.Pos() <= at && at < n.End()
	})
	return found
}

// onceOf returns the sync.Once that alone calls a function, apart from recursion, or nil.
func (p *parsedProgram) onceOf(d *decl, seen map[*decl]bool) *types.Var {
	f := d.object()
	if f == nil || seen[d] || d.kind == "method" || p.roots[f] {
		return nil
	}
	seen[d] = true
	var guard *types.Var
	agree := len(p.mentioned[f]) > 0
	for _, m := range p.mentioned[f] {
		walk(m.node, func(stack []ast.Node) bool {
			id, isIdent := stack[len(stack)-1].(*ast.Ident)
			if !isIdent || origin(m.info().Uses[id]) != f {
				return true
			}
			var by *types.Var
			if call, isCall := stack[len(stack)-2].(*ast.CallExpr); isCall && call.Fun != ast.Expr(id) {
				by = m.guardOf(call)
			} else if isCalled(stack) && !isLater(stack) {
				by = p.onceOf(m, seen)
			}
			agree = agree && by != nil && (guard == nil || guard == by)
			guard = by
			return true
		})
	}
	if !agree {
		return nil
	}
	return guard
}

// checkOnces requires that a variable filled by a sync.Once is read only after Do.
func (t *tracer) checkOnces() {
	t.onced = slices.DeleteFunc(t.onced, func(o once) bool { return o.guard.IsField() })
	if len(t.onced) == 0 || t.problem != nil {
		return
	}
	guard := t.onced[0].guard
	for _, o := range t.onced {
		if o.guard != guard {
			t.fail(problem{what: fmt.Sprintf("package variable %s, which several sync.Onces fill", t.name()), at: t.decl.at(t.decl.node.Pos())})
			return
		}
	}
	for _, d := range t.p.mentioned[t.root] {
		if d.kind == "init" || d.kind == "var" || t.writers[d] && d.function() == nil {
			continue
		}
		walk(d.node, func(stack []ast.Node) bool {
			id, ok := stack[len(stack)-1].(*ast.Ident)
			if ok && d.info().Uses[id] == t.root && !t.after(d, guard, stack) {
				t.fail(problem{what: fmt.Sprintf("package variable %s, which %s reads and a sync.Once may fill before or after", t.name(), d.name()), at: d.at(id.Pos())})
			}
			return true
		})
	}
}

// after reports whether a position comes after a call of Do in the enclosing function, or
// in the function that Do calls.
func (t *tracer) after(d *decl, guard *types.Var, stack []ast.Node) bool {
	for _, o := range t.onced {
		if o.lit != nil && within(stack, o.lit) {
			return true
		}
	}
	if t.p.onceOf(d, map[*decl]bool{}) == guard {
		return true
	}
	return calledBefore(d, guard, stack)
}

// calledBefore reports whether a function calls Do before a position.
func calledBefore(d *decl, guard *types.Var, stack []ast.Node) bool {
	f := d.function()
	if f == nil || f.Body == nil || jumps(f.Body) {
		return false
	}
	field := guard.IsField()
	var base types.Object // the variable whose field is read
	if field && len(stack) > 1 {
		base = baseOf(d.info(), stack[len(stack)-2])
	}
	for _, s := range f.Body.List {
		if within(stack, s) {
			return false
		}
		if e, ok := s.(*ast.ExprStmt); ok {
			if call, ok := e.X.(*ast.CallExpr); ok && d.guardOf(call) == guard && (!field || base != nil && base == d.placeOf(call).base) {
				return true
			}
		}
	}
	return false
}

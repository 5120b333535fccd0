package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// carelessOnce says why what a sync.Once does, or that it does it, may depend on who
// calls it first.
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

// oneFunction reports whether all that is done with a sync.Once is one function: one
// that has a name, or one literal.
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

// guardOf is the package variable, or the field, whose Do a call is: a
// sync.Once, or nil.
func (d *decl) guardOf(call *ast.CallExpr) *types.Var {
	if f := staticCallee(d.info(), call); f == nil || f.FullName() != "(*sync.Once).Do" {
		return nil
	}
	if at := d.placeOf(call); !at.local {
		return at.v
	}
	return nil
}

// firstComes reports whether what a sync.Once that lives on calls depends on who
// calls it first: it captures variables, but for the one that the sync.Once is a
// field of, or is a function that is a value.
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

// panics reports whether a function that is passed calls panic, or what it calls
// does.
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

// isGeneric reports whether a function has types that differ from call to call, and
// not from value to value of what it is a method of.
func (d *decl) isGeneric(base types.Object) bool {
	f, ok := d.object().(*types.Func)
	if !ok {
		return false
	}
	s := f.Signature()
	return s.TypeParams().Len() > 0 || s.RecvTypeParams().Len() > 0 && (base == nil || base != types.Object(s.Recv()))
}

// jumps reports whether there is a goto in a function.
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

// guards reports whether a sync.Once that is a field guards what is written, the
// last of the nodes: another field of the same value, which is read nowhere but
// after Do. One that is a variable is looked at by [tracer.checkOnces].
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

// inOnce finds the sync.Once that calls the function literal around a place.
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

// laterIn reports whether a place within a function, or whatever else is executed, is
// reached later than that runs.
func laterIn(n ast.Node, at token.Pos) (found bool) {
	walk(n, func(stack []ast.Node) bool {
		n := stack[len(stack)-1]
		found = found || n.Pos() == at && isLater(stack)
		return n.Pos() <= at && at < n.End()
	})
	return found
}

// onceOf is the sync.Once that calls a function, if nothing else does but what
// it calls itself, or nil.
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

// checkOnces wants a variable that is filled by a sync.Once to be read only
// after that: in functions that call Do before.
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

// after reports whether a place comes after a call of Do in the function
// around, or is within what that calls.
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

// calledBefore reports whether a function calls Do before it comes to a place.
func calledBefore(d *decl, guard *types.Var, stack []ast.Node) bool {
	f := d.function()
	if f == nil || f.Body == nil || jumps(f.Body) {
		return false
	}
	field := guard.IsField()
	var base types.Object // whose field is read
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

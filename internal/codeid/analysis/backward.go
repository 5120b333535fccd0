package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
)

// trace traces a variable backward to its previous values: what else may hold the memory
// that it refers to.
func (t *tracer) trace(o types.Object) {
	if o == nil || t.origins[o] || t.problem != nil {
		return
	}
	t.origins[o] = true
	v, ok := o.(*types.Var)
	if !ok || flat(v.Type(), 0) && !hasFunctions(v.Type(), 0) {
		return
	}
	if v.IsField() {
		for _, twin := range t.p.twins(v) {
			t.trace(twin)
		}
		for _, d := range t.p.mentioned[v] {
			for _, e := range d.fieldValues(v) {
				t.source(d, e)
			}
		}
		return
	}
	for _, d := range t.p.where(v) {
		for _, e := range d.assignments(v) {
			t.source(d, e)
		}
		if !t.creation.given(v) {
			t.argumentsOf(d, v)
		}
	}
}

// argumentsOf traces a parameter back to its arguments.
func (t *tracer) argumentsOf(d *decl, v *types.Var) {
	f, ok := d.object().(*types.Func)
	n := -1
	if ok {
		n = slices.Index(slices.Collect(f.Signature().Params().Variables()), v)
	}
	switch {
	case ok && f.Signature().Recv() == v:
		t.receiversOf(d, f)
		return
	case n < 0:
		t.visited(d, v)
		return
	}
	for _, m := range t.p.mentioned[f] {
		walk(m.node, func(stack []ast.Node) bool {
			call, ok := stack[len(stack)-1].(*ast.CallExpr)
			if ok && staticCallee(m.info(), call) == f {
				if len(call.Args) == 1 && f.Signature().Params().Len() > 1 { // several results
					t.source(m, call.Args[0])
				}
				for i := n; i < len(call.Args) && (i == n || f.Signature().Variadic()); i++ {
					t.source(m, call.Args[i])
				}
			}
			return true
		})
	}
}

// receiversOf traces a receiver back to the values on which the method is called.
func (t *tracer) receiversOf(d *decl, f *types.Func) {
	if t.p.mayBeHeld(d) && (len(t.p.called[f.Name()]) > 0 || calledByLibrary[f.Name()]) {
		t.lost(d, d.node, "whatever the receiver of "+d.name()+" belongs to")
		return
	}
	for _, m := range t.p.mentioned[f] {
		walk(m.node, func(stack []ast.Node) bool {
			s, ok := stack[len(stack)-1].(*ast.SelectorExpr)
			if !ok || origin(m.info().Uses[s.Sel]) != f {
				return true
			}
			sel := m.info().Selections[s]
			if sel == nil || sel.Kind() != types.MethodVal {
				t.lost(m, s, "whatever the receiver of "+d.name()+" belongs to")
				return true
			}
			t.source(m, s.X)
			if r := rootOf(m.info(), s.X); r != nil {
				t.becomes(r)
			}
			return true
		})
	}
}

// share records that a variable may hold the memory, and traces it back.
func (t *tracer) share(o types.Object) {
	if o != nil {
		t.holds(o)
		t.trace(origin(o))
	}
}

// becomes records that a variable is itself part of the memory.
func (t *tracer) becomes(o types.Object) {
	v, ok := o.(*types.Var)
	if !ok {
		return
	}
	o = v.Origin()
	if t.state[o] {
		return
	}
	t.state[o] = true
	delete(t.seen, o)
	t.share(o)
	if v := o.(*types.Var); v.IsField() {
		for _, twin := range t.p.twins(v) {
			t.becomes(twin)
		}
	}
}

// source traces an expression back to the origin of its value.
func (t *tracer) source(d *decl, e ast.Expr) {
	if e == nil || t.problem != nil {
		return
	}
	info := d.info()
	e = ast.Unparen(e)
	of := info.TypeOf(e)
	if of != nil && flat(of, 0) && !hasFunctions(of, 0) {
		return
	}
	if given := t.creation.gives(d, e); given != nil {
		t.share(given)
		return
	}
	switch e := e.(type) {
	case *ast.FuncLit:
		t.captured(d, e)
	case *ast.CompositeLit:
		for _, elt := range e.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				t.source(d, kv.Key)
				elt = kv.Value
			}
			t.source(d, elt)
		}
	case *ast.UnaryExpr:
		switch e.Op {
		case token.ARROW:
			t.lost(d, e, "what is sent to a channel")
		case token.AND:
			if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
				t.source(d, lit)
			} else {
				t.becomes(rootOf(info, e.X))
			}
		}
	case *ast.Ident:
		if v, ok := info.Uses[e].(*types.Var); ok {
			t.share(v)
		}
	case *ast.SelectorExpr:
		switch o := info.Uses[e.Sel].(type) {
		case *types.Var:
			if !std.Has(o.Pkg().Path()) {
				t.share(o.Origin())
			}
		case *types.Func:
			if sel := info.Selections[e]; sel != nil && sel.Kind() == types.MethodVal { // bound
				t.memo = true
				t.source(d, e.X)
				t.bound(o.Origin())
				if r := rootOf(info, e.X); r != nil {
					t.becomes(r)
				}
			}
		}
	case *ast.IndexExpr:
		if e.Index == nil { // ranged over
			if _, iterator := under(info.TypeOf(e.X)).(*types.Signature); iterator {
				t.sourceOfIterator(d, e.X)
				return
			}
		}
		if _, instance := info.TypeOf(e.X).(*types.Signature); !instance {
			t.source(d, e.X)
		}
	case *ast.SliceExpr:
		if _, isArray := info.TypeOf(e.X).Underlying().(*types.Array); isArray {
			t.becomes(rootOf(info, e.X))
		}
		t.source(d, e.X)
	case *ast.StarExpr:
		t.source(d, e.X)
	case *ast.TypeAssertExpr:
		t.source(d, e.X)
	case *ast.CallExpr:
		t.sourceOfCall(d, e)
	}
}

// bound traces the receiver that a method value holds.
func (t *tracer) bound(f *types.Func) {
	recv := f.Signature().Recv()
	switch {
	case types.IsInterface(recv.Type()):
		for _, m := range t.p.methods[f.Name()] {
			t.receives(m)
		}
		t.anyReceives()
	case t.p.declOf(f) == nil:
		if !harmless(deref(recv.Type())) {
			t.lost(t.decl, t.decl.node, "the method "+f.Name())
		}
	case recv.Type() != deref(recv.Type()) || !flat(recv.Type(), 0):
		t.holds(recv)
	}
}

// captured traces the variables that a function literal captures, because they live on in
// it.
func (t *tracer) captured(d *decl, lit *ast.FuncLit) {
	for _, v := range d.captures(lit) {
		t.memo = true
		t.becomes(v)
	}
}

// captures lists the local variables that a function literal captures.
func (d *decl) captures(lit *ast.FuncLit) []*types.Var {
	var list []*types.Var
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := d.info().Uses[id].(*types.Var)
		if ok && !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope() && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()) && !slices.Contains(list, v) {
			list = append(list, v)
		}
		return true
	})
	return list
}

// sourceOfCall traces back the result of a call.
func (t *tracer) sourceOfCall(d *decl, call *ast.CallExpr) {
	info := d.info()
	fun := info.Types[ast.Unparen(call.Fun)]
	all := func() {
		for _, a := range call.Args {
			t.source(d, a)
		}
		if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[s] != nil {
			t.source(d, s.X)
		}
	}
	if fun.IsType() {
		t.source(d, call.Args[0])
		return
	}
	if fun.IsBuiltin() {
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && (id.Name == "append" || id.Name == "min" || id.Name == "max") {
			all()
		}
		return
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		t.sourceOfResults(d, lit.Body, lit.Type)
		return
	}
	f := staticCallee(info, call)
	switch {
	case f == nil:
		if list, all := t.p.callees(d, call.Fun); all {
			for _, c := range list {
				body, of := c.body()
				t.sourceOfResults(c.d, body, of)
			}
			return
		}
		if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && d.unknownPackage(s) != "" {
			return
		}
		if of := info.TypeOf(call.Fun); of == nil || of == types.Typ[types.Invalid] {
			return
		}
		t.lost(d, call, "the result of a function value")
	case f.Pkg() == nil || isEngine(f.Pkg().Path()):
	case std.Has(f.Pkg().Path()):
		if n := f.FullName(); n == "sync.OnceValue" || n == "sync.OnceValues" {
			t.memo = true
			if lit, ok := ast.Unparen(call.Args[0]).(*ast.FuncLit); ok {
				t.captured(d, lit)
				t.sourceOfResults(d, lit.Body, lit.Type)
				return
			}
			if g := t.p.declOf(funcNamed(info, call.Args[0])); g != nil {
				t.sourceOfResults(g, g.function().Body, g.function().Type)
				return
			}
			t.lost(d, call, "the result of the function that is passed to it")
			return
		}
		fact, _ := std.Lookup(stdName(f))
		if hasFunctions(info.TypeOf(call), 0) && !harmlessResult(info.TypeOf(call)) && (fact.Effect != std.Reads && fact.Effect != std.Returns || strings.HasPrefix(f.FullName(), "iter.")) && !strings.HasPrefix(f.FullName(), "sync.Once") {
			t.lost(d, call, "the function that "+stdName(f)+" gives, which may keep state,")
			return
		}
		if fact.Effect != std.Reads && !copies(f, info.TypeOf(call)) {
			all()
		}
	case f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()):
		for _, m := range t.p.implementations(f) {
			t.sourceOfResults(m, m.function().Body, m.function().Type)
		}
	default:
		if k := t.p.declOf(f); k != nil {
			t.sourceOfResults(k, k.function().Body, k.function().Type)
		}
	}
}

// funcNamed returns the function that an expression names, or nil.
func funcNamed(info *types.Info, e ast.Expr) types.Object {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return origin(info.Uses[x])
	case *ast.SelectorExpr:
		return origin(info.Uses[x.Sel])
	}
	return nil
}

// sourceOfIterator traces back the elements of an iterator.
func (t *tracer) sourceOfIterator(d *decl, e ast.Expr) {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if f := staticCallee(d.info(), call); f != nil && f.Pkg() != nil && (f.Pkg().Path() == "slices" || f.Pkg().Path() == "maps") {
			for _, a := range call.Args {
				t.source(d, a)
			}
			return
		}
	}
	t.lost(d, e, "the elements of an iterator")
}

// harmlessResult reports whether the result of a call may be shared.
func harmlessResult(of types.Type) bool { return harmless(deref(of)) }

// sourceOfResults traces back the results of a function.
func (t *tracer) sourceOfResults(d *decl, body *ast.BlockStmt, of *ast.FuncType) {
	if body == nil {
		t.lost(d, d.node, "code that is not Go")
		return
	}
	if t.bodies == nil {
		t.bodies = map[*ast.BlockStmt]bool{}
	}
	if t.bodies[body] {
		return
	}
	t.bodies[body] = true
	if of.Results != nil {
		for _, f := range of.Results.List {
			for _, n := range f.Names {
				t.share(d.info().Defs[n])
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				t.source(d, e)
			}
		}
		return true
	})
}

// assignments lists the values assigned to a variable in the declaration.
func (d *decl) assignments(v types.Object) []ast.Expr {
	info := d.info()
	var list []ast.Expr
	is := func(e ast.Expr) bool {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return info.Uses[x] == v || info.Defs[x] == v
		case *ast.SelectorExpr:
			return info.Uses[x.Sel] == v
		}
		return false
	}
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if is(l) {
					list = append(list, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if info.Defs[id] == v && len(n.Values) > 0 {
					list = append(list, n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value) {
				list = append(list, &ast.IndexExpr{X: n.X}) // an element of it
			}
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				if info.Implicits[c] == v {
					if s, ok := n.Assign.(*ast.AssignStmt); ok {
						list = append(list, s.Rhs[0])
					}
				}
			}
		}
		return true
	})
	return list
}

// fieldValues lists the values assigned to a field in the declaration.
func (d *decl) fieldValues(v *types.Var) []ast.Expr {
	info := d.info()
	var list []ast.Expr
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if s, ok := ast.Unparen(l).(*ast.SelectorExpr); ok && origin(info.Uses[s.Sel]) == v {
					list = append(list, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && origin(info.Uses[id]) == v {
				list = append(list, n.Value)
			}
		}
		return true
	})
	return list
}

// outlives reports whether a loop variable can be used after its iteration: a function
// literal captures it, or its address is taken. Whether all iterations share it depends on
// the language version of the module, which is not recorded for modules without a version.
func (d *decl) outlives() bool {
	loop := map[types.Object]bool{}
	note := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			loop[d.info().Defs[id]] = true
		}
	}
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			if init, ok := n.Init.(*ast.AssignStmt); ok {
				for _, e := range init.Lhs {
					note(e)
				}
			}
		case *ast.RangeStmt:
			note(n.Key)
			note(n.Value)
		}
		return true
	})
	delete(loop, nil)
	found := false
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || !loop[d.info().Uses[id]] {
			return true
		}
		for _, n := range stack {
			switch n := n.(type) {
			case *ast.FuncLit:
				found = found || d.info().Uses[id].Pos() < n.Pos()
			case *ast.UnaryExpr:
				found = found || n.Op == token.AND
			case *ast.SelectorExpr: // a pointer method of it or of a field
				sel := d.info().Selections[n]
				found = found || sel != nil && sel.Kind() == types.MethodVal && within(stack, n.X)
			case *ast.SliceExpr: // of an array
				_, isArray := core(d.info().TypeOf(n.X)).(*types.Array)
				found = found || isArray && within(stack, n.X)
			}
		}
		return true
	})
	return found
}

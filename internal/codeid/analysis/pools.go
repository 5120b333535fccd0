package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/larder-data/larder/internal/codeid/std"
)

// An object from a sync.Pool may have been used before. It counts as new if it is reset
// before any other use. It also does if the program resets all objects before Put, and New
// returns only zero values. The program must not touch an object after Put: that is a rule
// of sync.Pool.

// carelessPool returns why an object from a pool may not count as new.
func (d *decl) carelessPool(u use) string {
	p := d.file.pkg.program
	at := d.placeOf(u.call)
	switch {
	case at.v == nil || at.local && !d.atOnce(u.stack):
		return "a sync.Pool of which it is not known which one it is"
	case !at.local && !p.usedDirectly(at.v):
		return "a sync.Pool that is handed on, or replaced"
	case !d.resetHere(at.v, u) && (at.local || !p.resetsAll(at.v)):
	case d.isCleared(at.v, u):
		if !d.showsCapacity(itemOf(d.info(), u.stack), map[*decl]bool{}) {
			return ""
		}
		return capacitySeen
	case d.seesCapacity(u):
		return capacitySeen
	default:
		return ""
	}
	return "an earlier value in a sync.Pool, which is not reset before use"
}

const capacitySeen = "the capacity beyond the length of a slice from a sync.Pool (declare the pool as Pure if no code reads it)"

// isCleared reports whether the object becomes a slice of fixed length and capacity.
func (d *decl) isCleared(pool *types.Var, get use) bool {
	v, _, _ := d.gotten(get.stack)
	return v != nil && isListPointer(v.Type()) && !d.onlyEmptied(v) && d.file.pkg.program.keepsLengths(pool)
}

// itemOf returns the type asserted of the object.
func itemOf(info *types.Info, stack []ast.Node) types.Type {
	of := info.TypeOf(stack[len(stack)-1].(ast.Expr))
	for _, n := range slices.Backward(stack[:len(stack)-1]) {
		switch n := n.(type) {
		case *ast.ParenExpr:
		case *ast.TypeAssertExpr:
			if n.Type == nil { // of a type switch
				return of
			}
			return info.TypeOf(n.Type)
		default:
			return of
		}
	}
	return of
}

// resetHere reports whether the object becomes a variable that the first statement naming
// it resets.
func (d *decl) resetHere(pool *types.Var, get use) bool {
	v, rest, emptied := d.gotten(get.stack)
	if v == nil {
		return false
	}
	if emptied {
		return true
	}
	return d.onlyEmptied(v) || d.resetFirst(rest, v, pool)
}

// resetFirst reports whether the first statement that names a variable resets it. That
// statement may also contain others for which this holds, if no later one names the
// variable.
func (d *decl) resetFirst(list []ast.Stmt, v, pool *types.Var) bool {
	for i, s := range list {
		if !d.uses(s, v) || d.putsBack(s, v) {
			continue
		}
		if d.resetsSurely(s, v, pool) {
			return true
		}
		body := bodyOf(s)
		if body == nil || slices.ContainsFunc(list[i+1:], func(s ast.Stmt) bool { return d.uses(s, v) && !d.putsBack(s, v) }) {
			return false
		}
		elsewhere := false
		walk(s, func(stack []ast.Node) bool {
			id, ok := stack[len(stack)-1].(*ast.Ident)
			elsewhere = elsewhere || ok && d.info().Uses[id] == v && !within(stack, body)
			return true
		})
		return !elsewhere && d.resetFirst(body.List, v, pool)
	}
	return true
}

// resetsSurely reports whether a statement resets a variable, or each of its branches
// begins with a reset.
func (d *decl) resetsSurely(s ast.Stmt, v, pool *types.Var) bool {
	branches, head := branchesOf(s)
	if branches == nil {
		return d.resets(s, v, pool, false)
	}
	if slices.ContainsFunc(head, func(n ast.Node) bool { return d.uses(n, v) }) {
		return false
	}
	return !slices.ContainsFunc(branches, func(list []ast.Stmt) bool { return len(list) == 0 || !d.resetsSurely(list[0], v, pool) })
}

// branchesOf lists the branches of a statement, one of which always runs, and the nodes
// before them; nil if there are none, or none may run.
func branchesOf(s ast.Stmt) (branches [][]ast.Stmt, head []ast.Node) {
	add := func(n ast.Node, there bool) {
		if there {
			head = append(head, n)
		}
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		return [][]ast.Stmt{s.List}, nil
	case *ast.IfStmt:
		if s.Else == nil {
			return nil, nil
		}
		add(s.Init, s.Init != nil)
		add(s.Cond, true)
		return [][]ast.Stmt{s.Body.List, {s.Else}}, head
	case *ast.SwitchStmt:
		add(s.Init, s.Init != nil)
		add(s.Tag, s.Tag != nil)
		always := false
		for _, c := range s.Body.List {
			c := c.(*ast.CaseClause)
			always = always || c.List == nil
			for _, e := range c.List {
				add(e, true)
			}
			branches = append(branches, c.Body)
		}
		if always {
			return branches, head
		}
	}
	return nil, nil
}

// bodyOf returns the block that a statement runs conditionally or repeatedly.
func bodyOf(s ast.Stmt) *ast.BlockStmt {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return s
	case *ast.IfStmt:
		return s.Body
	case *ast.ForStmt:
		return s.Body
	case *ast.RangeStmt:
		return s.Body
	}
	return nil
}

// gotten returns the variable that receives the object, the statements after that, and
// whether it is emptied immediately: x := pool.Get().([]byte)[:0].
func (d *decl) gotten(stack []ast.Node) (v *types.Var, rest []ast.Stmt, emptied bool) {
	for i := len(stack) - 1; i > 1; i-- {
		switch s := stack[i-1].(type) {
		case *ast.TypeAssertExpr, *ast.ParenExpr:
		case *ast.SliceExpr:
			emptied = d.isEmptied(s)
			if !emptied {
				return nil, nil, false
			}
		case *ast.AssignStmt:
			id, ok := s.Lhs[0].(*ast.Ident)
			list := statements(stack[i-2])
			at := slices.Index(list, ast.Stmt(s))
			if !ok || s.Tok != token.DEFINE || len(s.Lhs) != 1 || at < 0 {
				return nil, nil, false
			}
			v, _ = d.info().Defs[id].(*types.Var)
			return v, list[at+1:], emptied
		default:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// statements returns the statements of a block or case.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// putsBack reports whether a statement only puts a variable back, or defers that.
func (d *decl) putsBack(s ast.Stmt, v *types.Var) bool {
	only := true
	walk(s, func(stack []ast.Node) bool {
		if id, ok := stack[len(stack)-1].(*ast.Ident); ok && d.info().Uses[id] == v {
			only = only && d.isPut(stack)
		}
		return true
	})
	return only
}

// isPut reports whether the last of the nodes is put into a pool, unchanged.
func (d *decl) isPut(stack []ast.Node) bool {
	call, ok := stack[len(stack)-2].(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0] != stack[len(stack)-1] {
		return false
	}
	f := staticCallee(d.info(), call)
	return f != nil && f.FullName() == "(*sync.Pool).Put"
}

// resets reports whether a statement resets a variable that came from a pool: by a method
// Reset, an assignment to all that it points to, or clear. empty requires zero values.
func (d *decl) resets(s ast.Stmt, v, pool *types.Var, empty bool) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || s.Tok != token.ASSIGN {
			return false
		}
		star, ok := s.Lhs[0].(*ast.StarExpr)
		return ok && d.isNamed(star.X, v) && d.fromNothing(s.Rhs[0], v, empty)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if ok && d.resetFunction(call, v, empty) {
			return true
		}
		if !ok || slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return d.uses(a, v) }) && !isBuiltin(d.info(), call, "clear") {
			return false
		}
		if isBuiltin(d.info(), call, "clear") {
			return d.clears(call.Args[0], v, pool)
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		return ok && d.isNamed(sel.X, v) && d.resetMethod(sel, v, pool, empty)
	}
	return false
}

// clears reports whether clear of an expression gives a new state: for maps, and for slices
// that always keep their length.
func (d *decl) clears(e ast.Expr, v, pool *types.Var) bool {
	if star, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		e = star.X
	}
	if !d.isNamed(e, v) {
		return false
	}
	of := core(deref(v.Type()))
	if _, isMap := of.(*types.Map); isMap {
		return true
	}
	_, pointer := types.Unalias(v.Type()).(*types.Pointer)
	return pointer && d.file.pkg.program.keepsLengths(pool)
}

// keepsLengths reports whether slices that come from a pool by pointer keep their length:
// such pointers only serve to access elements, and are put back.
func (p *parsedProgram) keepsLengths(pool *types.Var) bool {
	keeps := p.madeByPool(pool)
	p.mentions(pool, func(m *decl, _ []ast.Node) {
		walk(m.node, func(stack []ast.Node) bool {
			id, ok := stack[len(stack)-1].(*ast.Ident)
			if !ok || !keeps || !isListPointer(m.info().TypeOf(id)) || m.info().Uses[id] == nil {
				return true
			}
			keeps = m.isPut(stack) || m.isReadThrough(stack)
			return true
		})
	})
	return keeps
}

func isListPointer(of types.Type) bool {
	if of == nil {
		return false
	}
	p, ok := types.Unalias(of).(*types.Pointer)
	if !ok {
		return false
	}
	_, isList := core(p.Elem()).(*types.Slice)
	return isList
}

// isReadThrough reports whether a pointer, the last of the nodes, is only dereferenced,
// without a write to the whole value.
func (d *decl) isReadThrough(stack []ast.Node) bool {
	i := len(stack) - 2
	star, ok := stack[i].(*ast.StarExpr)
	for i--; ok && i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.AssignStmt:
			return !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return ast.Unparen(e) == ast.Expr(star) })
		case *ast.UnaryExpr:
			return n.Op != token.AND
		}
		return true
	}
	return false
}

// onlyEmptied reports whether the list in a variable, or behind it, is only emptied with
// [:0], assigned, and put back.
func (d *decl) onlyEmptied(v *types.Var) bool {
	only := true
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[id] != v || d.isPut(stack) {
			return true
		}
		i := len(stack) - 2
		e := ast.Expr(id)
		for ; i > 0; i-- {
			x, wraps := stack[i].(ast.Expr)
			_, star := x.(*ast.StarExpr)
			if _, paren := x.(*ast.ParenExpr); !wraps || !star && !paren {
				break
			}
			e = x
		}
		switch n := stack[i].(type) {
		case *ast.SliceExpr:
			only = only && n.X == e && d.isEmptied(n)
		case *ast.AssignStmt:
			only = only && slices.Contains(n.Lhs, e)
		default:
			only = false
		}
		return true
	})
	return only
}

// fromNothing reports whether an expression contains no previous content of a variable and,
// with empty, nothing else. Slices in it must have no elements.
func (d *decl) fromNothing(e ast.Expr, v *types.Var, empty bool) bool {
	if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
		return d.isEmptied(s)
	}
	if v != nil && d.uses(e, v) {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return !empty || len(e.Elts) == 0
	case *ast.BasicLit:
		return !empty || e.Value == "0" || e.Value == `""`
	case *ast.CallExpr:
		return isBuiltin(d.info(), e, "make", "new")
	}
	return false
}

// isEmptied reports whether an expression is x[:0].
func (d *decl) isEmptied(s *ast.SliceExpr) bool {
	return s.Low == nil && s.High != nil && d.isZero(s.High)
}

func (d *decl) isZero(e ast.Expr) bool {
	v := d.info().Types[e].Value
	return v != nil && v.ExactString() == "0"
}

// emptied are standard library types whose Reset leaves nothing, however a value was made.
var emptied = map[string]bool{"bytes.Buffer": true, "bytes.Reader": true, "strings.Builder": true, "strings.Reader": true}

// resetMethod reports whether a method resets its receiver: one of the standard library, or
// one of the program that begins by assigning to all of it and, with empty, does nothing
// else.
func (d *decl) resetMethod(s *ast.SelectorExpr, v, pool *types.Var, empty bool) bool {
	sel, p := d.info().Selections[s], d.file.pkg.program
	if sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) != 1 {
		return false
	}
	f := origin(sel.Obj()).(*types.Func)
	if f.Pkg() == nil {
		return false
	}
	m := p.declOf(f)
	if m == nil {
		switch n, ok := types.Unalias(deref(v.Type())).(*types.Named); {
		case !ok || f.Name() != "Reset" || !std.Has(f.Pkg().Path()):
			return false
		case types.IsInterface(n):
			return len(p.indexed().methods["Reset"]) == 0 && p.madeByPool(pool)
		default:
			return emptied[n.Obj().Pkg().Path()+"."+n.Obj().Name()] || p.madeByPool(pool)
		}
	}
	body, recv := m.function().Body, m.function().Recv.List[0].Names
	if body == nil || len(body.List) == 0 || empty && len(body.List) > 1 || len(recv) == 0 {
		return false
	}
	of, ok := m.info().Defs[recv[0]].(*types.Var)
	if !ok {
		return false
	}
	a, ok := body.List[0].(*ast.AssignStmt)
	return ok && m.resets(a, of, nil, empty)
}

// resetFunction reports whether a call passes the variable to a function of the program
// that begins by assigning to all that it points to and, with empty, does nothing else.
func (d *decl) resetFunction(call *ast.CallExpr, v *types.Var, empty bool) bool {
	f := staticCallee(d.info(), call)
	if f == nil || f.Signature().Recv() != nil || f.Signature().Params().Len() != 1 || len(call.Args) != 1 || !d.isNamed(call.Args[0], v) {
		return false
	}
	m := d.file.pkg.program.declOf(f)
	if m == nil || m.function().Body == nil {
		return false
	}
	list := m.function().Body.List
	if len(list) == 0 || empty && len(list) > 1 {
		return false
	}
	a, ok := list[0].(*ast.AssignStmt)
	return ok && m.resets(a, f.Signature().Params().At(0), nil, empty)
}

// madeByPool reports whether New made all objects of a pool: only variables that came from
// it are put back.
func (p *parsedProgram) madeByPool(pool *types.Var) bool {
	made := pool != nil
	p.mentions(pool, func(m *decl, stack []ast.Node) {
		call, ok := p.putAt(m, pool, stack)
		if !ok {
			return
		}
		id, isVar := ast.Unparen(call.Args[0]).(*ast.Ident)
		if !isVar {
			made = false
			return
		}
		v, isVar := m.info().Uses[id].(*types.Var)
		list := m.assignments(v)
		made = made && isVar && len(list) == 1 && m.isGot(list[0], pool)
	})
	return made
}

// isGot reports whether an expression is an object from a pool.
func (d *decl) isGot(e ast.Expr, pool *types.Var) bool {
	if a, ok := ast.Unparen(e).(*ast.TypeAssertExpr); ok {
		e = a.X
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	f := staticCallee(d.info(), call)
	return f != nil && f.FullName() == "(*sync.Pool).Get" && d.placeOf(call).v == pool
}

// putAt returns the call that puts something into a pool that the last of the nodes names.
func (p *parsedProgram) putAt(m *decl, pool *types.Var, stack []ast.Node) (*ast.CallExpr, bool) {
	for _, n := range slices.Backward(stack) {
		if call, ok := n.(*ast.CallExpr); ok {
			f := staticCallee(m.info(), call)
			return call, f != nil && f.FullName() == "(*sync.Pool).Put" && m.placeOf(call).v == pool
		}
	}
	return nil, false
}

// resetsAll reports whether all objects are reset in the statement before Put, or emptied,
// so that they are like new ones.
func (p *parsedProgram) resetsAll(pool *types.Var) bool {
	resets := p.newIsEmpty(pool)
	p.mentions(pool, func(m *decl, stack []ast.Node) {
		if call, ok := p.putAt(m, pool, stack); ok && resets {
			resets = m.putsEmpty(call, pool, stack)
		}
	})
	return resets
}

// putsEmpty reports whether a call of Put follows a reset of its argument, which is not
// used later.
func (d *decl) putsEmpty(call *ast.CallExpr, pool *types.Var, stack []ast.Node) bool {
	if s, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); ok {
		return d.isEmptied(s)
	}
	id, ok := ast.Unparen(strip(call.Args[0])).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := d.info().Uses[id].(*types.Var)
	if !ok || isPackageVariable(v) {
		return false
	}
	i := slices.Index(stack, ast.Node(call))
	s, ok := stack[i-1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	list := statements(stack[i-2])
	at := slices.Index(list, ast.Stmt(s))
	return at > 0 && d.resets(list[at-1], v, pool, true) && !d.goesOn(v, call, stack)
}

// goesOn reports whether a variable may be used after a call.
func (d *decl) goesOn(v *types.Var, call *ast.CallExpr, stack []ast.Node) (later bool) {
	for _, n := range stack {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			later = later || v.Pos() < n.Pos()
		case *ast.FuncLit:
			later = later || v.Pos() < n.Pos()
		}
	}
	ast.Inspect(d.node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		later = later || ok && id.Pos() > call.End() && d.info().Uses[id] == v
		return !later
	})
	return later
}

// newIsEmpty reports whether a pool only makes empty objects: all functions named New where
// the pool is named return nothing else.
func (p *parsedProgram) newIsEmpty(pool *types.Var) bool {
	empty := true
	for _, m := range append(slices.Clip(p.indexed().mentioned[pool]), p.declOf(pool)) {
		if m == nil {
			continue
		}
		ast.Inspect(m.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				empty = empty && m.makesEmpty(n)
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if s, ok := ast.Unparen(l).(*ast.SelectorExpr); ok && s.Sel.Name == "New" {
						empty = empty && len(n.Lhs) == len(n.Rhs) && m.returnsEmpty(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return empty
}

// makesEmpty reports whether a literal, if it is a pool, makes empty objects.
func (d *decl) makesEmpty(lit *ast.CompositeLit) bool {
	n, ok := types.Unalias(d.info().TypeOf(lit)).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sync" || n.Obj().Name() != "Pool" {
		return true
	}
	return !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		return !ok || !d.returnsEmpty(kv.Value)
	})
}

// returnsEmpty reports whether a function literal returns only zero values, slices without
// elements, or pointers to such.
func (d *decl) returnsEmpty(e ast.Expr) bool {
	lit, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		return false
	}
	empty := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			empty = false
		case *ast.ReturnStmt:
			empty = empty && len(n.Results) == 1 && d.isEmpty(n.Results[0])
		}
		return true
	})
	return empty
}

// isEmpty reports whether an expression is a zero value, a new slice without elements, or a
// pointer to one.
func (d *decl) isEmpty(e ast.Expr) bool {
	e = strip(e)
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		v, ok := d.info().Uses[id].(*types.Var)
		if !ok || isPackageVariable(v) {
			return false
		}
		list := d.assignments(v)
		return len(list) == 1 && d.fromNothing(strip(list[0]), nil, true)
	}
	return d.fromNothing(e, nil, true)
}

// strip removes the address operator from an expression.
func strip(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u.X
	}
	return e
}

// showsCapacity reports whether a declaration, or a function that it calls, may look beyond the
// end of a slice or buffer of a type: at old content or at the capacity.
func (d *decl) showsCapacity(of types.Type, seen map[*decl]bool) bool {
	of = types.Unalias(deref(of))
	list, isList := core(of).(*types.Slice)
	if n, ok := of.(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "bytes" && n.Obj().Name() == "Buffer" {
		list, isList = types.NewSlice(types.Typ[types.Byte]), true
	}
	if !isList || seen[d] {
		return false
	}
	seen[d] = true
	info := d.info()
	isOne := func(e ast.Expr) bool {
		t := info.TypeOf(e)
		return t != nil && (types.Identical(types.Unalias(deref(t)), of) || types.Identical(core(deref(t)), list))
	}
	shows := false
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SliceExpr:
			shows = shows || n.High != nil && !d.isZero(n.High) && isOne(n.X)
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Cap", "Available", "AvailableBuffer":
				shows = shows || isOne(n.X)
			}
		case *ast.CallExpr:
			given := slices.ContainsFunc(n.Args, isOne)
			shows = shows || given && isBuiltin(info, n, "cap")
			if s, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
				given = given || isOne(s.X)
			}
			if f := staticCallee(info, n); given && !shows && f != nil {
				if m := d.file.pkg.program.declOf(f.Origin()); m != nil {
					shows = m.showsCapacity(of, seen)
				}
			}
		}
		return !shows
	})
	return shows
}

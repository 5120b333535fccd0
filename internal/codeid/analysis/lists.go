package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// An append may write to capacity shared with another slice of the same array. This file
// distinguishes slices that only one function uses from shared ones.

// cutting is a position where a slice is cut or appended to.
type cutting struct {
	own *types.Var // the slice, if only the function that made it uses it
	at  token.Pos
	in  *decl
}

// spaceWritten records the appends that may write to the memory beyond a cut slice. It skips
// slices private to a function, unless they became the memory.
func (t *tracer) spaceWritten() {
	ofOthers := func(c cutting) bool { return c.own == nil || t.origins[c.own] || t.state[c.own] }
	if !slices.ContainsFunc(t.cuts, ofOthers) {
		return
	}
	for _, a := range t.appended {
		if ofOthers(a) {
			t.writes(a.in, a.at, nil)
		}
	}
}

// ownList returns the local variable that an expression names, if it is a slice that the
// function only makes, appends to and cuts; else nil.
func (d *decl) ownList(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := d.info().Uses[id].(*types.Var)
	if !ok || isPackageVariable(v) || v.IsField() || !d.grows(v, true) {
		return nil
	}
	return v
}

// appendsAlone reports whether no other code sees what is appended to a slice, because its
// array has no other name.
func (d *decl) appendsAlone(call *ast.CallExpr) bool {
	info := d.info()
	list, ok := core(info.TypeOf(call.Args[0])).(*types.Slice)
	if !ok {
		return false
	}
	if !d.file.pkg.program.cuts(list.Elem()) {
		return true // slices of that kind only grow by append
	}
	v, ok := rootOf(info, call.Args[0]).(*types.Var)
	if !ok { // nil, a literal, the result of a call
		_, part := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		return !part
	}
	if isPackageVariable(v) || v.IsField() {
		return false
	}
	if d.cutsPartsOf(list.Elem()) { // only its own parts are cut, or there may be another name
		return d.grows(v, true) && d.cutsItself(v, list.Elem()) && !d.file.pkg.program.cutsBeside(d, list.Elem())
	}
	return d.grows(v, false)
}

// grows reports whether a local variable is a slice that the function only makes and
// appends to; if shrinks is set, it may also become a part of itself.
func (d *decl) grows(v *types.Var, shrinks bool) bool {
	if f, ok := d.object().(*types.Func); ok && slices.Contains(slices.Collect(f.Signature().Params().Variables()), v) || d.pointsTo(v) {
		return false
	}
	return !slices.ContainsFunc(d.assignments(v), func(e ast.Expr) bool {
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			return false
		case *ast.SliceExpr:
			return !shrinks || !d.isNamed(e.X, v)
		case *ast.Ident:
			return d.info().Uses[e] != types.Universe.Lookup("nil")
		case *ast.CallExpr:
			id, ok := e.Fun.(*ast.Ident)
			if !ok {
				return true
			}
			_, builtin := d.info().Uses[id].(*types.Builtin)
			return !builtin || id.Name != "make" && (id.Name != "append" || !d.isNamed(e.Args[0], v))
		}
		return true
	})
}

// isNamed reports whether an expression is the variable v.
func (d *decl) isNamed(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && d.info().Uses[id] == v
}

// cuts reports whether the program cuts slices or arrays with elements of the given type.
func (p *parsedProgram) cuts(elem types.Type) bool {
	all := p.found.cut.get(func() (all []types.Type) {
		for _, k := range p.order {
			for _, d := range k.decls {
				if !k.engine {
					all = append(all, d.cut...)
				}
			}
		}
		return all
	})
	return slices.ContainsFunc(all, func(of types.Type) bool { return alike(of, elem) })
}

// cutsPartsOf reports whether the declaration cuts such slices.
func (d *decl) cutsPartsOf(elem types.Type) bool {
	return slices.ContainsFunc(d.cut, func(of types.Type) bool { return alike(of, elem) })
}

// cutsBeside reports whether other declarations cut such slices.
func (p *parsedProgram) cutsBeside(d *decl, elem types.Type) bool {
	for _, k := range p.order {
		for _, other := range k.decls {
			if other != d && !k.engine && other.cutsPartsOf(elem) {
				return true
			}
		}
	}
	return false
}

// cutsItself reports whether the only slice of such elements that the declaration cuts is a
// variable, which becomes that part.
func (d *decl) cutsItself(v *types.Var, elem types.Type) bool {
	own := true
	walk(d.node, func(stack []ast.Node) bool {
		s, ok := stack[len(stack)-1].(*ast.SliceExpr)
		if !ok || !own {
			return true
		}
		if of := elementOf(core(deref(d.info().TypeOf(s.X)))); of == nil || !alike(of, elem) {
			return true
		}
		a, ok := stack[len(stack)-2].(*ast.AssignStmt)
		own = ok && len(a.Lhs) == 1 && d.isNamed(a.Lhs[0], v) && d.isNamed(s.X, v)
		return true
	})
	return own
}

package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What is appended to a list may go into room that another part of it has, and be
// read by another name. This file tells lists that a function has for itself from
// those of others.

// cutting is a place where a part of a list is made, or something appended.
type cutting struct {
	own *types.Var // the list, if it is one that a function has made for itself
	at  token.Pos
	in  *decl
}

// roomWritten notes that what is appended may go into the room behind a part: but
// for lists that functions make for themselves, unless these became the memory.
func (t *tracer) roomWritten() {
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

// ownList returns the local variable that an expression names, if it is nothing
// but a list that its function makes, appends to and takes parts of; else nil.
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

// appendsAlone reports whether nothing else sees what is appended to a list: no
// other name of the array behind it.
func (d *decl) appendsAlone(call *ast.CallExpr) bool {
	info := d.info()
	list, ok := core(info.TypeOf(call.Args[0])).(*types.Slice)
	if !ok {
		return false
	}
	if !d.file.pkg.program.cuts(list.Elem()) {
		return true // lists of that kind are only ever extended by append
	}
	v, ok := rootOf(info, call.Args[0]).(*types.Var)
	if !ok { // nil, a literal, the result of a call
		_, part := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		return !part
	}
	if isPackageVariable(v) || v.IsField() {
		return false
	}
	if d.cutsPartsOf(list.Elem()) { // it is its own parts that it is cut to, or there may be another name
		return d.grows(v, true) && d.cutsItself(v, list.Elem()) && !d.file.pkg.program.cutsBeside(d, list.Elem())
	}
	return d.grows(v, false)
}

// grows reports whether a local variable is nothing but a list that its function
// makes and appends to; where shrinks is set, it may become a part of itself.
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

// isNamed reports whether an expression is a variable.
func (d *decl) isNamed(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && d.info().Uses[id] == v
}

// cuts reports whether the program makes parts of lists or arrays of some
// elements anywhere.
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

// cutsPartsOf reports whether the declaration does.
func (d *decl) cutsPartsOf(elem types.Type) bool {
	return slices.ContainsFunc(d.cut, func(of types.Type) bool { return alike(of, elem) })
}

// cutsBeside reports whether other declarations do.
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

// cutsItself reports whether all that the declaration makes parts of, among lists
// of some elements, is a variable, which becomes that part.
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

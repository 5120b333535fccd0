package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A map or list is private if functions only make it and pass it to each other, and nothing
// else holds it. Its elements are read only where one of these variables is indexed or
// ranged over.

// keeps follows a reference that is stored in a private container to the reads of its
// elements, and reports whether the container is private.
func (t *tracer) keeps(d *decl, to ast.Expr) bool {
	x, ok := to.(*ast.IndexExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(x.X).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := d.info().Uses[id].(*types.Var)
	if !ok {
		return false
	}
	c := &container{p: t.p, in: map[*types.Var]*decl{}}
	if !c.add(d, v) || !c.made {
		return false
	}
	for _, v := range c.names {
		if t.retained == nil {
			t.retained = map[*types.Var]bool{}
		}
		if !t.retained[v] {
			t.retained[v] = true
			t.taken(c.in[v], v)
		}
	}
	return true
}

// A container is a map or a list, with all variables that may hold it.
type container struct {
	p     *parsedProgram
	names []*types.Var
	in    map[*types.Var]*decl
	made  bool // its creation was seen
}

// add includes a variable, with its sources and targets, and reports whether all are
// visible.
func (c *container) add(d *decl, v *types.Var) bool {
	if c.in[v] != nil {
		return true
	}
	switch core(v.Type()).(type) {
	case *types.Map, *types.Slice:
	default:
		return false
	}
	c.names = append(c.names, v)
	c.in[v] = d
	all, ok := c.p.givens(d, v)
	for _, g := range all {
		ok = ok && c.given(g)
	}
	if !ok {
		return false
	}
	walk(d.node, func(stack []ast.Node) bool {
		if id, isIdent := stack[len(stack)-1].(*ast.Ident); isIdent && d.info().Uses[id] == v {
			ok = ok && c.used(d, stack)
		}
		return ok
	})
	return ok
}

// given includes a value of one of the variables.
func (c *container) given(g given) bool {
	switch e := ast.Unparen(g.e).(type) {
	case *ast.CompositeLit:
		c.made = true
		return true
	case *ast.CallExpr:
		c.made = c.made || isBuiltin(g.d.info(), e, "make")
		return isBuiltin(g.d.info(), e, "make")
	}
	switch o := named(g.d.info(), g.e).(type) {
	case *types.Nil:
		return true
	case *types.Var:
		return c.add(g.d, o)
	}
	return false
}

// used includes a use of one of the variables, the last of the nodes.
func (c *container) used(d *decl, stack []ast.Node) bool {
	e := stack[len(stack)-1].(ast.Expr)
	switch p := stack[len(stack)-2].(type) {
	case *ast.IndexExpr:
		return p.X == e
	case *ast.RangeStmt:
		return p.X == e
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if l == e {
				return true
			}
		}
	case *ast.BinaryExpr:
		return p.Op == token.EQL || p.Op == token.NEQ // nil
	case *ast.CallExpr:
		return p.Fun != e && (isBuiltin(d.info(), p, "len", "cap", "delete", "clear") || c.handed(d, p, e))
	}
	return false
}

// handed includes the parameter for which one of the variables is passed.
func (c *container) handed(d *decl, call *ast.CallExpr, e ast.Expr) bool {
	f := staticCallee(d.info(), call)
	if f == nil || isMethodExpression(d.info(), call) {
		return false
	}
	k := c.p.declOf(f)
	if k == nil || k.function().Body == nil {
		return false
	}
	for i, a := range call.Args {
		if a != e {
			continue
		}
		params := f.Signature().Params()
		return i < params.Len() && c.add(k, params.At(i))
	}
	return false
}

// isBuiltin reports whether a call is one of some built-in functions.
func isBuiltin(info *types.Info, call *ast.CallExpr, names ...string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	for _, name := range names {
		if ok && b.Name() == name {
			return true
		}
	}
	return false
}

// taken follows the elements read from a container through a variable.
func (t *tracer) taken(d *decl, v *types.Var) {
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[id] != v || t.problem != nil {
			return true
		}
		switch p := stack[len(stack)-2].(type) {
		case *ast.IndexExpr:
			t.flow(d, append([]ast.Node(nil), stack[:len(stack)-1]...), false)
		case *ast.RangeStmt:
			t.ranges(d, p, id, v.Type(), false, stack)
		}
		return true
	})
}

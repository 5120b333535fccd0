package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// mayBeHeld reports whether the program may put values of a method's type into interfaces,
// through which foreign code can call it.
func (p *parsedProgram) mayBeHeld(m *decl) bool {
	t := m.receiverType()
	return t == nil || p.converted()[t]
}

// converted finds the types that the program converts to interfaces, and the types in
// these.
func (p *parsedProgram) converted() map[types.Type]bool {
	return p.found.held.get(func() map[types.Type]bool {
		held := map[types.Type]bool{}
		for _, k := range p.order {
			if k.engine {
				continue
			}
			for _, d := range k.decls {
				for t := range d.resolved().converts {
					held[t] = true
				}
			}
		}
		return held
	})
}

// receiverType returns the receiver type of a method, or nil.
func (d *decl) receiverType() types.Type {
	if d.recv == nil {
		return nil
	}
	if o := d.info().Defs[d.recv.typeName()]; o != nil {
		return o.Type()
	}
	return nil
}

// A converter finds conversions to interfaces in a declaration.
type converter struct {
	p    *parsedProgram
	info *types.Info
	held map[types.Type]bool

	unknown *[]types.Type // targets of values of unknown types; nil if not needed
}

// hold records that values of a type may be in interfaces.
func (c converter) hold(t types.Type) {
	switch u := types.Unalias(t).(type) {
	case nil:
	case *types.Named:
		n := u.Origin()
		for a := range u.TypeArgs().Types() {
			c.hold(a)
		}
		if c.held[n] {
			return
		}
		c.held[n] = true
		c.hold(n.Underlying())
	case *types.Pointer:
		c.hold(u.Elem())
	case *types.Slice:
		c.hold(u.Elem())
	case *types.Array:
		c.hold(u.Elem())
	case *types.Chan:
		c.hold(u.Elem())
	case *types.Map:
		c.hold(u.Key())
		c.hold(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			c.hold(f.Type())
		}
	case *types.Signature: // reflection converts its parameters and results to interfaces
		for v := range u.Params().Variables() {
			c.hold(v.Type())
		}
		for v := range u.Results().Variables() {
			c.hold(v.Type())
		}
	}
}

// to records that an expression becomes a value of a type.
func (c converter) to(t types.Type, e ast.Expr) {
	if e == nil {
		return
	}
	from := c.info.TypeOf(e)
	if isUnknown(from) && t != nil && c.unknown != nil {
		*c.unknown = append(*c.unknown, t)
	}
	if t == nil || t == types.Typ[types.Invalid] || types.IsInterface(t) { // an unknown type may be one
		c.hold(from)
	}
}

// conversion records the conversions in the last node.
func (c converter) conversion(stack []ast.Node) {
	switch n := stack[len(stack)-1].(type) {
	case *ast.CallExpr:
		c.arguments(n)
	case *ast.AssignStmt:
		if len(n.Lhs) == len(n.Rhs) {
			for i := range n.Lhs {
				c.to(c.info.TypeOf(n.Lhs[i]), n.Rhs[i])
			}
		} else if tuple, ok := c.info.TypeOf(n.Rhs[0]).(*types.Tuple); ok {
			for i, l := range n.Lhs {
				if t := c.info.TypeOf(l); i < tuple.Len() && (t == nil || types.IsInterface(t)) {
					c.hold(tuple.At(i).Type())
				}
			}
		} else if t := c.info.TypeOf(n.Lhs[0]); t == nil || types.IsInterface(t) { // v, ok = m[k]
			c.hold(c.info.TypeOf(n.Rhs[0]))
		}
	case *ast.ValueSpec:
		for i, id := range n.Names {
			if o := c.info.Defs[id]; o != nil && len(n.Values) == len(n.Names) {
				c.to(o.Type(), n.Values[i])
			} else if o != nil && len(n.Values) == 1 && types.IsInterface(o.Type()) {
				if tuple, ok := c.info.TypeOf(n.Values[0]).(*types.Tuple); ok {
					c.hold(tuple.At(i).Type())
				}
			}
		}
	case *ast.CompositeLit:
		c.literal(n)
	case *ast.ReturnStmt:
		c.returns(n, stack)
	case *ast.SendStmt:
		if ch, ok := under(c.info.TypeOf(n.Chan)).(*types.Chan); ok {
			c.to(ch.Elem(), n.Value)
		}
	case *ast.RangeStmt:
		for _, v := range []ast.Expr{n.Key, n.Value} {
			if v == nil || n.Tok != token.ASSIGN {
				continue
			}
			if t := c.info.TypeOf(v); t == nil || types.IsInterface(t) { // a blank has no type
				c.hold(c.info.TypeOf(n.X))
			}
		}
	case *ast.BinaryExpr:
		if x, y := c.info.TypeOf(n.X), c.info.TypeOf(n.Y); x != nil && y != nil && types.IsInterface(x) != types.IsInterface(y) {
			c.hold(x)
			c.hold(y)
		}
	case *ast.IndexExpr:
		if m, ok := under(c.info.TypeOf(n.X)).(*types.Map); ok {
			c.to(m.Key(), n.Index)
		}
	case *ast.SwitchStmt:
		if t := under(c.info.TypeOf(n.Tag)); n.Tag != nil && (t == nil || types.IsInterface(t)) {
			for _, s := range n.Body.List {
				for _, e := range s.(*ast.CaseClause).List {
					c.hold(c.info.TypeOf(e))
				}
			}
		}
	}
	if id, ok := stack[len(stack)-1].(*ast.Ident); ok {
		if in, ok := c.info.Instances[id]; ok { // a type parameter can become any type
			for t := range in.TypeArgs.Types() {
				c.hold(t)
			}
		}
	}
}

func under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// arguments records the conversions of the arguments of a call.
func (c converter) arguments(n *ast.CallExpr) {
	fun := c.info.Types[ast.Unparen(n.Fun)]
	if fun.IsType() {
		if len(n.Args) == 1 {
			c.to(fun.Type, n.Args[0])
		}
		return
	}
	if fun.IsBuiltin() {
		if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "panic" {
			c.hold(c.info.TypeOf(n.Args[0]))
		}
		if s, ok := under(c.info.TypeOf(n)).(*types.Slice); ok && len(n.Args) > 1 && !n.Ellipsis.IsValid() {
			for _, a := range n.Args[1:] {
				c.to(s.Elem(), a)
			}
		}
		return
	}
	s, ok := under(fun.Type).(*types.Signature)
	if !ok {
		for _, a := range n.Args { // its parameters are unknown
			c.hold(c.info.TypeOf(a))
		}
		return
	}
	// Functions of modules, and of Larder, may convert them to anything.
	f := staticCallee(c.info, n)
	outside := f != nil && f.Pkg() != nil && (isEngine(f.Pkg().Path()) || c.p.packages[f.Pkg().Path()] == nil && f.Signature().TypeParams().Len() > 0)
	if len(n.Args) == 1 {
		if tuple, isTuple := c.info.TypeOf(n.Args[0]).(*types.Tuple); isTuple {
			for v := range tuple.Variables() {
				c.hold(v.Type())
			}
			return
		}
	}
	for i, a := range n.Args {
		t := s.Params().At(min(i, s.Params().Len()-1)).Type()
		if s.Variadic() && i >= s.Params().Len()-1 && !n.Ellipsis.IsValid() {
			if list, ok := under(t).(*types.Slice); ok {
				t = list.Elem()
			}
		}
		if outside {
			c.hold(c.info.TypeOf(a))
		}
		c.to(t, a)
	}
}

func (c converter) literal(n *ast.CompositeLit) {
	t := under(c.info.TypeOf(n))
	if p, ok := t.(*types.Pointer); ok {
		t = under(p.Elem())
	}
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch u := t.(type) {
		case *types.Struct:
			if !keyed && i < u.NumFields() {
				c.to(u.Field(i).Type(), e)
			} else if keyed {
				if id, ok := kv.Key.(*ast.Ident); ok && c.info.Uses[id] != nil {
					c.to(c.info.Uses[id].Type(), kv.Value)
				}
			}
			continue
		case *types.Map:
			if keyed {
				c.to(u.Key(), kv.Key)
				c.to(u.Elem(), kv.Value)
			}
			continue
		}
		if keyed {
			e = kv.Value
		}
		switch u := t.(type) {
		case *types.Slice:
			c.to(u.Elem(), e)
		case *types.Array:
			c.to(u.Elem(), e)
		default:
			c.hold(c.info.TypeOf(e))
		}
	}
}

func (c converter) returns(n *ast.ReturnStmt, stack []ast.Node) {
	var s *types.Signature
	for i := len(stack) - 1; i >= 0 && s == nil; i-- {
		switch f := stack[i].(type) {
		case *ast.FuncLit:
			s, _ = c.info.TypeOf(f).(*types.Signature)
		case *ast.FuncDecl:
			if o, ok := c.info.Defs[f.Name].(*types.Func); ok {
				s = o.Signature()
			}
		}
	}
	if s == nil {
		return
	}
	results := slices.Collect(s.Results().Variables())
	if len(n.Results) == 1 && len(results) > 1 {
		if tuple, ok := c.info.TypeOf(n.Results[0]).(*types.Tuple); ok {
			for i, r := range results {
				if types.IsInterface(r.Type()) && i < tuple.Len() {
					c.hold(tuple.At(i).Type())
				}
			}
		}
		return
	}
	for i, e := range n.Results {
		if i < len(results) {
			c.to(results[i].Type(), e)
		}
	}
}

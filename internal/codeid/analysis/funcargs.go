package analysis

import (
	"go/ast"
	"go/types"
	"math"
	"slices"
)

// The caller of the function around a maker's literal answers for its arguments by Params.
// These cover numbers and strings, but not code. So functions must be identified
// separately. Types that arrive through interfaces count, and must not reach anything that
// no code identity covers.

// takesIn includes the parameters of the function around a literal, as far as they are
// used.
func (r *root) takesIn(m *creation, lists []*ast.FieldList) {
	m.in.file.pkg.program.indexed()
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if v, ok := m.in.info().Defs[id].(*types.Var); ok && m.in.uses(m.around, v) {
					r.takesParameter(m, v)
				}
			}
		}
	}
}

func (r *root) takesParameter(m *creation, v *types.Var) {
	if d := m.function(v); d != nil {
		r.also = append(r.also, d)
		return
	}
	if m.isGiven(v) {
		r.given = len(m.namedAsGiven())
		return
	}
	if t := m.in.unknownIn(v.Type(), m.in.typeOf(v)); t != nil {
		r.unseen = append(r.unseen, *t)
	}
	list, seen := m.passed(v)
	if seen {
		r.behind = append(r.behind, list...)
	} else {
		list = []types.Type{v.Type()}
		r.captured = append(r.captured, v.Type())
	}
	for _, t := range list {
		if !bringsFunctions(t, m.in.file.pkg.program.hidesFunctions, map[types.Type]bool{}) {
			continue
		}
		if _, one := under(t).(*types.Signature); one {
			r.gets++
		} else {
			r.gets = anyNumber
		}
		r.unseen = append(r.unseen, problem{
			what: "functions that it is given as values in " + v.Name() + ", and no key says which", at: m.in.at(v.Pos()), name: m.in.file.pkg.path + "." + v.Name(),
			refuse: true, fix: "call the function by its name, name it next to the literal (dataset.NewTransform(dataset.TransformFunc{Func: func..., FuncArgs: []any{" + v.Name() + "}}))",
		})
	}
}

// typeOf returns the written type of a parameter.
func (d *decl) typeOf(v *types.Var) (written ast.Expr) {
	ast.Inspect(d.node, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return d.info().Defs[id] == v }) {
			written = f.Type
		}
		return written == nil
	})
	return written
}

// unknownIn returns the problem of a type that contains a type of an unregistered package;
// nil if it contains none.
func (d *decl) unknownIn(of types.Type, written ast.Expr) *problem {
	if written == nil || !hasUnknown(of, map[types.Type]bool{}) {
		return nil
	}
	p := &problem{what: "values of a type whose package does not register its sources", at: d.at(written.Pos()), fix: "that package registered"}
	ast.Inspect(written, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := s.X.(*ast.Ident)
		if name, is := d.info().Uses[id].(*types.PkgName); ok && is && p.name == "" {
			path := name.Imported().Path()
			p.name = path + "." + s.Sel.Name
			if !d.file.pkg.program.build.local(path) {
				p.refuse, p.opaque, p.fix = true, true, ""
			}
		}
		return true
	})
	return p
}

// hasUnknown reports whether a type contains an unknown one.
func hasUnknown(of types.Type, seen map[types.Type]bool) bool {
	if isUnknown(of) {
		return true
	}
	if seen[of] {
		return false
	}
	seen[of] = true
	switch u := of.Underlying().(type) {
	case *types.Pointer:
		return hasUnknown(u.Elem(), seen)
	case *types.Slice:
		return hasUnknown(u.Elem(), seen)
	case *types.Array:
		return hasUnknown(u.Elem(), seen)
	case *types.Map:
		return hasUnknown(u.Key(), seen) || hasUnknown(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if hasUnknown(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// isGiven reports whether a parameter of the enclosing function, which never changes, is
// named in FuncArgs in the call of NewTransform that has the literal as Func. Nothing else tells
// which functions the maker receives, and for which parameter.
func (m *creation) isGiven(v *types.Var) bool {
	if _, ok := under(v.Type()).(*types.Signature); !ok || m.around != m.in.node || m.assigns(v) || m.in.pointsTo(v) {
		return false
	}
	list := m.namedAsGiven()
	return slices.ContainsFunc(list, func(e ast.Expr) bool { return m.in.isNamed(e, v) })
}

// namedAsGiven lists the FuncArgs of the literal's call.
func (m *creation) namedAsGiven() (list []ast.Expr) {
	walk(m.around, func(stack []ast.Node) bool {
		n := len(stack)
		parts, ok := stack[n-1].(*ast.CompositeLit)
		if !ok || n < 2 || !fieldIs(parts, "Func", m.lit) {
			return true
		}
		call, ok := stack[n-2].(*ast.CallExpr)
		if !ok {
			return true
		}
		if f := staticCallee(m.in.info(), call); f != nil && f.FullName() == engine+"/dataset.NewTransform" {
			if given, ok := fieldOf(parts, "FuncArgs").(*ast.CompositeLit); ok {
				list = given.Elts
			}
		}
		return true
	})
	return list
}

// fieldOf returns the value of a field in a struct literal, or nil.
func fieldOf(of *ast.CompositeLit, name string) ast.Expr {
	for _, e := range of.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
			return ast.Unparen(kv.Value)
		}
	}
	return nil
}

func fieldIs(of *ast.CompositeLit, name string, e ast.Expr) bool { return fieldOf(of, name) == e }

// assigns reports whether the enclosing function assigns to a variable.
func (m *creation) assigns(v *types.Var) (found bool) {
	walk(m.around, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		found = found || ok && m.in.info().Uses[id] == v && assigned(stack)
		return !found
	})
	return found
}

// function returns the function passed for a parameter of the enclosing function. The
// program must pass the same everywhere, by its name or, in one place, as a literal that
// captures nothing; else it returns nil.
func (m *creation) function(v *types.Var) *decl {
	p := m.in.file.pkg.program
	if _, ok := under(v.Type()).(*types.Signature); !ok || m.around != m.in.node {
		return nil
	}
	var one *decl
	all, ok := p.givens(m.in, v)
	for _, g := range all {
		d := g.function()
		if d == nil || one != nil && one != d {
			return nil
		}
		one = d
	}
	if !ok {
		return nil
	}
	return one
}

// function returns the function that an expression names, or is; nil for other expressions.
func (g given) function() *decl {
	if lit, ok := ast.Unparen(g.e).(*ast.FuncLit); ok && len(g.d.captures(lit)) == 0 && g.d.instances(lit) == nil && !g.d.takesNames(lit) {
		d := &decl{file: g.d.file, kind: "literal", names: []string{g.d.names[0] + ".func"}, node: lit, pragmas: g.d.pragmas}
		d.resolved()
		return d
	}
	f, ok := named(g.d.info(), g.e).(*types.Func)
	if !ok || f.Signature().Recv() != nil || isGeneric(f.Signature()) {
		return nil
	}
	return g.d.file.pkg.program.declOf(f)
}

// passed lists the types of the values that the program passes for an interface parameter
// of the enclosing function, and reports whether the list is complete.
func (m *creation) passed(v *types.Var) (list []types.Type, ok bool) {
	if m.around != m.in.node || !types.IsInterface(v.Type()) {
		return nil, false
	}
	all, ok := m.in.file.pkg.program.givens(m.in, v)
	for _, g := range all {
		t := g.d.info().Types[g.e]
		if t.IsNil() {
			continue
		}
		_, several := t.Type.(*types.Tuple)
		ok = ok && t.Type != nil && !several && !isUnknown(deref(t.Type)) && !types.IsInterface(t.Type) && !generic(t.Type)
		list = append(list, t.Type)
	}
	return list, ok && len(all) > 0
}

// anyNumber is the number of functions that a list or similar value may hold.
const anyNumber = math.MaxInt32

// hidesFunctions reports whether functions, or values that hold some, may arrive through an
// interface: the program converts such values to it.
func (p *parsedProgram) hidesFunctions(i *types.Interface) bool {
	for held := range p.converted() {
		if bringsFunctions(held, nil, map[types.Type]bool{}) && (types.Implements(held, i) || types.Implements(types.NewPointer(held), i)) {
			return true
		}
	}
	return false
}

// bringsFunctions reports whether values of a type hold functions, except those that Larder
// passes in. It calls hides, if not nil, for interfaces.
func bringsFunctions(t types.Type, hides func(*types.Interface) bool, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		if path := n.Obj().Pkg().Path(); handsIn(path) || harmless(n) && path != "sync" { // its pools make values
			return false
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Pointer:
		return bringsFunctions(u.Elem(), hides, seen)
	case *types.Slice:
		return bringsFunctions(u.Elem(), hides, seen)
	case *types.Array:
		return bringsFunctions(u.Elem(), hides, seen)
	case *types.Chan:
		return true
	case *types.Map:
		return bringsFunctions(u.Key(), hides, seen) || bringsFunctions(u.Elem(), hides, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if bringsFunctions(f.Type(), hides, seen) {
				return true
			}
		}
	case *types.Interface:
		return hides != nil && hides(u)
	}
	return false
}

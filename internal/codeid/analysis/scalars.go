package analysis

import (
	"go/ast"
	"go/types"
	"slices"
)

// Writes of numbers do not change memory without numbers: strings, pointers to them, and
// values in interfaces, which cannot be written. So code can set a picture's pixels though
// its palette is a package variable.

// contents describes what a variable can reach, by its type.
type contents struct {
	numbers bool // or memory that may lead to some
	boxes   bool // interfaces, which may hold pointers
}

// add includes memory of a type.
func (c *contents) add(of types.Type, seen map[types.Type]bool) {
	of = types.Unalias(of)
	if seen[of] {
		return
	}
	seen[of] = true
	if _, parameter := of.(*types.TypeParam); parameter {
		c.numbers = true
		return
	}
	switch u := of.Underlying().(type) {
	case *types.Basic:
		c.numbers = c.numbers || u.Info()&types.IsString == 0
	case *types.Array:
		c.add(u.Elem(), seen)
	case *types.Slice:
		c.add(u.Elem(), seen)
	case *types.Pointer:
		c.add(u.Elem(), seen)
	case *types.Map:
		c.add(u.Key(), seen)
		c.add(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			c.add(f.Type(), seen)
		}
	case *types.Interface:
		c.boxes = true
	default:
		c.numbers = true
	}
}

// isNumbers reports whether values of a type consist of numbers only.
func isNumbers(of types.Type) bool {
	if of == nil {
		return false
	}
	switch u := types.Unalias(of).Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsNumeric) != 0
	case *types.Array:
		return isNumbers(u.Elem())
	case *types.Struct:
		return !slices.ContainsFunc(slices.Collect(u.Fields()), func(f *types.Var) bool { return !isNumbers(f.Type()) })
	}
	return false
}

// unless records a write, unless it writes numbers and the memory has none.
func (t *tracer) unless(numbers bool, write func()) {
	switch {
	case !numbers || t.has.numbers:
		write()
	case t.has.boxes:
		t.spared = append(t.spared, write) // until the content of interfaces is known
	}
}

// settle records the writes of numbers that may be in interfaces, and reports whether there
// were any.
func (t *tracer) settle() bool {
	if len(t.spared) == 0 || t.problem != nil || !t.changed && t.isPlain() {
		return false
	}
	all := t.spared
	t.spared = nil
	for _, write := range all {
		write()
	}
	return true
}

// isPlain reports whether the variable's initial literal puts only plain values into
// interfaces.
func (t *tracer) isPlain() bool {
	s, ok := t.decl.node.(*ast.ValueSpec)
	if !ok {
		return false // declared in the library
	}
	if len(s.Values) != len(s.Names) {
		return len(s.Values) == 0
	}
	return t.decl.plain(s.Values[slices.IndexFunc(s.Names, func(id *ast.Ident) bool { return t.decl.info().Defs[id] == t.root })])
}

// plain reports whether an expression is a value without references, or a literal of such
// that has no numbers in its memory.
func (d *decl) plain(e ast.Expr) bool {
	of := d.info().TypeOf(e)
	if of == nil {
		return false
	}
	if flat(of, 0) && !hasFunctions(of, 0) {
		return true
	}
	var has contents
	if has.add(of, map[types.Type]bool{}); has.numbers {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return !slices.ContainsFunc(e.Elts, func(elt ast.Expr) bool {
			kv, ok := elt.(*ast.KeyValueExpr)
			if !ok {
				return !d.plain(elt)
			}
			return !d.plain(kv.Value) || !isStruct(of) && !d.plain(kv.Key)
		})
	case *ast.UnaryExpr:
		lit, ok := ast.Unparen(e.X).(*ast.CompositeLit)
		return ok && d.plain(lit)
	case *ast.CallExpr:
		return d.info().Types[ast.Unparen(e.Fun)].IsType() && d.plain(e.Args[0])
	case *ast.Ident:
		return d.info().Types[e].IsNil()
	}
	return false
}

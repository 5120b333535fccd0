package analysis

import (
	"go/ast"
	"go/types"
	"strings"
	"sync"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/larder-data/larder/internal/codeid/std"
)

// The type of memory determines what it can be part of. A value can refer to a variable's
// memory only if its type leads to a type in that memory, and a write matters only if its
// target type is there. So an option that sets a field of a parser does not change the
// table that all parsers share, and a list of search results is not the table. (Only
// conversions of unsafe pointers could break this; they are refused elsewhere.)
//
// Types with the same underlying type count as one, because pointers can be converted.

// A reach is the memory to which values of a type lead.
type reach struct {
	types map[int]bool    // addressable types; a map counts as one, its elements do not
	names map[string]bool // of fields
	open  bool            // it may be anything
}

// reaches computes and caches reaches of types.
type reaches struct {
	reachMutex sync.Mutex
	typeIDs    typeutil.Map
	reachOf    map[types.Type][2]*reach
}

// reach returns the memory to which a value of a type leads, including the value itself if
// memory is set.
func (p *parsedProgram) reach(of types.Type, memory bool) *reach {
	p.reachMutex.Lock()
	defer p.reachMutex.Unlock()
	i := 0
	if memory {
		i = 1
	}
	both := p.reachOf[of]
	if both[i] == nil {
		r := reacher{p: p, reach: &reach{types: map[int]bool{}, names: map[string]bool{}}, seen: map[types.Type]bool{}}
		r.add(of, memory)
		both[i] = r.reach
		if p.reachOf == nil {
			p.reachOf = map[types.Type][2]*reach{}
		}
		p.reachOf[of] = both
	}
	return both[i]
}

// id numbers types by underlying type.
func (p *parsedProgram) id(of types.Type) int {
	of = types.Unalias(of).Underlying()
	if s, ok := of.(*types.Struct); ok {
		fields := make([]*types.Var, s.NumFields())
		for i := range fields {
			fields[i] = s.Field(i)
		}
		of = types.NewStruct(fields, nil) // tags do not count
	}
	if id, ok := p.typeIDs.At(of).(int); ok {
		return id
	}
	id := p.typeIDs.Len()
	p.typeIDs.Set(of, id)
	return id
}

// A reacher traverses types.
type reacher struct {
	*reach
	p    *parsedProgram
	seen map[types.Type]bool // whether as memory
}

func (r *reacher) add(of types.Type, memory bool) {
	of = types.Unalias(of)
	if before, ok := r.seen[of]; ok && (before || !memory) || r.open {
		return
	}
	r.seen[of] = memory
	if _, parameter := of.(*types.TypeParam); parameter {
		r.open = true
		return
	}
	if memory {
		r.types[r.p.id(of)] = true
	}
	switch u := of.Underlying().(type) {
	case *types.Basic:
		r.open = u.Kind() == types.UnsafePointer || u.Kind() == types.Invalid
	case *types.Array:
		r.add(u.Elem(), memory)
	case *types.Slice:
		r.add(u.Elem(), true)
	case *types.Pointer:
		r.add(u.Elem(), true)
	case *types.Map:
		r.types[r.p.id(of)] = true
		r.add(u.Key(), false)
		r.add(u.Elem(), false)
	case *types.Struct:
		for f := range u.Fields() {
			if memory {
				r.names[f.Name()] = true
			}
			r.add(f.Type(), memory)
		}
	case *types.Interface:
		r.behind(u)
	default: // functions hold what they capture
		r.open = true
	}
}

// behind adds the types that an interface may hold: if it has a method that no library type
// has, the types that are converted to interfaces and have its methods.
func (r *reacher) behind(i *types.Interface) {
	own := false
	for m := range i.Methods() {
		own = own || m.Pkg() != nil && !std.Has(m.Pkg().Path()) && !isEngine(m.Pkg().Path()) && (!m.Exported() || !std.HasMethod(m.Name()))
	}
	if !own || r.p.foreign() {
		r.open = true
		return
	}
	for t := range r.p.converted() {
		n, isNamed := t.(*types.Named)
		if _, parameter := types.Unalias(t).(*types.TypeParam); parameter || isNamed && n.TypeParams().Len() > 0 && hasNames(n, i) {
			r.open = true
			return
		}
		if types.Implements(t, i) || types.Implements(types.NewPointer(t), i) {
			r.add(t, true)
		}
	}
}

// hasNames reports whether a type has methods of all names of an interface.
func hasNames(n *types.Named, i *types.Interface) bool {
	for m := range i.Methods() {
		if o, _, _ := types.LookupFieldOrMethod(n, true, m.Pkg(), m.Name()); o == nil {
			return false
		}
	}
	return true
}

// cells is the memory of a variable, as far as types tell.
type cells struct {
	reach
	state map[types.Object]bool // variables and fields that are part of it
}

// cellsOf returns the memory of a variable if the tracer has found all of it.
func (t *tracer) cellsOf() *cells {
	c := &cells{reach: reach{types: map[int]bool{}, names: map[string]bool{}}, state: t.state}
	c.join(t.p.reach(t.root.Type(), true))
	for _, all := range []map[types.Object]bool{t.origins, t.state} {
		for o := range all {
			c.join(t.p.reach(o.Type(), true))
		}
	}
	return c
}

func (c *cells) join(r *reach) {
	c.open = c.open || r.open
	for id := range r.types {
		c.types[id] = true
	}
	for n := range r.names {
		c.names[n] = true
	}
}

// same reports whether nothing was found in addition to before.
func (c *cells) same(before *cells) bool {
	return before.open || c.open == before.open && len(c.types) == len(before.types) && len(c.names) == len(before.names) && len(c.state) == len(before.state)
}

// refers reports whether a copy of a value of a type may refer to the memory.
func (t *tracer) refers(of types.Type) bool {
	if of == nil || t.cells == nil || t.cells.open {
		return true
	}
	r := t.p.reach(of, false)
	if r.open {
		return true
	}
	for id := range r.types {
		if t.cells.types[id] {
			return true
		}
	}
	return false
}

// wrote records a write through an expression.
func (t *tracer) wrote(w *way, write func()) {
	if t.cells == nil || t.cells.open || t.mayHit(w.d.info(), w.e, w.of) {
		t.unless(isNumbers(w.of), write)
	}
}

// mayHit reports whether a write to an expression may change the memory.
func (t *tracer) mayHit(info *types.Info, e ast.Expr, of types.Type) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		sel := info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return true
		}
		f := sel.Obj().(*types.Var).Origin()
		return t.cells.names[f.Name()] || t.cells.state[f] || t.inside(of, false)
	case *ast.IndexExpr:
		list := info.TypeOf(e.X)
		if list == nil || hasParameters(list, 0) {
			return true
		}
		if _, isMap := list.Underlying().(*types.Map); isMap {
			return t.isCell(list)
		}
		return t.inside(of, true)
	case *ast.StarExpr:
		return t.inside(of, true)
	}
	return true
}

func (t *tracer) isCell(of types.Type) bool {
	t.p.reachMutex.Lock()
	defer t.p.reachMutex.Unlock()
	return t.cells.types[t.p.id(of)]
}

// inside reports whether a value that is written as a whole, or a part of it, is part of
// the memory.
func (t *tracer) inside(of types.Type, itself bool) bool {
	if of == nil || hasParameters(of, 0) || itself && t.isCell(of) {
		return true
	}
	switch u := of.Underlying().(type) {
	case *types.Array:
		return t.inside(u.Elem(), true)
	case *types.Struct:
		for f := range u.Fields() {
			if t.cells.names[f.Name()] || t.cells.state[f.Origin()] || t.inside(f.Type(), itself) {
				return true
			}
		}
	}
	return false
}

// foreign reports whether the program has packages with unknown types.
func (p *parsedProgram) foreign() bool {
	return p.found.foreign.get(func() bool {
		foreign := p.unknown != ""
		for _, k := range p.order {
			if k.engine {
				continue
			}
			for _, f := range k.syntax {
				for _, s := range f.syntax.Imports {
					path := strings.Trim(s.Path.Value, "\"`")
					foreign = foreign || !std.Has(path) && !isEngine(path) && p.packages[path] == nil
				}
			}
		}
		return foreign
	})
}

package main

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// call applies the effects of the callees.
func (a *analysis) call(i ssa.CallInstruction) {
	c := i.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		a.builtin(i, b.Name())
		return
	}
	var args []objects
	if c.IsInvoke() {
		args = append(args, a.value(c.Value))
	}
	for _, v := range c.Args {
		args = append(args, a.value(v))
	}
	v := i.Value()
	if c.IsInvoke() {
		a.invoke(c.Method, args, v)
		return
	}
	if f := c.StaticCallee(); f != nil {
		if m, ok := c.Value.(*ssa.MakeClosure); ok {
			for _, b := range m.Bindings {
				args = append(args, a.value(b))
			}
		}
		a.apply(a.summaries[origin(f)], args, v)
		return
	}
	a.dynamic(a.value(c.Value), args, v)
}

// invoke calls a method of an interface, of which only corrections are known.
func (a *analysis) invoke(m *types.Func, args []objects, v *ssa.Call) {
	effect, ok := a.fixes.effect(objectName(m))
	if !ok {
		effect = "writes"
	}
	s := &summary{}
	s.effect(effect, len(args), true)
	a.apply(s, args, v)
}

// dynamic calls a function value: a known one, an argument, or any.
func (a *analysis) dynamic(fn objects, args []objects, v *ssa.Call) {
	anything := fn.empty()
	for i := range fn.all {
		o := a.objects[i]
		switch {
		case i < a.operands:
			a.callOperand(i, args, v)
		case len(o.functions) == 0:
			anything = true
		}
		for f := range o.functions {
			bound := append([]objects(nil), args...)
			for range f.FreeVars {
				bound = append(bound, o.holds)
			}
			a.apply(a.summaries[f], bound, v)
		}
	}
	if anything {
		s := &summary{}
		s.effect("writes", len(args)+1, false)
		a.apply(s, append(args[:len(args):len(args)], fn), v)
	}
}

// callOperand calls a function argument: what it receives may come back.
func (a *analysis) callOperand(i int, args []objects, v *ssa.Call) {
	for _, arg := range args {
		if a.sum.handed.join(a.reach(arg)) {
			a.grew = true
		}
	}
	if a.sum.calls.add(i) {
		a.grew = true
	}
	s := &summary{}
	s.effect("returns", len(args), false)
	a.apply(s, args, v)
}

// apply applies a summary: args are what the operands point to, v is the result, if any.
func (a *analysis) apply(s *summary, args []objects, v *ssa.Call) {
	if s == nil { // of a missing function
		s = &summary{}
		s.effect("writes", len(args), false)
	}
	bind := func(set objects) (to objects) {
		for i := range set.all {
			switch {
			case i/2 >= len(args):
			case i%2 == 0:
				to.join(args[i/2])
			default:
				to.join(a.reach(a.behind(args[i/2])))
			}
		}
		return to
	}
	a.written(bind(s.written))
	a.sum.mixed.join(bind(s.mixed))
	a.sum.certain.join(bind(s.certain))
	for i, what := range s.stored {
		// Memory reachable from an operand belongs to it: nothing new.
		if in, what := bind(objects{}.with(i)), bind(what.without(i|1)); !what.empty() {
			a.hold(in, what)
		}
	}
	if handed := bind(s.handed); !handed.empty() {
		a.hand(handed, bind(s.calls))
	}
	if v == nil || !a.carries(v.Type()) { // nil for go and defer
		return
	}
	n := a.made(v)
	a.hold(objects{}.with(n), bind(s.inside))
	for f := range s.makes {
		a.is(n, f)
	}
	to := bind(s.result)
	to.add(n)
	a.flow(v, to)
}

func (s objects) without(i int) (t objects) {
	for j := range s.all {
		if j != i {
			t.add(j)
		}
	}
	return t
}

// hand records that a callee passes memory to its function arguments.
func (a *analysis) hand(what, fns objects) {
	for i := range fns.all {
		o := a.objects[i]
		if i < a.operands {
			if a.sum.handed.join(a.reach(what)) || a.sum.calls.add(i) {
				a.grew = true
			}
			continue
		}
		for f := range o.functions {
			a.handTo(a.summaries[f], f, o.holds, what)
		}
	}
}

// handTo passes memory to a known function with captured variables.
func (a *analysis) handTo(s *summary, f *ssa.Function, captured, what objects) {
	params := 2 * len(f.Params)
	if s == nil || f.Blocks == nil || !s.written.below(params).empty() || !s.handed.below(params).empty() {
		a.write(a.reach(what))
	}
	for j := range f.FreeVars { // they may retain it
		if in := s.stored[params+2*j]; !in.below(params).empty() {
			a.hold(captured, what)
		}
	}
}

func (a *analysis) builtin(i ssa.CallInstruction, name string) {
	args := i.Common().Args
	v := i.Value()
	switch name {
	case "append":
		if v == nil {
			return
		}
		a.flow(v, a.value(args[0]).clone().with(a.made(v)))
		a.change(a.value(args[0]), elements(args[0].Type())...)
		a.hold(*a.at(v), a.behind(a.value(args[0])))
		if len(args) > 1 && a.carriesElements(args[1].Type()) {
			a.hold(*a.at(v), a.behind(a.value(args[1])))
		}
	case "copy":
		a.change(a.value(args[0]), elements(args[0].Type())...)
		if a.carriesElements(args[1].Type()) {
			a.hold(a.value(args[0]), a.behind(a.value(args[1])))
		}
	case "delete", "clear", "close":
		a.change(a.value(args[0]), elements(args[0].Type())...)
	case "Add", "Slice", "SliceData", "String", "StringData", "ssa:wrapnilchk", "ssa:deferstack":
		if v != nil && len(args) > 0 {
			a.flow(v, a.value(args[0]))
		}
	}
}

func (s objects) clone() (t objects) {
	t.join(s)
	return t
}

// carriesElements reports whether elements of a slice (or bytes of a string) can point to
// memory.
func (a *analysis) carriesElements(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && a.carries(s.Elem()) || isTypeParam(t)
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// carries reports whether values of a type can point to writable memory.
func (m *memory) carries(t types.Type) bool {
	if c, ok := m.carried[t]; ok {
		return c
	}
	m.carried[t] = true // a recursive type: it contains a pointer
	c := m.carriesType(t)
	m.carried[t] = c
	return c
}

func (m *memory) carriesType(t types.Type) bool {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok && m.harmless[n.Obj()] {
		return false
	}
	if p, ok := t.(*types.Pointer); ok {
		n, ok := types.Unalias(p.Elem()).(*types.Named)
		return !ok || !m.harmless[n.Obj()]
	}
	if isTypeParam(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		for f := range u.Fields() {
			if m.carries(f.Type()) {
				return true
			}
		}
		return false
	case *types.Array:
		return m.carries(u.Elem())
	case *types.Tuple:
		for v := range u.Variables() {
			if m.carries(v.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

// harmless finds the types that corrections call harmless.
func harmless(p *program) map[*types.TypeName]bool {
	found := map[*types.TypeName]bool{}
	for _, pkg := range p.pkgs {
		for _, name := range pkg.Types.Scope().Names() {
			t, ok := pkg.Types.Scope().Lookup(name).(*types.TypeName)
			if ok && !t.IsAlias() && p.fixes.word(objectName(t), "harmless") != "" {
				found[t] = true
			}
		}
	}
	return found
}

package main

import (
	"go/token"
	"go/types"
	"maps"

	"golang.org/x/tools/go/ssa"
)

// A summary describes what a function does to the memory of its operands. Each operand
// (receiver, parameters, captured variables) has two objects: object 2i is what operand i
// points to, 2i+1 everything reachable from there.
type summary struct {
	written objects         // may be written to, or retained
	certain objects         // the part of it that was seen to be written
	mixed   objects         // may be written with more than numbers, if written
	result  objects         // what its results point to
	inside  objects         // reachable from memory that it makes and returns
	stored  map[int]objects // what it stores in which object
	handed  objects         // passed to function arguments
	calls   objects         // objects with these functions
	makes   functions       // whose values are in memory that it makes and returns
}

type functions map[*ssa.Function]bool

// An analysis of one function: which objects values may point to. It ignores order and
// fields. Memory that the function makes is numbered by instruction; a package variable has
// two objects, like an operand.
type analysis struct {
	*memory
	f        *ssa.Function
	operands int // lower objects belong to operands
	numbers  map[any]int
	objects  []object
	points   map[ssa.Value]*objects
	sum      *summary
	grew     bool
}

type object struct {
	holds     objects   // what its content points to
	functions functions // that the memory is a value of
	global    *ssa.Global
}

// memory computes the summaries of all functions.
type memory struct {
	fixes     corrections
	harmless  map[*types.TypeName]bool
	summaries map[*ssa.Function]*summary
	mutable   map[*types.Var]bool // variables that functions other than init write
	carried   map[types.Type]bool
	// overridden holds the findings about functions with corrections.
	overridden map[*ssa.Function]*summary
}

func summarize(p *program) *memory {
	m := &memory{
		fixes: p.fixes, harmless: harmless(p), summaries: map[*ssa.Function]*summary{},
		mutable: map[*types.Var]bool{}, carried: map[types.Type]bool{},
		overridden: map[*ssa.Function]*summary{},
	}
	callers := map[*ssa.Function][]*ssa.Function{}
	for _, f := range p.functions {
		m.summaries[f] = m.byHand(f)
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				for _, v := range i.Operands(nil) {
					if callee, ok := (*v).(*ssa.Function); ok {
						callers[origin(callee)] = append(callers[origin(callee)], f)
					}
				}
			}
		}
	}
	queue := p.functions
	waiting := map[*ssa.Function]bool{}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		waiting[f] = false
		if m.analyze(f) {
			for _, c := range callers[f] {
				if !waiting[c] {
					waiting[c] = true
					queue = append(queue, c)
				}
			}
		}
	}
	return m
}

// byHand starts a summary: from corrections, or with the worst case for a function without
// a body.
func (m *memory) byHand(f *ssa.Function) *summary {
	s := &summary{stored: map[int]objects{}}
	effect, ok := m.fixes.effect(nameOf(f))
	if !ok && f.Blocks == nil {
		effect = "writes"
	}
	n := len(f.Params) + len(f.FreeVars)
	if f.Blocks == nil {
		n = f.Signature.Params().Len()
		if f.Signature.Recv() != nil {
			n++
		}
	}
	s.effect(effect, n, f.Signature.Recv() != nil)
	if ok {
		s.certain.join(s.written)
	}
	return s
}

// effect fills in a summary from the effect in a word.
func (s *summary) effect(word string, operands int, method bool) {
	target := -1 // the only operand that is written
	switch {
	case word == "first" && method:
		target = 1
	case word == "first", word == "receiver":
		target = 0
	}
	for i := range 2 * operands {
		if word == "writes" || i/2 == target {
			s.written.add(i)
			s.mixed.add(i)
			s.inside.add(i)
		} else if word == "returns" {
			s.inside.add(i)
		}
	}
}

// analyze updates a summary, and reports whether it grew.
func (m *memory) analyze(f *ssa.Function) bool {
	if f.Blocks == nil {
		return false
	}
	a := &analysis{memory: m, f: f, numbers: map[any]int{}, points: map[ssa.Value]*objects{}, sum: &summary{stored: map[int]objects{}}}
	for _, p := range f.Params {
		a.operand(p)
	}
	for _, p := range f.FreeVars {
		a.operand(p)
	}
	a.operands = len(a.objects)
	for a.grew = true; a.grew; {
		a.grew = false
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				a.instruction(i)
			}
		}
	}
	a.globals()
	if _, ok := m.fixes.effect(nameOf(f)); ok {
		m.overridden[f] = a.summary()
		return false
	}
	return m.summaries[f].join(a.summary())
}

// pair makes two objects: what is pointed to, and what is reachable from it.
func (a *analysis) pair() int {
	n := len(a.objects)
	a.objects = append(a.objects, object{}, object{})
	a.objects[n].holds.add(n + 1)
	a.objects[n+1].holds.add(n + 1)
	return n
}

func (a *analysis) operand(v ssa.Value) {
	n := a.pair()
	if a.carries(v.Type()) {
		a.at(v).add(n)
	}
}

// at returns what a value points to.
func (a *analysis) at(v ssa.Value) *objects {
	p := a.points[v]
	if p != nil {
		return p
	}
	p = new(objects)
	a.points[v] = p
	switch v := v.(type) {
	case *ssa.Global:
		n, ok := a.numbers[v]
		if !ok {
			n = a.pair()
			a.numbers[v] = n
			a.objects[n].global, a.objects[n+1].global = v, v
		}
		p.add(n)
	case *ssa.Function:
		p.add(a.made(origin(v)))
		a.is(a.made(origin(v)), origin(v))
	}
	return p
}

// made returns the memory that an instruction makes.
func (a *analysis) made(by any) int {
	n, ok := a.numbers[by]
	if !ok {
		n = len(a.objects)
		a.numbers[by] = n
		a.objects = append(a.objects, object{})
	}
	return n
}

// is records that memory is the value of a function.
func (a *analysis) is(object int, f *ssa.Function) {
	o := &a.objects[object]
	if o.functions == nil {
		o.functions = functions{}
	}
	if !o.functions[f] {
		o.functions[f] = true
		a.grew = true
	}
}

// flow adds targets to a value.
func (a *analysis) flow(v ssa.Value, to objects) {
	if a.carries(v.Type()) && a.at(v).join(to) {
		a.grew = true
	}
}

// behind returns what the memory holds.
func (a *analysis) behind(s objects) (to objects) {
	for i := range s.all {
		to.join(a.objects[i].holds)
	}
	return to
}

// reach returns the memory and everything reachable from it.
func (a *analysis) reach(s objects) (to objects) {
	to.join(s)
	for to.join(a.behind(to)) {
	}
	return to
}

// store records that a value is stored in memory.
func (a *analysis) store(in objects, v ssa.Value) {
	a.change(in, v.Type())
	a.hold(in, a.value(v))
}

func (a *analysis) hold(in, what objects) {
	for i := range in.all {
		if a.objects[i].holds.join(what) {
			a.grew = true
		}
	}
}

// write records that anything may be written to memory.
func (a *analysis) write(to objects) {
	a.written(to)
	a.sum.mixed.join(to)
}

func (a *analysis) written(to objects) {
	if a.sum.written.join(to) {
		a.grew = true
	}
}

func (a *analysis) instruction(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.Alloc:
		a.flow(i, objects{}.with(a.made(i)))
	case *ssa.MakeSlice:
		a.flow(i, objects{}.with(a.made(i)))
	case *ssa.MakeMap:
		a.flow(i, objects{}.with(a.made(i)))
	case *ssa.MakeChan:
		a.flow(i, objects{}.with(a.made(i)))
	case *ssa.MakeClosure:
		a.closure(i)
	case *ssa.Store:
		a.store(*a.at(i.Addr), i.Val)
	case *ssa.MapUpdate:
		a.store(*a.at(i.Map), i.Key)
		a.store(*a.at(i.Map), i.Value)
	case *ssa.Send:
		a.store(*a.at(i.Chan), i.X)
	case *ssa.UnOp:
		if i.Op == token.MUL || i.Op == token.ARROW {
			a.flow(i, a.behind(*a.at(i.X)))
		}
	case *ssa.Lookup:
		a.flow(i, a.behind(*a.at(i.X)))
	case *ssa.Next:
		a.flow(i, a.behind(*a.at(i.Iter)))
	case *ssa.Select:
		for _, s := range i.States {
			a.flow(i, a.behind(*a.at(s.Chan)))
			if s.Send != nil {
				a.store(*a.at(s.Chan), s.Send)
			}
		}
	case *ssa.Return:
		for _, r := range i.Results {
			if a.sum.result.join(a.value(r)) {
				a.grew = true
			}
		}
	case ssa.CallInstruction:
		a.call(i)
	case *ssa.Panic: // the recovering code is unknown
		a.write(a.reach(a.value(i.X)))
	case *ssa.BinOp, *ssa.If, *ssa.Jump, *ssa.DebugRef, *ssa.RunDefers:
	case ssa.Value: // it points to what its operands point to
		a.cast(i.(ssa.Instruction))
		for _, v := range i.(ssa.Instruction).Operands(nil) {
			if *v != nil {
				a.flow(i, a.value(*v))
			}
		}
	}
}

// value returns what a value points to, nothing for one without pointers.
func (a *analysis) value(v ssa.Value) objects {
	if !a.carries(v.Type()) {
		return nil
	}
	return *a.at(v)
}

func (s objects) with(i int) objects {
	s.add(i)
	return s
}

// closure makes a function value, and applies its effects on captured variables
// immediately.
func (a *analysis) closure(i *ssa.MakeClosure) {
	n := a.made(i)
	f := origin(i.Fn.(*ssa.Function))
	a.is(n, f)
	a.flow(i, objects{}.with(n))
	bound := make([]objects, len(f.Params), len(f.Params)+len(i.Bindings))
	for _, b := range i.Bindings {
		bound = append(bound, a.value(b))
		a.hold(objects{}.with(n), a.value(b))
	}
	a.apply(a.summaries[f], bound, nil)
}

// globals records the package variables that the function writes, and that values stored
// there are retained.
func (a *analysis) globals() {
	init := a.f.Synthetic == "package initializer" || a.f.Name() == "init" || len(a.f.Name()) > 5 && a.f.Name()[:5] == "init#"
	for i := range a.objects {
		g := a.objects[i].global
		if g == nil {
			continue
		}
		a.write(a.reach(a.objects[i].holds).below(a.operands))
		direct := *a.at(g)
		if v, ok := g.Object().(*types.Var); ok && a.sum.certain.has(i) && !init && (direct.has(i) || !settled(v.Type())) {
			a.mutable[v] = true
		}
	}
}

// settled reports whether memory behind a variable's value is assumed not to change,
// whatever the analysis finds: it cannot distinguish errors.
func settled(t types.Type) bool {
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		return true
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	_, ok = s.Elem().Underlying().(*types.Basic)
	return ok
}

// summary returns the findings about operands alone.
func (a *analysis) summary() *summary {
	s := &summary{stored: map[int]objects{}}
	s.written = a.sum.written.below(a.operands)
	s.certain = a.sum.certain.below(a.operands)
	s.mixed = a.sum.mixed.below(a.operands)
	s.result = a.sum.result.below(a.operands)
	s.handed = a.sum.handed.below(a.operands)
	var own objects
	for i := range a.sum.result.all {
		if i >= a.operands {
			own.add(i)
		}
	}
	own = a.reach(own)
	s.inside = own.below(a.operands)
	s.calls = a.sum.calls.below(a.operands)
	s.makes = functions{}
	for i := range own.all {
		maps.Copy(s.makes, a.objects[i].functions)
	}
	for i := range a.operands {
		if in := a.reach(a.objects[i].holds).below(a.operands); !in.empty() {
			s.stored[i] = in
		}
	}
	return s
}

// join reports whether the summary grew.
func (s *summary) join(t *summary) (grew bool) {
	grew = s.written.join(t.written)
	grew = s.certain.join(t.certain) || grew
	grew = s.mixed.join(t.mixed) || grew
	grew = s.result.join(t.result) || grew
	grew = s.inside.join(t.inside) || grew
	grew = s.handed.join(t.handed) || grew
	grew = s.calls.join(t.calls) || grew
	grew = grew || len(t.makes) > len(s.makes) // it only grows
	s.makes = t.makes
	for i, in := range t.stored {
		have := s.stored[i]
		grew = have.join(in) || grew
		s.stored[i] = have
	}
	return grew
}

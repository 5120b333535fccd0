package main

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A study is the result of analyzing the standard library.
type study struct {
	*program
	memory *memory
	graph  *graph
	ways   map[any]way // paths to dependencies
	zone   map[any]way // paths to the zone of the machine
}

func examine(p *program) *study {
	m := summarize(p)
	g := outside(p, m.mutable)
	return &study{p, m, g, g.ways(), g.zone()}
}

// facts writes a line for every known name that programs can use.
func (s *study) facts() ([]byte, error) {
	lines := map[string]bool{}
	add := func(name, line string) {
		if line != "" {
			lines[name+" "+line] = true
		}
	}
	for _, o := range s.usable() {
		name := objectName(o)
		switch o := o.(type) {
		case *types.TypeName:
			add(name, s.fixes.word(name, "harmless"))
		case *types.Var:
			add(name, s.variable(o, name))
		case *types.Func:
			add(name, s.function(o, name))
		}
	}
	if stale := s.fixes.unused(); len(stale) > 0 {
		return nil, fmt.Errorf("corrections.txt: nothing has the names %s", strings.Join(stale, ", "))
	}
	return []byte(strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"), nil
}

// usable lists the types, functions, variables and methods that programs can use, including
// unexported types whose values they can get.
func (s *study) usable() (all []types.Object) {
	for _, pkg := range s.pkgs {
		if !importable(pkg.PkgPath) {
			continue
		}
		scope := pkg.Types.Scope()
		for _, name := range scope.Names() {
			switch o := scope.Lookup(name).(type) {
			case *types.TypeName:
				all = append(all, o)
				all = append(all, methods(o)...)
			case *types.Func, *types.Var:
				if o.Exported() {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// methods lists the exported methods of a type, including promoted ones.
func methods(t *types.TypeName) (all []types.Object) {
	if t.IsAlias() && named(t.Type()) == nil {
		return nil
	}
	typ := t.Type()
	if !types.IsInterface(typ) {
		typ = types.NewPointer(typ)
	}
	for m := range types.NewMethodSet(typ).Methods() {
		f, ok := m.Obj().(*types.Func)
		if ok && f.Exported() && objectName(f.Origin()) != "" {
			all = append(all, f.Origin())
		}
	}
	return all
}

// function returns the facts about a function or method.
func (s *study) function(o *types.Func, name string) string {
	recv := o.Signature().Recv()
	if recv != nil && types.IsInterface(recv.Type()) {
		label, _ := s.fixes.outside(name)
		effect, ok := s.fixes.effect(name)
		if !ok {
			effect = "writes"
		}
		return s.line(nil, name, effect, label)
	}
	f := s.prog.FuncValue(o)
	if f == nil {
		return ""
	}
	effect, ok := s.fixes.effect(name)
	if !ok {
		effect = s.memory.summaries[origin(f)].word(recv != nil)
		if s.memory.summaries[origin(f)].numbers() && !usesUnsafe(o.Pkg()) {
			effect += " numbers"
		}
	}
	return s.line(origin(f), name, effect, s.ways[origin(f)].label)
}

// variable returns the facts about a variable.
func (s *study) variable(o *types.Var, name string) string {
	effect, ok := s.fixes.effect(name)
	switch {
	case ok:
	case s.memory.carries(o.Type()) && !types.Identical(o.Type(), types.Universe.Lookup("error").Type()):
		effect = "writes"
	default:
		effect = "reads"
	}
	return s.line(o, name, effect, s.ways[o].label)
}

func (s *study) line(node any, name, effect, label string) string {
	if byHand, ok := s.fixes.outside(name); ok {
		label = byHand
	}
	if label == unknown {
		return ""
	}
	if s.fixes.word(name, "registry") != "" {
		effect += " registry"
	}
	if _, ok := s.zone[node]; ok {
		effect += " zone"
	}
	if label != "" {
		effect += "; " + label
	}
	return effect
}

// word expresses a summary as a word.
func (s *summary) word(method bool) string {
	results := objects{}
	results.join(s.result)
	results.join(s.inside)
	results.join(s.handed)
	var writes objects
	writes.join(s.written)
	for i, in := range s.stored {
		for j := range in.all {
			if j/2 != i/2 { // one operand retains memory of another
				writes.add(i)
				writes.add(j)
			}
		}
	}
	switch {
	case writes.empty() && results.empty():
		return "reads"
	case writes.empty():
		return "returns"
	case only(writes, 0) && only(results, 0):
		if method {
			return "receiver"
		}
		return "first"
	case method && only(writes, 1) && only(results, 1):
		return "first"
	}
	return "writes"
}

// only reports whether all objects belong to one operand.
func only(s objects, operand int) bool {
	for i := range s.all {
		if i/2 != operand {
			return false
		}
	}
	return true
}

// missing counts the omitted names by the unknown name that they depend on, for maintainers
// of the corrections.
func (s *study) missing() map[string][]string {
	why := map[string][]string{}
	for _, o := range s.usable() {
		var node any = o
		if f, ok := o.(*types.Func); ok {
			v := s.prog.FuncValue(f)
			if v == nil {
				continue
			}
			node = origin(v)
		}
		w, ok := s.ways[node]
		if !ok || w.label != unknown && !strings.HasPrefix(w.label, "the state of") {
			continue
		}
		end := node
		for s.ways[end].next != nil {
			end = s.ways[end].next
		}
		why[s.graph.show(end)+" "+w.label] = append(why[s.graph.show(end)+" "+w.label], s.graph.show(node))
	}
	return why
}

// way explains why a name has its dependency.
func (s *study) way(name string) string {
	for node, n := range s.graph.names {
		if n == name {
			text := s.graph.explain(s.ways, node)
			if _, ok := s.zone[node]; ok {
				text += "\n" + s.graph.explain(s.zone, node)
			}
			if f, ok := node.(*ssa.Function); ok {
				text += fmt.Sprintf("\n%+v", *s.memory.summaries[f])
			}
			return text
		}
	}
	return "no such name"
}

// daring lists functions with corrections that contradict the analysis: that they write to
// an operand, or mention something that depends on the outside.
func (s *study) daring() (names []string) {
	for f, found := range s.memory.overridden {
		for i := range found.certain.all {
			if !s.memory.summaries[f].written.has(i) {
				names = append(names, fmt.Sprintf("%s: writes to operand %d", nameOf(f), i/2))
			}
		}
	}
	for node, label := range s.graph.own {
		for to := range s.graph.edges[node] {
			l := s.ways[to].label
			if label == "" && l != "" && l != unknown && !strings.HasPrefix(l, "the state of") {
				names = append(names, fmt.Sprintf("%s: mentions %s", s.graph.show(node), s.graph.explain(s.ways, to)))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

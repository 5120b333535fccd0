package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// unknown represents a dependency without a fact.
const unknown = "?"

// A graph records what functions and variables mention, by name.
type graph struct {
	fixes corrections
	edges map[any]map[any]bool // of *ssa.Function and *types.Var
	names map[any]string
	own   map[any]string // labels of the ends of paths
}

// outside finds what functions and variables depend on through what they mention:
// package-level functions and variables, and the methods of values that they convert to
// interfaces. It does not follow calls of interfaces.
func outside(p *program, mutable map[*types.Var]bool) *graph {
	g := &graph{p.fixes, map[any]map[any]bool{}, map[any]string{}, map[any]string{}}
	for _, f := range p.functions {
		g.function(p, f)
	}
	for _, pkg := range p.pkgs {
		g.variables(p, pkg.Types, mutable)
		for _, init := range pkg.TypesInfo.InitOrder {
			for _, v := range init.Lhs {
				g.initial(p, pkg.TypesInfo, v, init.Rhs)
			}
		}
	}
	return g
}

func (g *graph) edge(from, to any) {
	if g.edges[from] == nil {
		g.edges[from] = map[any]bool{}
	}
	g.edges[from][to] = true
}

// label applies a correction to a node, which is then not analyzed.
func (g *graph) label(node any, name string) (known bool) {
	g.names[node] = name
	label, ok := g.fixes.outside(name)
	switch {
	case !ok || name == "":
		return false
	case g.fixes.word(name, "local") != "":
		label = ""
	}
	g.own[node] = label
	return true
}

func (g *graph) function(p *program, f *ssa.Function) {
	if !g.label(f, nameOf(f)) && f.Blocks == nil {
		g.own[f] = unknown
	}
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			for _, v := range i.Operands(nil) {
				switch v := (*v).(type) {
				case *ssa.Function:
					g.edge(f, origin(v))
					g.instance(p, f, v)
				case *ssa.Global:
					if v.Object() != nil {
						g.edge(f, v.Object())
					}
				}
			}
			switch i := i.(type) {
			case *ssa.MakeInterface:
				g.methods(p, f, i.X.Type(), i.Type())
			case *ssa.Store: // a variable is what init made it
				if v, ok := i.Addr.(*ssa.Global); ok && v.Object() != nil && strings.HasPrefix(f.Name(), "init#") {
					g.edge(v.Object(), f)
				}
			}
		}
	}
}

// instance adds the methods that a generic function can call on its type arguments.
func (g *graph) instance(p *program, from any, f *ssa.Function) {
	if f.Origin() == nil {
		return
	}
	params := f.Origin().TypeParams()
	for i, t := range f.TypeArgs() {
		g.methods(p, from, t, params.At(i).Constraint())
	}
}

// methods adds the methods that can be called on a value through an interface.
func (g *graph) methods(p *program, from any, t, as types.Type) {
	iface, ok := as.Underlying().(*types.Interface)
	if !ok || types.IsInterface(t) {
		return
	}
	for m := range iface.Methods() {
		o, _, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
		if f, ok := o.(*types.Func); ok {
			if s := p.prog.FuncValue(f.Origin()); s != nil {
				g.edge(from, s)
			}
		}
	}
}

// variables adds the variables of a package; those written at run time are state.
func (g *graph) variables(_ *program, pkg *types.Package, mutable map[*types.Var]bool) {
	for _, name := range pkg.Scope().Names() {
		v, ok := pkg.Scope().Lookup(name).(*types.Var)
		if ok && !g.label(v, objectName(v)) && mutable[v] {
			g.own[v] = "the state of package " + pkg.Path()
		}
	}
}

// initial follows the initial value of a variable.
func (g *graph) initial(p *program, info *types.Info, v *types.Var, value ast.Expr) {
	if _, ok := g.own[v]; ok {
		return
	}
	if t := info.TypeOf(value); t != nil {
		g.methods(p, v, t, v.Type())
	}
	ast.Inspect(value, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := info.Uses[id].(type) {
		case *types.Func:
			if f := p.prog.FuncValue(o.Origin()); f != nil {
				g.edge(v, f)
			}
		case *types.Var:
			if !o.IsField() && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
				g.edge(v, o)
			}
		}
		return true
	})
}

// zone finds the nodes that make times in the zone of the machine, or name it.
func (g *graph) zone() map[any]way {
	z := &graph{fixes: g.fixes, edges: g.edges, names: g.names, own: maps.Clone(g.own)}
	for node, name := range g.names {
		if name != "" && g.fixes.word(name, "zone") != "" {
			z.own[node] = "zone"
		} else if _, ok := z.own[node]; ok {
			z.own[node] = ""
		}
	}
	return z.ways()
}

// A way is a path from a node to its dependency.
type way struct {
	label string
	next  any // nil at the end
	steps int
}

// ways finds for each node the nearest dependency, known ones first.
func (g *graph) ways() map[any]way {
	back := map[any][]any{}
	for from, tos := range g.edges {
		for to := range tos {
			back[to] = append(back[to], from)
		}
	}
	labels := map[string][]any{}
	for node, label := range g.own {
		if label != "" {
			labels[label] = append(labels[label], node)
		}
	}
	best := map[any]way{}
	order := slices.Sorted(maps.Keys(labels))
	for _, label := range order {
		queue := labels[label]
		seen := map[any]way{}
		for _, n := range queue {
			seen[n] = way{label: label}
		}
		for len(queue) > 0 {
			n := queue[0]
			queue = queue[1:]
			for _, from := range back[n] {
				if _, ok := g.own[from]; ok {
					continue
				}
				if _, ok := seen[from]; !ok {
					seen[from] = way{label, n, seen[n].steps + 1}
					queue = append(queue, from)
				}
			}
		}
		for n, w := range seen {
			if b, ok := best[n]; !ok || b.label == unknown || label != unknown && w.steps < b.steps {
				best[n] = w
			}
		}
	}
	return best
}

// explain formats the path from a node to its dependency.
func (g *graph) explain(ways map[any]way, node any) string {
	var b strings.Builder
	for node != nil {
		fmt.Fprintf(&b, "%s ", g.show(node))
		w, ok := ways[node]
		if !ok {
			return b.String() + "depends on nothing"
		}
		if w.next == nil {
			fmt.Fprintf(&b, "(%s)", w.label)
		} else {
			b.WriteString("-> ")
		}
		node = w.next
	}
	return b.String()
}

func (g *graph) show(node any) string {
	if n := g.names[node]; n != "" {
		return n
	}
	return fmt.Sprint(node)
}

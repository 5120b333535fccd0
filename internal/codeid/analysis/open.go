package analysis

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/internal/values/executable"
)

// signature includes a type of a parameter or result. If a parameter has interfaces, values
// of other types may arrive.
func (w *walker) signature(t reflect.Type, given bool, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if handsIn(t.PkgPath()) {
		return
	}
	if t.PkgPath() != "" {
		w.named(t)
	}
	switch t.Kind() {
	case reflect.Interface:
		if given {
			var methods []string
			for m := range t.Methods() {
				methods = append(methods, m.Name)
			}
			w.opens(t.String(), methods)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		w.signature(t.Elem(), given, seen)
	case reflect.Map:
		w.signature(t.Key(), given, seen)
		w.signature(t.Elem(), given, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			w.signature(f.Type, given, seen)
		}
	}
}

// named includes a named type and its type arguments.
func (w *walker) named(t reflect.Type) {
	path, name := w.program.pathOf(t.PkgPath()), t.Name()
	for _, part := range typeNames(path, name) {
		at := w.program.pathOf(part[0])
		if k := w.program.packages[at]; k != nil && k.scope[part[1]] != nil {
			w.reach(k.scope[part[1]], w.root.decl)
			w.holdDecl(k.scope[part[1]]) // Larder encodes it
		} else if k == nil && at != "" && !std.Has(at) && !isEngine(at) {
			w.refuse(w.root.decl, problem{
				what: fmt.Sprintf("the type %s.%s, whose package does not register its sources", at, part[1]), at: w.root.decl.at(w.root.decl.node.Pos()),
				name: at + "." + part[1], fix: "that package registered",
			})
		}
	}
}

// holdDecl records that values of the type that d declares may be in interfaces.
func (w *walker) holdDecl(d *decl) {
	if o := d.info().Defs[d.typeName()]; o != nil {
		w.behind(d, o.Type())
	}
}

// behind records that a declaration may put values of a type, and of types in it, into
// interfaces.
func (w *walker) behind(d *decl, t types.Type) {
	c := converter{p: w.program, held: map[types.Type]bool{}}
	c.hold(t)
	for t := range c.held {
		w.holds(t)
		w.lends(d, t)
	}
}

// captures includes the type of a captured variable.
func (w *walker) captures(t types.Type, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && handsIn(n.Obj().Pkg().Path()) {
		return
	}
	w.typed(t, w.root.decl)
	w.keyed(t)
	switch u := t.Underlying().(type) {
	case *types.Interface:
		var methods []string
		for m := range u.Methods() {
			methods = append(methods, m.Name())
		}
		w.opens(t.String(), methods)
	case *types.Pointer:
		w.captures(u.Elem(), seen)
	case *types.Slice:
		w.captures(u.Elem(), seen)
	case *types.Array:
		w.captures(u.Elem(), seen)
	case *types.Map:
		w.captures(u.Key(), seen)
		w.captures(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			w.captures(f.Type(), seen)
		}
	}
}

// namesValues are the methods by which package key encodes values.
var namesValues = setOf("AppendKey", "MarshalBinary", "GobEncode", "MarshalText", "At", "Bounds")

// keyed includes the methods that encode values of a type for keys.
func (w *walker) keyed(t types.Type) {
	eachNamed(t, func(n *types.Named) {
		d := w.program.declOf(n.Origin().Obj())
		if d == nil {
			return
		}
		for _, m := range d.methods {
			if namesValues[m.names[0]] {
				w.reach(m, d)
			}
		}
	})
}

// opens admits values of any type with the methods, as those of an interface.
func (w *walker) opens(of string, methods []string) {
	if w.root.values {
		return
	}
	slices.Sort(methods)
	w.open = append(w.open, methods)
	from := w.program.comesInFrom(methods)
	p := problem{
		what: fmt.Sprintf("values of %s, behind which may be a type whose package does not register its sources", of), at: w.root.decl.at(w.root.decl.node.Pos()),
		name: w.root.decl.name(), fix: "all packages registered whose types have these methods",
	}
	if from == ownUnseen && (len(methods) > 0 || w.root.made != nil) {
		w.refuse(w.root.decl, p) // the whole program identifies them
	}
	switch {
	case from == nothingUnseen || w.declared(w.root.decl, p.name):
	case w.root.made == nil: // each call tells
		w.forbidden[ofModules] = "code whose sources are not registered"
	case from == modulesUnseen:
		p.refuse, p.opaque, p.fix = true, true, ""
		w.refuse(w.root.decl, p)
	}
}

// admit includes the types of the program whose values may arrive through interfaces, if
// their methods may be called.
func (w *walker) admit() {
	for again := true; again; {
		again = false
		for _, t := range w.program.indexed().named {
			if _, ok := w.from[t]; ok || w.forbidden[t.name()] != "" || !w.admits(t) {
				continue
			}
			w.admitted[t] = true
			w.reach(t, w.root.decl)
			w.holdDecl(t)
			w.drain()
			again = true
		}
	}
}

func (w *walker) admits(t *decl) bool {
	methods := t.methodSet()
	return slices.ContainsFunc(w.open, func(want []string) bool {
		for _, name := range want {
			if !slices.Contains(methods, name) {
				return false
			}
		}
		return len(want) > 0 || slices.ContainsFunc(methods, func(name string) bool {
			return w.dispatched[name] || calledByLibrary[name] || w.any(name)
		})
	})
}

// methodSet lists the names of the methods of a type and of pointers to it.
func (d *decl) methodSet() []string {
	o := d.info().Defs[d.typeName()]
	if o == nil {
		return nil
	}
	var names []string
	set := types.NewMethodSet(types.NewPointer(o.Type()))
	for m := range set.Methods() {
		names = append(names, m.Obj().Name())
	}
	return names
}

// through returns the type whose admission reached a declaration, or nil.
func (w *walker) through(d *decl) *decl {
	for ; d != nil; d = w.from[d] {
		if w.admitted[d] {
			return d
		}
	}
	return nil
}

// typeNames splits the name of a type and its type arguments: path and name of each.
func typeNames(path, name string) [][2]string {
	base, args, _ := strings.Cut(name, "[")
	list := [][2]string{{path, base}}
	for _, arg := range strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune("[]*,; (){}", r) }) {
		if p, n := executable.Split(arg); n != "" {
			list = append(list, [2]string{p, n})
		}
	}
	return list
}

// pathOf returns the path of a package in types at run time, where all main packages are
// called main.
func (p *parsedProgram) pathOf(path string) string {
	if path == "main" {
		for _, k := range p.order {
			if k.main {
				return k.path
			}
		}
	}
	return path
}

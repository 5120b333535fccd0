package source

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/larder-data/larder/key"
)

// writers takes in what gives a package variable its value.
func (w *walker) writers(v *decl) {
	w.unknownWriters(v)
	var order []key.Digest
	for _, d := range w.program.mayName(v) {
		for _, u := range d.resolved().uses {
			if u.variable != v || u.kind == reads {
				continue
			}
			if u.once {
				w.reach(d, v)
				continue
			}
			callers, running := w.beforeMain(d, u.later)
			if running != nil && u.kind == writes {
				w.refuse(v, problem{
					what: fmt.Sprintf("package variable %s, which %s writes while the program runs", v.name(), d.name()),
					at:   u.at, name: v.name(),
				})
				continue
			}
			if d != v {
				w.reach(d, v)
				order = append(order, d.resolved().digest)
			}
			for _, c := range callers {
				w.reach(c, v)
				order = append(order, c.resolved().digest)
			}
		}
	}
	if len(order) > 1 {
		// The last to write it wins: what comes first matters.
		digest, err := key.Of(order)
		if err == nil {
			w.orders[v.name()] = digest
		}
	}
}

// mayName lists the declarations that may name a package variable.
func (p *program) mayName(v *decl) []*decl {
	exported := slices.ContainsFunc(v.names, isExported)
	var list []*decl
	for _, k := range p.order {
		if k == v.file.pkg {
			list = append(list, k.decls...)
			continue
		}
		if !exported {
			continue
		}
		for _, d := range k.decls {
			if d.file.importsPath(v.file.pkg.path) {
				list = append(list, d)
			}
		}
	}
	return list
}

func (f *file) importsPath(path string) bool {
	if slices.Contains(f.dots, path) {
		return true
	}
	for _, paths := range f.imports {
		if slices.Contains(paths, path) {
			return true
		}
	}
	return false
}

// beforeMain tells by whom d is called while the program starts: by init
// functions and the values of package variables. running is one that may call
// it later, or nil. There may be both.
func (w *walker) beforeMain(d *decl, later bool) (callers []*decl, running *decl) {
	if later {
		return nil, d
	}
	p := w.program
	seen := map[*decl]bool{}
	var visit func(d *decl)
	visit = func(d *decl) {
		if seen[d] {
			return
		}
		seen[d] = true
		switch {
		case d.kind == "init" || d.kind == "var":
			callers = append(callers, d)
			return
		case d == w.root.decl || d.kind == "func" && d.name() == "main.main":
			running = d
			return
		}
		for _, m := range p.mentions()[d] {
			if m.resolved().onces[d] {
				continue // a sync.Once calls it
			}
			if m.resolved().values[d] {
				running = m
			}
			visit(m)
		}
		if d.kind == "method" && calledByLibrary[d.names[0]] {
			running = d // nobody can tell when
		}
		if d.kind == "method" {
			for _, m := range p.selections()[d.names[0]] {
				visit(m)
			}
		}
	}
	visit(d)
	return callers, running
}

// mentions lists, for each declaration, those that name it.
func (p *program) mentions() map[*decl][]*decl {
	p.mentionsOnce.Do(func() {
		p.mentionedBy = map[*decl][]*decl{}
		p.selectedBy = map[string][]*decl{}
		p.registrars = map[string][]*decl{}
		p.leafWriters = map[string][]leafWriter{}
		for _, d := range p.all {
			r := d.resolved()
			for _, t := range r.targets {
				p.mentionedBy[t] = append(p.mentionedBy[t], d)
			}
			for _, s := range r.selected {
				p.selectedBy[s] = append(p.selectedBy[s], d)
			}
			for _, l := range r.leaves {
				if strings.HasPrefix(l.name, "Register") {
					p.registrars[l.path] = append(p.registrars[l.path], d)
				}
			}
			for _, u := range r.leafWrites {
				name := u.variable.names[0]
				p.leafWriters[name] = append(p.leafWriters[name], leafWriter{d, u})
			}
		}
	})
	return p.mentionedBy
}

// selections lists, for each name, the declarations that select it.
func (p *program) selections() map[string][]*decl {
	p.mentions()
	return p.selectedBy
}

// unknownWriters refuses a variable that code which cannot be seen may write:
// one that is exported, or that an exported function writes, where a package of
// the program's own is not registered.
func (w *walker) unknownWriters(v *decl) {
	if v.file.pkg.assembly {
		w.refuse(v, problem{
			what: fmt.Sprintf("package variable %s, which assembly of its package may write", v.name()),
			at:   v.at(v.node.Pos()), name: v.name(), opaque: true,
		})
	}
	if w.program.unknown == "" || v.file.pkg.path == "main" {
		return
	}
	open := slices.ContainsFunc(v.names, isExported) && !v.sentinel()
	for _, d := range v.file.pkg.decls {
		for _, u := range d.resolved().uses {
			open = open || u.variable == v && u.kind == writes && !u.once && w.program.callable(d, map[*decl]bool{})
		}
	}
	if open {
		w.refuse(v, problem{
			what: fmt.Sprintf("package variable %s, which package %s may write, whose sources are not registered", v.name(), w.program.unknown),
			at:   v.at(v.node.Pos()), name: v.name(), opaque: true,
		})
	}
}

// callable reports whether other packages can have a function called: it is
// exported, or one that is calls it.
func (p *program) callable(d *decl, seen map[*decl]bool) bool {
	if seen[d] || d.kind != "func" && d.kind != "method" {
		return false
	}
	seen[d] = true
	if isExported(d.names[0]) {
		return true
	}
	list := p.mentions()[d]
	if d.kind == "method" {
		list = append(slices.Clip(list), p.selections()[d.names[0]]...)
	}
	return slices.ContainsFunc(list, func(m *decl) bool { return !m.resolved().onces[d] && p.callable(m, seen) })
}

// sentinel reports whether a variable is an error, which nobody writes.
func (d *decl) sentinel() bool {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok || len(s.Values) != 1 {
		return false
	}
	call, ok := s.Values[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (qualifiedName(f) == "errors.New" || qualifiedName(f) == "fmt.Errorf")
}

// leafVariable takes in what writes to a variable of another package.
func (w *walker) leafVariable(d *decl, l leaf) {
	name := l.path + "." + l.name
	if w.program.unknown != "" && variables[name] {
		w.refuse(d, problem{
			what: fmt.Sprintf("variable %s, which package %s may write, whose sources are not registered", name, w.program.unknown),
			at:   l.at, name: name, opaque: true,
		})
	}
	w.program.mentions()
	for _, r := range w.program.registrars[l.path] {
		if r.kind == "init" || r.kind == "var" {
			w.reach(r, d)
		}
	}
	for _, writer := range w.program.leafWriters[name] {
		callers, running := w.beforeMain(writer.by, writer.use.later)
		if running != nil && !writer.use.once {
			w.refuse(d, problem{what: fmt.Sprintf("variable %s, which %s writes while the program runs", name, writer.by.name()), at: writer.use.at, name: name})
			continue
		}
		w.reach(writer.by, d)
		for _, c := range callers {
			w.reach(c, d)
		}
	}
}

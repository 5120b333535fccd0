package source

import (
	"fmt"
	"slices"
)

// writers takes in what gives a package variable its value.
func (w *walker) writers(v *decl) {
	for _, d := range w.program.mayName(v) {
		for _, u := range d.resolved().uses {
			if u.variable != v || u.kind == reads {
				continue
			}
			callers, running := w.program.beforeMain(d, u.later)
			if running != nil && u.kind == writes {
				w.refuse(v, problem{
					what: fmt.Sprintf("package variable %s, which %s writes while the program runs", v.name(), d.name()),
					at:   u.at, name: v.name(),
				})
				continue
			}
			if d != v {
				w.reach(d, v)
			}
			for _, c := range callers {
				w.reach(c, v)
			}
		}
	}
}

// mayName lists the declarations that may name a package variable.
func (p *program) mayName(v *decl) []*decl {
	list := v.file.pkg.decls
	if !slices.ContainsFunc(v.names, isExported) {
		return list
	}
	for _, k := range p.packages {
		if k == v.file.pkg {
			continue
		}
		for _, d := range k.decls {
			if d.file.importsPath(v.file.pkg.path) {
				list = append(slices.Clip(list), d)
			}
		}
	}
	return list
}

func (f *file) importsPath(path string) bool {
	for _, paths := range f.imports {
		if slices.Contains(paths, path) {
			return true
		}
	}
	return false
}

// beforeMain tells by whom d is called while the program starts: by init
// functions and the values of package variables. running is one that may call
// it later, or nil.
func (p *program) beforeMain(d *decl, later bool) (callers []*decl, running *decl) {
	if later {
		return nil, d
	}
	seen := map[*decl]bool{}
	var visit func(d *decl)
	visit = func(d *decl) {
		if seen[d] || running != nil {
			return
		}
		seen[d] = true
		switch {
		case d.kind == "init" || d.kind == "var":
			callers = append(callers, d)
			return
		case d.kind == "func" && d.name() == "main.main":
			running = d
			return
		}
		for _, m := range p.mentions()[d] {
			if m.resolved().values[d] {
				running = m
				return
			}
			visit(m)
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
		for _, d := range p.all {
			r := d.resolved()
			for _, t := range r.targets {
				p.mentionedBy[t] = append(p.mentionedBy[t], d)
			}
			for _, s := range r.selected {
				p.selectedBy[s] = append(p.selectedBy[s], d)
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

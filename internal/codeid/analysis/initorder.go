package analysis

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/larder-data/larder/key"
)

// A literal captures values when it is made. If that may happen at program start, package
// variables that init functions write may have other values than later, and no key tells
// the time.

// early returns a problem if a package variable may not have its value yet when the literal
// is made, or nil.
func (m *creation) early(w *walker) *problem {
	callers, _ := w.program.beforeMain(m.in)
	if len(callers) == 0 {
		return nil
	}
	reached := slices.SortedFunc(maps.Keys(m.reads(w)), func(a, b *decl) int { return strings.Compare(a.label(), b.label()) })
	for _, d := range reached {
		for _, v := range d.variables() {
			if v.Name() == "_" || w.declared(d, d.file.pkg.path+"."+v.Name()) {
				continue
			}
			for _, by := range w.program.verdict(v).writers {
				if at := w.program.startsBefore(callers, by); by != d && at != nil {
					return &problem{
						what:   fmt.Sprintf("package variable %s.%s, which %s writes while the program starts, before or after %s has the literal made", d.file.pkg.path, v.Name(), by.name(), at.name()),
						at:     by.at(by.node.Pos()),
						of:     d.file.pkg.path + "." + v.Name(),
						refuse: true, fix: "make it when main has begun, give the variable its value where it is declared",
					}
				}
			}
		}
	}
	return nil
}

// reads returns what the enclosing function reaches, without what only the literal does.
func (m *creation) reads(w *walker) map[*decl]*decl {
	before := &walker{
		program: w.program, root: root{decl: m.in, pure: w.root.pure, values: true}, from: map[*decl]*decl{}, dispatched: map[string]bool{}, held: map[types.Type]bool{}, borrowed: map[types.Type]*decl{},
		modules: map[string]string{}, orders: map[string]key.Digest{}, inputs: map[Input]bool{}, forbidden: map[string]string{}, admitted: map[*decl]bool{},
	}
	all := m.in.resolved()
	for t := range all.converts {
		before.holds(t)
	}
	ast.Inspect(m.around, func(n ast.Node) bool {
		if n == m.lit {
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			if d := w.program.declOf(origin(m.in.info().Uses[id])); d != nil && d != m.in {
				before.reach(d, nil)
			}
		}
		return true
	})
	for _, name := range all.dispatched {
		before.dispatch(name, nil)
	}
	before.drain()
	return before.from
}

// startsBefore returns one of callers that may run before the writer by, or nil: imported
// packages start first.
func (p *parsedProgram) startsBefore(callers []*decl, by *decl) *decl {
	writers := []*decl{by}
	if by.kind == "func" || by.kind == "method" {
		writers, _ = p.beforeMain(by)
	}
	for _, w := range writers {
		for _, c := range callers {
			if !c.file.pkg.needs(w.file.pkg, map[*pkg]bool{}) {
				return c
			}
		}
	}
	return nil
}

// needs reports whether a package imports another one, directly or indirectly.
func (k *pkg) needs(other *pkg, seen map[*pkg]bool) bool {
	if seen[k] {
		return false
	}
	seen[k] = true
	for path := range k.imports {
		if i := k.program.packages[path]; i != nil && (i == other || i.needs(other, seen)) {
			return true
		}
	}
	return false
}

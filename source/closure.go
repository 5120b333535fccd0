package source

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/larder-data/larder/key"
)

// A Closure is a function with all that it can reach.
type Closure struct {
	ID    key.Digest
	Parts []Part // sorted by name
}

// A Part is one thing that counts: a declaration ("func calc.area"), a module
// ("module golang.org/x/image"), or how the program was built ("build go").
type Part struct {
	Name   string
	Where  string // file and line at the time
	Digest key.Digest
}

// A RefusalError says why a function cannot be identified by its source.
type RefusalError struct {
	Function string
	Reasons  []string // at most a few, the nearest first
	Opaque   bool     // code cannot be seen; the others are impure
}

func (e *RefusalError) Error() string {
	cure := "pass what it takes from there as an argument, declare it as Pure if results do not depend on it, or give the function a Version"
	if e.Opaque {
		cure = "register the sources of its package (see package source), declare it as Pure, or give the function a Version"
	}
	return fmt.Sprintf("source: %s reaches %s: %s", e.Function, strings.Join(e.Reasons, "; and "), cure)
}

// root is a function as the start of a closure.
type root struct {
	decl  *decl
	types []reflect.Type // of its signature
	pure  []string
}

// walker finds a closure.
type walker struct {
	program  *program
	root     root
	from     map[*decl]*decl // how each was reached
	queue    []*decl
	types    []*decl
	selected map[string]bool
	open     bool // values of any type may come in
	anything bool // any exported method may be called
	modules  map[string]string
	orders   map[string]key.Digest // of what writes a variable
	reasons  []string
	opaque   bool
}

// maxReasons is how many reasons a refusal lists.
const maxReasons = 3

func (p *program) closure(r root) (*Closure, error) {
	w := &walker{
		program: p, root: r, from: map[*decl]*decl{}, selected: map[string]bool{}, modules: map[string]string{}, orders: map[string]key.Digest{},
	}
	w.reach(r.decl, nil)
	for _, t := range r.types {
		w.signature(t, map[reflect.Type]bool{})
	}
	for len(w.queue) > 0 {
		d := w.queue[0]
		w.queue = w.queue[1:]
		w.visit(d)
	}
	if len(w.reasons) > 0 {
		return nil, &RefusalError{Function: r.decl.name(), Reasons: w.reasons, Opaque: w.opaque}
	}
	return w.closure()
}

func (w *walker) reach(d, from *decl) {
	if _, ok := w.from[d]; !ok {
		w.from[d] = from
		w.queue = append(w.queue, d)
	}
}

func (w *walker) visit(d *decl) {
	r := d.resolved()
	for _, p := range r.problems {
		w.refuse(d, p)
	}
	for _, l := range r.leaves {
		w.leaf(d, l)
	}
	for _, t := range r.targets {
		w.reach(t, d)
	}
	for _, name := range r.selected {
		w.selects(name, d)
	}
	switch d.kind {
	case "type":
		w.types = append(w.types, d)
		for _, m := range d.methods {
			if w.callable(m) {
				w.reach(m, d)
			}
		}
	case "var":
		w.writers(d)
	}
}

// selects notes that a method of that name may be called.
func (w *walker) selects(name string, from *decl) {
	if w.selected[name] {
		return
	}
	w.selected[name] = true
	types := w.types
	if w.open {
		types = w.program.types
	}
	for _, t := range types {
		for _, m := range t.methods {
			if m.names[0] == name {
				w.reach(m, from)
			}
		}
	}
}

// callable reports whether a method of a type that is reached may be called.
func (w *walker) callable(m *decl) bool {
	name := m.names[0]
	return w.selected[name] || calledByLibrary[name] || w.anything && isExported(name)
}

func isExported(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// opens lets values of any registered type in.
func (w *walker) opens() {
	if w.open {
		return
	}
	w.open = true
	for _, t := range w.program.types {
		for _, m := range t.methods {
			if w.callable(m) {
				w.reach(m, w.root.decl)
			}
		}
	}
}

// callsAnything lets every exported method be called.
func (w *walker) callsAnything() {
	if w.anything {
		return
	}
	w.anything = true
	types := w.types
	if w.open {
		types = w.program.types
	}
	for _, t := range types {
		for _, m := range t.methods {
			if isExported(m.names[0]) {
				w.reach(m, t)
			}
		}
	}
}

// leaf takes in a name of a package whose sources are not here.
func (w *walker) leaf(d *decl, l leaf) {
	if trusted[l.path] || w.declared(d, l.path, l.path+"."+l.name) {
		w.vouchedFor(l.path)
		return
	}
	if p, ok := standard[l.path]; ok {
		what, known := p.but[l.name]
		if !known {
			what = p.impure
		}
		if what != "" {
			w.refuse(d, problem{what: fmt.Sprintf("%s.%s (%s)", l.path, l.name, what), at: l.at})
		}
		w.leafVariable(d, l)
		if l.path == "time" {
			w.modules["time zone"] = os.Getenv("TZ")
		}
		if callsAnything[l.path] {
			w.callsAnything()
		}
		if l.path == "image" && strings.HasPrefix(l.name, "Decode") {
			w.imageFormats()
		}
		return
	}
	if w.module(l.path) {
		w.refuse(d, problem{what: l.path + "." + l.name + " (of a module of which it is not known what it does)", at: l.at})
		w.callsAnything()
		return
	}
	w.refuse(d, problem{what: fmt.Sprintf("%s.%s (of a package that does not register its sources)", l.path, l.name), at: l.at, opaque: true})
}

// vouchedFor notes the code of a package that is declared to be pure: by its
// version, or if it has none by the executable it is in.
func (w *walker) vouchedFor(path string) {
	if _, std := standard[path]; std || trusted[path] || w.module(path) {
		w.module(path)
		return
	}
	if code, err := key.Build(); err == nil {
		w.modules[path] = code.String()
	}
	w.callsAnything()
}

// module notes the version of the module that a package is of, and reports
// whether it has one.
func (w *walker) module(path string) bool {
	m, ok := w.program.build.module(path)
	if !ok || m.version == "" {
		return false
	}
	w.modules[m.path] = m.version
	return true
}

// imageFormats takes in which decoders image.Decode finds: those that any file
// of the program registers by importing them.
func (w *walker) imageFormats() {
	var formats []string
	for _, k := range w.program.packages {
		for _, d := range k.decls {
			for _, s := range d.file.syntax.Imports {
				if path := strings.Trim(s.Path.Value, "`\""); strings.Contains(path, "image/") {
					formats = append(formats, path)
					w.module(path)
				}
			}
		}
	}
	slices.Sort(formats)
	w.modules["image formats"] = strings.Join(slices.Compact(formats), " ")
}

// declared reports whether one of the names is declared to be pure, by the
// function or by the package that names it.
func (w *walker) declared(d *decl, names ...string) bool {
	for _, list := range [][]string{w.root.pure, d.file.pkg.pure} {
		for _, pattern := range list {
			for _, name := range names {
				if below, ok := strings.CutSuffix(pattern, "/..."); name == pattern ||
					ok && (name == below || strings.HasPrefix(name, below+"/") || strings.HasPrefix(name, below+".")) {
					return true
				}
			}
		}
	}
	return false
}

func (w *walker) refuse(d *decl, p problem) {
	if p.name != "" && w.declared(d, p.name) || len(w.reasons) >= maxReasons {
		return
	}
	w.opaque = w.opaque || p.opaque
	reason := p.what + " at " + p.at
	if way := w.way(d); len(way) > 1 {
		reason += " (by way of " + strings.Join(way[1:], " -> ") + ")"
	}
	if !slices.Contains(w.reasons, reason) {
		w.reasons = append(w.reasons, reason)
	}
}

// way is how a declaration is reached from the root.
func (w *walker) way(d *decl) []string {
	var names []string
	for ; d != nil; d = w.from[d] {
		names = append(names, d.name())
	}
	slices.Reverse(names)
	return names
}

// signature takes in a type of the function's parameters or results.
func (w *walker) signature(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t.Name() != "" && t.PkgPath() != "" && !w.named(t) {
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		w.opens()
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		w.signature(t.Elem(), seen)
	case reflect.Map:
		w.signature(t.Key(), seen)
		w.signature(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			w.signature(t.Field(i).Type, seen)
		}
	}
}

// named takes in a named type and reports whether to look at what it is made
// of.
func (w *walker) named(t reflect.Type) bool {
	path := t.PkgPath()
	name, args, _ := strings.Cut(t.Name(), "[")
	for _, arg := range strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune("[]*,; (){}", r) }) {
		if pkg, name := splitSymbol(arg); w.program.packages[pkg] != nil {
			if d := w.program.packages[pkg].scope[name]; d != nil {
				w.reach(d, w.root.decl)
			}
		}
	}
	if k := w.program.packages[path]; k != nil {
		if d := k.scope[name]; d != nil {
			w.reach(d, w.root.decl)
		}
		return true
	}
	if _, std := standard[path]; std || trusted[path] || w.module(path) || path == "time" || path == "os" {
		return false
	}
	if m, ok := w.program.build.module(path); ok && t.NumMethod() > 0 && !w.declared(w.root.decl, path, path+"."+name) {
		w.refuse(w.root.decl, problem{what: fmt.Sprintf("type %s.%s (of a package of %s that does not register its sources)", path, name, m.path),
			at: w.root.decl.at(w.root.decl.node.Pos()), opaque: true})
	}
	return true
}

// closure digests what was reached.
func (w *walker) closure() (*Closure, error) {
	c := &Closure{}
	add := func(name, where string, d key.Digest) { c.Parts = append(c.Parts, Part{name, where, d}) }
	for d := range w.from {
		add(d.label(), d.at(d.node.Pos()), d.resolved().digest)
		c.Parts = append(c.Parts, d.resolved().files...)
	}
	for name, order := range w.orders {
		add("order in which init writes "+name, "", order)
	}
	for path, version := range w.modules {
		add("module "+path, version, key.DigestOf([]byte(version)))
	}
	for _, s := range w.program.build.settings {
		add("build "+s.name, s.value, key.DigestOf([]byte(s.value)))
	}
	sort.Slice(c.Parts, func(i, j int) bool {
		a, b := c.Parts[i], c.Parts[j]
		return a.Name < b.Name || a.Name == b.Name && a.Digest.String() < b.Digest.String()
	})
	named := make([]Part, len(c.Parts))
	for i, p := range c.Parts {
		named[i] = Part{Name: p.Name, Digest: p.Digest}
	}
	var err error
	c.ID, err = key.Of([]any{"source closure 1", w.root.decl.label(), named})
	return c, err
}

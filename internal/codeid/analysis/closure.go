package analysis

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/key"
)

// A Closure is a function with all declarations that it can reach.
type Closure struct {
	ID    key.Digest
	Kind  Kind
	Parts []Part // sorted by name
	// Doubts explain why the whole program identifies the function, if it does: what is not
	// understood, where, and how to fix it.
	Doubts []string
	// Inputs are variables whose values are part of the key of each call.
	Inputs []Input
	// ForbiddenTypes are types whose values the function must not receive, by name, with the
	// reason: it would call methods that no code identity covers. The empty name represents
	// all types of unregistered modules, except those that Trusted covers, as
	// [Options.Pure] does.
	ForbiddenTypes map[string]string
	Trusted        []string
	// Opens reports that values may arrive through interfaces. Then types of the standard
	// library with a method that reads the outside are forbidden, too.
	Opens bool

	cleanTypes sync.Map // see [Closure.clean]: bool by reflect.Type
}

// A Kind is the scope of a closure.
type Kind string

// The kinds of closures.
const (
	Precise Kind = "source"  // what the function reaches, all understood
	Program Kind = "program" // the whole program
)

// A Part is a unit that counts: a declaration ("func calc.area"), a module ("module
// golang.org/x/image"), or a property of the build ("build go").
type Part struct {
	Name   string
	Where  string // file and line at that time
	Digest key.Digest
}

// A RefusalError explains why no code identity covers a function.
type RefusalError struct {
	Function string
	Reasons  []string // a few at most, the nearest first
	Opaque   bool     // code is invisible; otherwise it is impure
	State    bool     // variables that may change
	Hidden   bool     // invisible code is the only obstacle
	Fix      string   // the fix for the first reason, if it has its own
}

func (e *RefusalError) Error() string {
	fix := "pass what it takes from there as an argument, declare it as Pure if results do not depend on it, or give the function a Version"
	switch {
	case e.Fix != "":
		fix = e.Fix + ", or give the function a Version"
	case e.Opaque:
		fix = "register the sources of its package (see package codeid), declare it as Pure, or give the function a Version"
	case e.State:
		fix = "pass it as an argument, declare the variable as one of the Inputs of its package (see codeid.Options) so that its value is part of the key, declare it as Pure if results do not depend on it, or give the function a Version"
	}
	return fmt.Sprintf("codeid: %s reaches %s: %s", e.Function, strings.Join(e.Reasons, "; and "), fix)
}

// A root is the function from which a closure starts.
type root struct {
	decl     *decl
	types    []reflect.Type // of its parameters
	results  []reflect.Type // of its results, which Larder encodes
	captured []types.Type   // of captured variables
	behind   []types.Type   // of values that arrive only through interfaces
	pure     []string
	made     ast.Node // the literal that the function makes, if this is the closure of its maker
	creation *creation
	takes    []*types.Var // captured by that literal
	unseen   []problem    // of its parameters
	gets     int          // how many of its values may be functions
	given    int          // functions it receives that the maker names
	also     []*decl      // functions it receives that the program names
	values   bool         // see Declared
	through  []string
}

// label returns the name of the function; for a literal made by another function, that
// function's name and the literal's words, because there may be several.
func (r root) label() string {
	if r.made == nil {
		return r.decl.label()
	}
	label := r.decl.label() + " " + key.DigestOf(r.decl.tokens(r.made)).String()
	if n := r.creation.place(); n > 0 {
		label += fmt.Sprint(" ", n)
	}
	return label
}

// A walker computes a closure.
type walker struct {
	program  *parsedProgram
	root     root
	from     map[*decl]*decl // predecessor of each declaration
	queue    []*decl
	types    []*decl              // reached types
	held     map[types.Type]bool  // with values that may be in interfaces
	borrowed map[types.Type]*decl // the same for library types, with the declaration that puts them there
	// Methods that may be called by name on any value, and whether all exported ones may
	// be.
	dispatched map[string]bool
	anything   bool           // every exported method may be called
	everything bool           // every method
	open       [][]string     // methods of interfaces through which values of other types may arrive
	admitted   map[*decl]bool // types included because of that
	modules    map[string]string
	orders     map[string]key.Digest // of the writers of a variable
	inputs     map[Input]bool
	forbidden  map[string]string
	reasons    []string
	fix        string // of the first reason
	doubts     []string
	opaque     bool
	seen       bool
	state      bool
}

// maxReasons is the number of reasons that a refusal lists.
const maxReasons = 3

func (p *parsedProgram) closure(r root) (*Closure, error) {
	forbidden := map[string]string{}
	for {
		w := &walker{
			program: p, root: r, from: map[*decl]*decl{}, dispatched: map[string]bool{}, held: map[types.Type]bool{}, borrowed: map[types.Type]*decl{}, modules: map[string]string{},
			orders: map[string]key.Digest{}, inputs: map[Input]bool{}, forbidden: forbidden, admitted: map[*decl]bool{},
		}
		known := len(forbidden)
		w.walk()
		switch {
		case len(forbidden) > known:
			continue // without the types that no function may receive
		case len(w.reasons) > 0:
			return nil, &RefusalError{Function: r.decl.name(), Reasons: w.reasons, Opaque: w.opaque, State: w.state, Hidden: w.opaque && !w.seen, Fix: w.fix}
		}
		return w.closure()
	}
}

// walk visits everything that the function can reach.
func (w *walker) walk() {
	if !knownRelease(runtime.Version()) {
		w.doubts = append(w.doubts, fmt.Sprintf("an unknown standard library (%s; this Larder knows %s); use a newer Larder, which can identify code by its source", runtime.Version(), std.Go))
	}
	w.reach(w.root.decl, nil)
	w.dispatch("AppendKey", w.root.decl) // identifies its arguments and reads
	for _, t := range w.root.types {
		w.signature(t, true, map[reflect.Type]bool{})
	}
	for _, t := range w.root.results {
		w.signature(t, false, map[reflect.Type]bool{})
	}
	for _, t := range w.root.captured {
		w.captures(t, map[types.Type]bool{})
	}
	for _, t := range w.root.behind {
		w.captures(t, map[types.Type]bool{})
		w.behind(w.root.decl, t)
	}
	for _, d := range w.root.also {
		w.reach(d, w.root.decl)
	}
	for _, p := range w.root.unseen {
		w.refuse(w.root.decl, p)
	}
	for _, v := range w.root.takes {
		if p := w.root.creation.captured(v); p != nil {
			w.refuse(w.root.decl, *p)
		}
	}
	if w.root.creation != nil {
		if p := w.root.creation.early(w); p != nil {
			w.refuse(w.root.decl, *p)
		}
	}
	if w.root.values || len(w.root.through) > 0 {
		w.everything = true // values reach other components, which know their methods
		w.callsAnything()
	}
	for _, path := range w.root.through {
		if k := w.program.packages[path]; k != nil {
			w.modules[path] = k.code().String()
		}
	}
	w.drain()
	w.admit()
	w.libraryMethods()
}

// knownRelease reports whether package std describes a release of Go: another release may
// behave differently.
func knownRelease(version string) bool {
	return version == std.Go || strings.HasPrefix(version, std.Go+".") || strings.HasPrefix(version, std.Go+"-")
}

func (w *walker) reach(d, from *decl) {
	if d.file.pkg.engine && handsIn(d.file.pkg.path) {
		return // only Larder makes values of its types
	}
	if _, ok := w.from[d]; !ok {
		w.from[d] = from
		w.queue = append(w.queue, d)
	}
}

func (w *walker) drain() {
	for len(w.queue) > 0 {
		wave := w.queue
		w.queue = nil
		each(len(wave), func(i int) { wave[i].examined() })
		for _, d := range wave {
			w.visit(d)
		}
	}
}

func (w *walker) visit(d *decl) {
	if d.kind == "var" && w.input(d) {
		return
	}
	r := d.examined()
	for t := range r.converts {
		w.holds(t)
		w.lends(d, t)
	}
	for _, p := range r.problems {
		w.refuse(d, p)
	}
	for _, l := range r.leaves {
		w.leaf(d, l)
	}
	for _, t := range r.targets {
		w.reach(t, d)
	}
	for _, name := range r.dispatched {
		w.dispatch(name, d)
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
		w.variable(d)
	}
}

// input reports whether all variables of a declaration are inputs: then their values count,
// not their initialization.
func (w *walker) input(d *decl) bool {
	list := d.variables()
	for _, o := range list {
		if _, ok := w.program.inputs[o]; !ok {
			return false
		}
	}
	for _, o := range list {
		w.inputs[w.program.inputs[o]] = true
		w.captures(o.Type(), map[types.Type]bool{})
	}
	return len(list) > 0
}

// variables lists the variables that a declaration declares.
func (d *decl) variables() []*types.Var {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok || d.kind != "var" {
		return nil
	}
	var list []*types.Var
	for _, id := range s.Names {
		if v, ok := d.info().Defs[id].(*types.Var); ok {
			list = append(list, v)
		}
	}
	return list
}

// typed includes the named types in a type.
func (w *walker) typed(t types.Type, from *decl) {
	eachNamed(t, func(n *types.Named) {
		if d := w.program.declOf(n.Origin().Obj()); d != nil {
			w.reach(d, from)
		}
	})
}

// eachNamed calls visit for the named types in a type, without looking into these.
func eachNamed(t types.Type, visit func(*types.Named)) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		visit(t)
		for a := range t.TypeArgs().Types() {
			eachNamed(a, visit)
		}
	case *types.Pointer:
		eachNamed(t.Elem(), visit)
	case *types.Slice:
		eachNamed(t.Elem(), visit)
	case *types.Array:
		eachNamed(t.Elem(), visit)
	case *types.Chan:
		eachNamed(t.Elem(), visit)
	case *types.Map:
		eachNamed(t.Key(), visit)
		eachNamed(t.Elem(), visit)
	case *types.Struct:
		for f := range t.Fields() {
			eachNamed(f.Type(), visit)
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			eachNamed(v.Type(), visit)
		}
		for v := range t.Results().Variables() {
			eachNamed(v.Type(), visit)
		}
	}
}

// dispatch records that a method of that name may be called on any value that has it.
func (w *walker) dispatch(name string, from *decl) {
	if w.dispatched[name] {
		return
	}
	w.dispatched[name] = true
	for _, t := range w.types {
		for _, m := range t.methods {
			if m.names[0] == name && w.mayHold(m) {
				w.reach(m, from)
			}
		}
	}
}

// holds records that values of a type may be in interfaces, which may call its methods.
func (w *walker) holds(t types.Type) {
	if w.held[t] {
		return
	}
	w.held[t] = true
	if w.anything {
		w.holdSignatures(t)
	}
	n, ok := t.(*types.Named)
	if !ok {
		return
	}
	d := w.program.declOf(n.Obj())
	if _, reached := w.from[d]; d == nil || !reached {
		return
	}
	for _, m := range d.methods {
		if w.callable(m) {
			w.reach(m, d)
		}
	}
}

// holdSignatures records that reflection calls methods of a type, which converts their
// parameters and results to interfaces.
func (w *walker) holdSignatures(t types.Type) {
	c := converter{p: w.program, held: map[types.Type]bool{}}
	set := types.NewMethodSet(types.NewPointer(t))
	if types.IsInterface(t) {
		set = types.NewMethodSet(t)
	}
	for m := range set.Methods() {
		if m.Obj().Exported() {
			c.hold(m.Type())
		}
	}
	for t := range c.held {
		if n, ok := t.(*types.Named); ok && w.program.declOf(n.Obj()) != nil {
			w.reach(w.program.declOf(n.Obj()), w.root.decl)
		}
		w.holds(t)
	}
}

// mayHold reports whether reached code may put values of a method's type into interfaces.
func (w *walker) mayHold(m *decl) bool {
	t := m.receiverType()
	return t == nil || w.held[t]
}

// callable reports whether a method of a reached type may be called without being named.
func (w *walker) callable(m *decl) bool {
	name := m.names[0]
	return (w.dispatched[name] || calledByLibrary[name] || w.any(name)) && w.mayHold(m)
}

// any reports whether methods of a name may be called without being named.
func (w *walker) any(name string) bool { return w.everything || w.anything && isExported(name) }

func isExported(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// callsAnything allows calls of every exported method.
func (w *walker) callsAnything() {
	if w.anything {
		return
	}
	w.anything = true
	for t := range w.held {
		w.holdSignatures(t)
	}
	for _, t := range w.types {
		for _, m := range t.methods {
			if w.any(m.names[0]) && w.mayHold(m) {
				w.reach(m, t)
			}
		}
	}
}

// declared reports whether the function, or the package that names it, declares one of the
// names as pure.
func (w *walker) declared(d *decl, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return covers(w.root.pure, name) || d.file.pkg.assumes(name)
	})
}

// assumes reports whether the registration of the package declares a name as pure.
func (k *pkg) assumes(name string) bool { return covers(k.options.Pure, name) }

// covers reports whether patterns list a name or its package.
func covers(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		below, ok := strings.CutSuffix(pattern, "/...")
		return name == pattern || ok && (name == below || strings.HasPrefix(name, below+"/") || strings.HasPrefix(name, below+"."))
	})
}

// refuse records a reason to refuse the function, or to identify it by the whole program.
func (w *walker) refuse(d *decl, p problem) {
	if p.name != "" && w.declared(d, p.name) || p.of != "" && w.declared(d, p.of) {
		return
	}
	list := &w.doubts
	if p.refuse {
		list = &w.reasons
		if t := w.through(d); t != nil && w.root.made == nil { // a call of the maker cannot check its values
			w.forbidden[t.name()] = p.what + " at " + p.at
			return
		}
	}
	if p.refuse {
		w.opaque = w.opaque || p.opaque
		w.seen = w.seen || !p.opaque
		w.state = w.state || p.state
	}
	if len(*list) >= maxReasons {
		return
	}
	reason := p.what + " at " + p.at
	if way := w.way(d); len(way) > 1 {
		reason += " (by way of " + strings.Join(way[1:], " -> ") + ")"
	}
	if p.fix != "" && !p.refuse {
		reason += "; to be identified by its source, it needs " + p.fix
	}
	if p.refuse && len(*list) == 0 {
		w.fix = p.fix
	}
	if !slices.Contains(*list, reason) {
		*list = append(*list, reason)
	}
}

// way returns the path from the root to a declaration.
func (w *walker) way(d *decl) []string {
	var names []string
	for ; d != nil; d = w.from[d] {
		names = append(names, d.name())
	}
	slices.Reverse(names)
	return names
}

// closure digests what was reached.
func (w *walker) closure() (*Closure, error) {
	c := &Closure{Kind: Precise, Doubts: w.doubts, ForbiddenTypes: w.forbidden}
	c.Opens = len(w.open) > 0
	if w.forbidden[ofModules] != "" || c.Opens {
		c.Trusted = slices.Concat(w.root.pure, w.root.decl.file.pkg.options.Pure)
	}
	for in := range w.inputs {
		c.Inputs = append(c.Inputs, in)
	}
	slices.SortFunc(c.Inputs, func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
	var err error
	if len(w.doubts) > 0 {
		c.Kind = Program
		if c.Parts, err = w.program.whole(); err != nil {
			return nil, err
		}
	} else {
		c.Parts = w.parts()
	}
	sort.Slice(c.Parts, func(i, j int) bool {
		a, b := c.Parts[i], c.Parts[j]
		return a.Name < b.Name || a.Name == b.Name && a.Digest.String() < b.Digest.String()
	})
	named := make([]Part, len(c.Parts))
	for i, p := range c.Parts {
		named[i] = Part{Name: p.Name, Digest: p.Digest}
	}
	c.ID, err = key.Of([]any{"source closure 2", string(c.Kind), w.root.label(), named, c.Inputs})
	return c, err
}

func (w *walker) parts() []Part {
	var parts []Part
	add := func(name, where string, d key.Digest) { parts = append(parts, Part{name, where, d}) }
	for d := range w.from {
		if d.kind == "var" && w.input(d) {
			continue // its value counts
		}
		add(d.label(), d.at(d.node.Pos()), d.digest)
		parts = append(parts, d.files...)
		for _, m := range d.methods {
			if _, ok := w.from[m]; !ok {
				add("type of "+m.label(), m.at(m.node.Pos()), m.face())
			}
		}
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
	return parts
}

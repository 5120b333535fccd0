package analysis

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/codeid/std"
	"github.com/larder-data/larder/key"
)

// A verdict tells whether a package variable is constant: whether its value, and all that
// it refers to, stays the same after program start.
type verdict struct {
	writers []*decl  // declarations that write it at program start, in order
	problem *problem // why it is not constant, or nil
}

// verdicts caches verdicts about variables.
type verdicts struct {
	mu  sync.Mutex
	all map[*types.Var]*verdict

	writesOnce sync.Once
	writes     []libraryWrite

	callersMu sync.Mutex
	callers   map[*decl]startup
}

// startup tells which declarations call a declaration at program start.
type startup struct {
	callers []*decl
	running *decl          // a declaration that may call it later, or nil
	through map[*decl]bool // itself, and all that may call it
}

// forget drops the verdicts, which may have become wrong.
func (v *verdicts) forget() {
	v.mu.Lock()
	v.callersMu.Lock()
	defer v.mu.Unlock()
	defer v.callersMu.Unlock()
	v.all, v.callers = nil, nil
}

// variable includes the declarations that write package variables.
func (w *walker) variable(d *decl) {
	for _, v := range d.variables() {
		if v.Name() == "_" || w.declared(d, d.file.pkg.path+"."+v.Name()) {
			continue
		}
		ver := w.program.verdict(v)
		if ver.problem != nil {
			w.refuse(d, *ver.problem)
			continue
		}
		var order []key.Digest
		w.madeOfInput(d, v, d)
		for _, by := range ver.writers {
			w.madeOfInput(d, v, by)
			if by != d {
				w.reach(by, d)
				order = append(order, by.examined().digest)
			}
		}
		if len(order) > 1 { // the last write counts
			if digest, err := key.Of(order); err == nil {
				w.orders[d.file.pkg.path+"."+v.Name()] = digest
			}
		}
	}
}

// verdict determines whether a package variable is constant.
func (p *parsedProgram) verdict(v *types.Var) *verdict {
	p.indexed()
	p.verdicts.mu.Lock()
	defer p.verdicts.mu.Unlock()
	if p.verdicts.all == nil {
		p.verdicts.all = map[*types.Var]*verdict{}
	}
	if ver := p.verdicts.all[v]; ver != nil {
		return ver
	}
	ver := newTracer(p, v, p.declOf(v)).judge()
	p.verdicts.all[v] = ver
	return ver
}

// judge traces the variable's memory.
func (t *tracer) judge() *verdict {
	if t.decl.file.pkg.assembly && len(t.p.mentioned[t.root]) > 0 {
		t.fail(problem{what: fmt.Sprintf("package variable %s, which assembly of its package may write", t.name()), at: t.decl.at(t.decl.node.Pos()), opaque: true})
	}
	if t.sentinel() {
		t.assigned()
	} else {
		t.follow()
	}
	t.spaceWritten()
	t.namedWriters()
	t.overwritten()
	t.unseen()
	if t.problem != nil {
		return &verdict{problem: t.problem}
	}
	return &verdict{writers: t.inOrder()}
}

// overwritten refuses a variable of a type that is harmless until a value is overwritten
// through a pointer, if the program does that.
func (t *tracer) overwritten() {
	eachNamed(t.root.Type(), func(n *types.Named) {
		if d := t.p.overwrites[n.Obj()]; d != nil {
			t.fail(problem{what: fmt.Sprintf("%s, which may change %s: %s puts another %s in the place of one", t.what(), t.when(), d.name(), n.Obj().Name()), at: d.at(d.node.Pos())})
		}
	})
}

// assigned looks only for assignments to the variable: what it refers to cannot be written.
func (t *tracer) assigned() {
	for _, d := range t.p.mentioned[t.root] {
		walk(d.node, func(stack []ast.Node) bool {
			id, ok := stack[len(stack)-1].(*ast.Ident)
			if !ok || d.info().Uses[id] != t.root {
				return true
			}
			if n := len(stack); n > 1 {
				if s, qualified := stack[n-2].(*ast.SelectorExpr); qualified && s.Sel == id {
					stack = stack[:n-1]
				}
			}
			if assigned(stack) {
				t.writes(d, id.Pos(), nil)
			}
			return true
		})
	}
}

// inOrder sorts the writers of the variable in the order of program start.
func (t *tracer) inOrder() []*decl {
	var list []*decl
	for _, k := range t.p.order {
		for _, d := range k.decls {
			if t.writers[d] {
				list = append(list, d)
			}
		}
	}
	return list
}

// unseen refuses a variable that unregistered code may write: it is exported, or exported
// code returns or writes it.
func (t *tracer) unseen() {
	by := t.p.callersUnseen(t.decl.file.pkg)
	if by == "" || t.decl.file.pkg.main || t.problem != nil {
		return
	}
	open := t.leaked || t.creation == nil && t.p.unknown != "" && t.root.Exported() && !t.sentinel()
	for d := range t.writers {
		open = open || t.p.callable(d, map[*decl]bool{})
	}
	if open {
		t.fail(problem{what: fmt.Sprintf("%s, which package %s may write, whose sources are not registered", t.what(), by),
			at: t.decl.at(t.decl.node.Pos()), opaque: true})
	}
}

// callable reports whether other packages can call a function, directly or through exported
// functions.
func (p *parsedProgram) callable(d *decl, seen map[*decl]bool) bool {
	if seen[d] || d.kind != "func" && d.kind != "method" {
		return false
	}
	seen[d] = true
	if isExported(d.names[0]) {
		return true
	}
	list := p.mentioned[d.object()]
	if d.kind == "method" {
		list = append(slices.Clip(list), p.called[d.names[0]]...)
	}
	return slices.ContainsFunc(list, func(m *decl) bool { return p.callable(m, seen) })
}

// object returns the function or method that d declares.
func (d *decl) object() types.Object {
	if f := d.function(); f != nil {
		return d.info().Defs[f.Name]
	}
	return nil
}

// sentinel reports whether the variable is an error, or an empty context, that is made in
// its declaration: what it refers to cannot be written.
func (t *tracer) sentinel() bool {
	s := t.decl.node.(*ast.ValueSpec)
	if len(s.Values) != len(s.Names) {
		return false
	}
	call, ok := ast.Unparen(s.Values[slices.IndexFunc(s.Names, func(id *ast.Ident) bool { return id.Name == t.root.Name() })]).(*ast.CallExpr)
	if !ok {
		return false
	}
	f := staticCallee(t.decl.info(), call)
	if f == nil {
		return false
	}
	switch f.FullName() {
	case "errors.New", "fmt.Errorf", "context.Background", "context.TODO":
		return true
	}
	return false
}

// beforeMain returns which init functions and values of package variables call d at program
// start, and code that may call it later. Both may exist.
func (p *parsedProgram) beforeMain(d *decl) (callers []*decl, running *decl) {
	s := p.startupOf(d)
	return s.callers, s.running
}

// startupOf caches the result of findCallers.
func (p *parsedProgram) startupOf(d *decl) startup {
	p.verdicts.callersMu.Lock()
	s, known := p.verdicts.callers[d]
	p.verdicts.callersMu.Unlock()
	if !known {
		s = p.findCallers(d)
		p.verdicts.callersMu.Lock()
		if p.verdicts.callers == nil {
			p.verdicts.callers = map[*decl]startup{}
		}
		p.verdicts.callers[d] = s
		p.verdicts.callersMu.Unlock()
	}
	return s
}

func (p *parsedProgram) findCallers(d *decl) (s startup) {
	p.indexed()
	seen := map[*decl]bool{}
	var visit func(d *decl)
	visit = func(d *decl) {
		if seen[d] {
			return
		}
		seen[d] = true
		switch {
		case d.kind == "init" || d.kind == "var":
			s.callers = append(s.callers, d)
			return
		case d.kind == "func" && d.names[0] == "main" && d.file.pkg.main:
			s.running = d
			return
		}
		if p.roots[d.object()] {
			s.running = d
		}
		for _, m := range p.mentioned[d.object()] {
			if !m.onlyCalls(d.object()) {
				s.running = m
			}
			visit(m)
		}
		if d.kind == "method" && p.mayBeHeld(d) {
			if calledByLibrary[d.names[0]] {
				s.running = d // the time is unknown
			}
			for _, m := range p.called[d.names[0]] {
				if m.laterCalls(d.names[0]) {
					s.running = m
				}
				visit(m)
			}
		}
	}
	visit(d)
	s.through = seen
	return s
}

// onlyCalls reports whether a declaration calls a function directly wherever it names it.
func (d *decl) onlyCalls(o types.Object) bool {
	calls := true
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || origin(d.info().Uses[id]) != o {
			return true
		}
		calls = calls && isCalled(stack) && !d.isLater(stack)
		return true
	})
	return calls
}

// laterCalls reports whether methods of a name are selected in code that may run at any
// time.
func (d *decl) laterCalls(name string) bool {
	found := false
	walk(d.node, func(stack []ast.Node) bool {
		if s, ok := stack[len(stack)-1].(*ast.SelectorExpr); ok && s.Sel.Name == name {
			found = found || isLater(stack)
		}
		return true
	})
	return found
}

// origin returns the generic object of an instance.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// isCalled reports whether the last of the nodes names the called function.
func isCalled(stack []ast.Node) bool {
	child := stack[len(stack)-1]
	for i := len(stack) - 2; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.CallExpr:
			return p.Fun == child
		case *ast.SelectorExpr:
			if p.Sel != child {
				return false
			}
		case *ast.IndexExpr:
			if p.X != child {
				return false
			}
		case *ast.ParenExpr, *ast.IndexListExpr:
		default:
			return false
		}
		child = stack[i]
	}
	return false
}

// isLater reports whether the last of the nodes is in a goroutine, or in a function literal
// that is not called directly.
func isLater(stack []ast.Node) bool {
	for i, n := range stack {
		switch n := n.(type) {
		case *ast.GoStmt:
			return true
		case *ast.FuncLit:
			if i == 0 {
				continue // the declaration itself
			}
			if call, ok := stack[i-1].(*ast.CallExpr); !ok || call.Fun != n {
				return true
			}
		}
	}
	return false
}

// later reports whether code at a position runs later than the declaration.
func (d *decl) later(pos token.Pos) (later bool) {
	walk(d.node, func(stack []ast.Node) bool {
		n := stack[len(stack)-1]
		later = later || n.Pos() == pos && d.isLater(stack)
		return n.Pos() <= pos && pos < n.End()
	})
	return later
}

// staticCallee returns the function or method that a call names, or nil.
func staticCallee(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(x.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(x.X)
	}
	var o types.Object
	switch x := fun.(type) {
	case *ast.Ident:
		o = info.Uses[x]
	case *ast.SelectorExpr:
		o = info.Uses[x.Sel]
	}
	f, _ := o.(*types.Func)
	if f == nil {
		return nil
	}
	return f.Origin()
}

// stdName returns the name of a function in package std.
func stdName(f *types.Func) string {
	if f.Signature().Recv() != nil {
		return f.Pkg().Path() + "." + receiverName(f) + "." + f.Name()
	}
	return f.Pkg().Path() + "." + f.Name()
}

const maxTypeDepth = 16

// flat reports whether copies of values of a type share no writable memory, apart from
// functions (see origins.go).
func flat(of types.Type, depth int) bool {
	if of == nil || depth > maxTypeDepth {
		return false
	}
	of = types.Unalias(of)
	if p, ok := of.(*types.Pointer); ok && harmless(p.Elem()) || harmless(of) {
		return true
	}
	switch u := of.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer && u.Kind() != types.Invalid
	case *types.Signature:
		return true
	case *types.Array:
		return flat(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if !flat(f.Type(), depth+1) {
				return false
			}
		}
		return true
	case *types.Tuple:
		for v := range u.Variables() {
			if !flat(v.Type(), depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// harmless reports whether values of a type are designed to be shared.
func harmless(of types.Type) bool {
	n, ok := types.Unalias(of).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	for of := range n.TypeArgs().Types() {
		if !flat(of, 0) { // what it returns may be written
			return false
		}
	}
	path := n.Obj().Pkg().Path()
	name := path + "." + n.Obj().Name()
	return std.Harmless(name) && !changeable[name] || isEngine(path)
}

// changeable are types designed to be shared that have a method that changes their
// behaviour.
var changeable = map[string]bool{"regexp.Regexp": true}

// isLock reports whether a type is or contains a type of package sync, so that reading a
// value observes other goroutines.
func isLock(of types.Type, depth int) bool {
	if of == nil || depth > maxTypeDepth {
		return false
	}
	switch t := types.Unalias(of).(type) {
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && p.Path() == "sync" {
			return true
		}
		return isLock(t.Underlying(), depth+1)
	case *types.Pointer:
		return isLock(t.Elem(), depth+1)
	case *types.Array:
		return isLock(t.Elem(), depth+1)
	case *types.Slice:
		return isLock(t.Elem(), depth+1)
	case *types.Map:
		return isLock(t.Elem(), depth+1)
	case *types.Struct:
		for f := range t.Fields() {
			if isLock(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// hasFunctions reports whether values of a type contain functions.
func hasFunctions(of types.Type, depth int) bool {
	if of == nil || depth > maxTypeDepth {
		return true
	}
	switch u := types.Unalias(of).Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Array:
		return hasFunctions(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if hasFunctions(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Tuple:
		for v := range u.Variables() {
			if hasFunctions(v.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// variables are variables of the standard library that control behaviour and that other
// packages can set.
var variables = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`
encoding/base64.StdEncoding encoding/base64.URLEncoding encoding/base64.RawStdEncoding encoding/base64.RawURLEncoding
encoding/base32.StdEncoding encoding/base32.HexEncoding
image.Black image.White image.Transparent image.Opaque image/color.Black image/color.White image/color/palette.Plan9 image/color/palette.WebSafe`) {
		m[name] = true
	}
	return m
}()

package analysis

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
)

// method follows a receiver into a method, and reports whether the results of the call may
// refer to it. at is the index of its selector.
func (t *tracer) method(d *decl, stack []ast.Node, at int, sel *types.Selection, carries bool) bool {
	f, ok := sel.Obj().(*types.Func)
	if !ok || !carries {
		return false
	}
	f = f.Origin()
	call, called := stack[max(at-1, 0)].(*ast.CallExpr)
	called = called && call.Fun == stack[at]
	if sel.Kind() == types.MethodExpr {
		return false
	}
	if !called && types.IsInterface(f.Signature().Recv().Type()) {
		t.lost(d, stack[at], "a method of whatever is behind an interface, which is a value,")
		return false
	}
	if f.Pkg() != nil && std.Has(f.Pkg().Path()) {
		if harmless(deref(sel.Recv())) {
			return false
		}
		if called {
			t.callbacks(d, call, -1)
		}
	}
	return t.receiver(d, stack[at], f, called)
}

// receiver follows a receiver into a method.
func (t *tracer) receiver(d *decl, n ast.Node, f *types.Func, called bool) bool {
	recv := f.Signature().Recv()
	switch {
	case types.IsInterface(recv.Type()):
		return t.dispatched(d, n, f, called)
	case f.Pkg() != nil && std.Has(f.Pkg().Path()):
		if harmless(deref(recv.Type())) {
			return false
		}
		return t.libraryMethod(d, n, f, called)
	case f.Pkg() != nil && isEngine(f.Pkg().Path()):
		return false
	}
	m := t.p.declOf(f)
	if m == nil || m.function().Body == nil {
		t.lost(d, n, "the method "+f.Name())
		return false
	}
	if _, byPointer := types.Unalias(recv.Type()).(*types.Pointer); byPointer || !flat(recv.Type(), 0) {
		t.holds(recv)
	}
	return false // what it returns is followed from there
}

func deref(of types.Type) types.Type {
	if p, ok := types.Unalias(of).(*types.Pointer); ok {
		return p.Elem()
	}
	return of
}

// dispatched follows a receiver into all methods that may implement one of an interface.
func (t *tracer) dispatched(d *decl, n ast.Node, f *types.Func, called bool) bool {
	for _, m := range t.p.implementations(f) {
		g, ok := m.object().(*types.Func)
		if !ok || m.function().Body == nil {
			continue
		}
		if recv := g.Signature().Recv(); !flat(deref(recv.Type()), 0) || recv.Type() != deref(recv.Type()) {
			t.holds(recv)
		}
	}
	if f.Pkg() == nil { // Error
		return false
	}
	if std.Has(f.Pkg().Path()) {
		return t.libraryMethod(d, n, f, called)
	}
	if readers[f.Name()] {
		if t.p.ownTypes(f) {
			return false
		}
		t.anyReceives()
		return called // it may be one of a hidden library type
	}
	if t.p.ofLibrary(f) {
		t.calls(d, n, f)
	}
	return false
}

// calls records a call of a standard library method that may write to its receiver's
// memory.
func (t *tracer) calls(d *decl, n ast.Node, f *types.Func) {
	t.writing = "the method " + f.Name() + " that "
	t.writes(d, n.Pos(), nil)
	t.writing = ""
}

// ofLibrary reports whether a standard library type may implement a method of the program's
// interfaces: a type converted to interfaces has it.
func (p *parsedProgram) ofLibrary(f *types.Func) bool {
	own := p.ownTypes(f)
	for t := range p.converted() {
		n, ok := t.(*types.Named)
		if !ok || n.Obj().Pkg() == nil || !std.Has(n.Obj().Pkg().Path()) {
			continue
		}
		generic := n.TypeParams().Len() > 0 // of the program's own types
		if own && !generic {
			continue
		}
		m, _, _ := types.LookupFieldOrMethod(n, true, n.Obj().Pkg(), f.Name())
		if g, ok := m.(*types.Func); ok && (generic || types.Identical(withoutReceiver(g), withoutReceiver(f))) {
			return true
		}
	}
	return false
}

// implementations lists the program's methods that may implement a method of an interface.
func (p *parsedProgram) implementations(f *types.Func) []*decl {
	i, ok := f.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok || !i.IsMethodSet() { // the constraint of a type parameter
		return p.methods[f.Name()]
	}
	var list []*decl
	for _, m := range p.methods[f.Name()] {
		if m.implements(i) {
			list = append(list, m)
		}
	}
	return list
}

// implements reports whether the receiver type of a method, or a type that embeds it, has
// all methods of an interface.
func (d *decl) implements(i *types.Interface) bool {
	t, ok := d.receiverType().(*types.Named)
	if !ok || t.TypeParams().Len() > 0 || i.NumMethods() == 1 {
		g, isFunc := d.object().(*types.Func)
		return !isFunc || !ok || t.TypeParams().Len() > 0 || types.Identical(withoutReceiver(g), withoutReceiver(i.Method(0)))
	}
	if types.Implements(t, i) || types.Implements(types.NewPointer(t), i) {
		return true
	}
	// A type that embeds it may have the other methods.
	return d.file.pkg.program.embedded(t)
}

func withoutReceiver(f *types.Func) *types.Signature {
	s := f.Signature()
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

// embedded reports whether a struct of the program embeds values of a type.
func (p *parsedProgram) embedded(t *types.Named) bool {
	return p.found.embeds.get(func() map[types.Type]bool {
		embeds := map[types.Type]bool{}
		for _, k := range p.order {
			for _, o := range k.info.Defs {
				if v, ok := o.(*types.Var); ok && v.Embedded() {
					if n, ok := types.Unalias(deref(v.Type())).(*types.Named); ok {
						embeds[n.Origin()] = true
					}
				}
			}
		}
		return embeds
	})[t]
}

// ownTypes reports whether a method, or its interface, uses types of the program: then no
// standard library type has it, unless that is generic.
func (p *parsedProgram) ownTypes(f *types.Func) bool {
	own := ofOwnTypes(f.Signature())
	if i, ok := f.Signature().Recv().Type().Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			own = own || ofOwnTypes(m.Signature()) || !m.Exported()
		}
	}
	return own
}

// ofOwnTypes reports whether a type contains types that are not of the standard library.
func ofOwnTypes(of types.Type) (own bool) {
	eachNamed(of, func(n *types.Named) {
		pkg := n.Obj().Pkg()
		own = own || pkg != nil && !std.Has(pkg.Path())
	})
	return own
}

// libraryMayCall reports whether the standard library may call a method through its own
// interfaces.
func (p *parsedProgram) libraryMayCall(m *decl, f *types.Func) bool {
	return calledByLibrary[f.Name()] && !ofOwnTypes(withoutReceiver(f)) && p.mayBeHeld(m)
}

// namesMethods reports whether the program uses functions that call methods by names that
// are not in its source.
func (p *parsedProgram) namesMethods() bool { return p.indexed().byName }

// writesByReflection reports whether the program uses functions that write to values of any
// type.
func (p *parsedProgram) writesByReflection() bool { return p.indexed().reflects }

// reflects reports whether a standard library function writes to values of any type, or
// returns what they refer to.
func reflects(name string) bool {
	if method, ok := strings.CutPrefix(name, "reflect.Value."); ok {
		switch method {
		case "Grow", "Clear", "Addr", "UnsafeAddr", "UnsafePointer", "Pointer", "Interface", "Bytes", "Slice", "Slice3":
			return true
		}
		return strings.HasPrefix(method, "Set")
	}
	switch name {
	case "reflect.Copy", "reflect.Swapper", "reflect.Append", "reflect.AppendSlice":
		return true
	}
	return false
}

// namedOn follows a value into exported methods, also of its parts, that may be called by
// name.
func (t *tracer) namedOn(of types.Type, seen map[types.Type]bool) {
	eachNamed(of, func(n *types.Named) {
		n = n.Origin() // finitely many
		d := t.p.declOf(n.Obj())
		if d == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, m := range d.methods {
			if f, ok := m.object().(*types.Func); ok && f.Exported() {
				t.named[m] = true
				t.holds(f.Signature().Recv())
			}
		}
		if s, ok := n.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				t.namedOn(f.Type(), seen)
			}
			return
		}
		if types.IsInterface(n) {
			t.anyReceives()
			return
		}
		t.namedOn(n.Underlying(), seen)
	})
}

// readers are methods of standard library interfaces that write nothing.
var readers = map[string]bool{
	"String": true, "Error": true, "Len": true, "Less": true, "Is": true, "Unwrap": true, "Name": true, "Size": true, "Bounds": true, "At": true,
	"ColorModel": true, "RGBA": true, "Convert": true, "BlockSize": true, "Equal": true, "Value": true, "Kind": true, "Type": true, "Bits": true,
	"MarshalJSON": true, "MarshalText": true, "MarshalBinary": true, "GoString": true, "LogValue": true, "IsZero": true, "Key": true, "Mode": true,
}

// libraryMethod follows a receiver into a standard library method.
func (t *tracer) libraryMethod(d *decl, n ast.Node, f *types.Func, called bool) bool {
	fact, _ := std.Lookup(stdName(f))
	switch stdName(f) {
	case "context.Context.Err", "context.Context.Done", "context.Context.Value": // code that can cancel it writes
		t.calls(d, n, f)
		return false
	}
	if !isTemplate(stdName(f)) { // a template has functions, but no methods of the program
		t.libraryCalls(f.Signature().Recv().Type(), map[types.Type]bool{})
	}
	switch fact.Effect {
	case std.Reads, std.First:
		return false
	case std.Returns:
		if !called {
			t.lost(d, n, "whatever calls the method "+f.Name())
		}
		return called
	}
	if types.IsInterface(f.Signature().Recv().Type()) && readers[f.Name()] {
		return false
	}
	t.unless(fact.Numbers, func() { t.calls(d, n, f) })
	if fact.Numbers && !called {
		t.lost(d, n, "whatever calls the method "+f.Name())
	}
	return called && fact.Numbers
}

// writers are packages whose functions write to their arguments, but retain them only in
// their results. Functions of other packages may write later.
var writers = map[string]bool{
	"sort": true, "slices": true, "maps": true, "fmt": true, "math/big": true, "container/heap": true, "reflect": true, "bytes": true, "strings": true,
	"encoding/json": true, "encoding/xml": true, "encoding/binary": true, "encoding/gob": true, "encoding/csv": true, "encoding/hex": true, "encoding/base64": true,
	"encoding/asn1": true, "encoding": true, "strconv": true, "unicode/utf8": true, "image/draw": true, "math/rand": true, "math/rand/v2": true, "errors": true, "io": true,
	"text/template": true, "html/template": true, "regexp": true, "sync/atomic": true, "go/parser": true, "crypto/subtle": true, "hash/crc32": true, "container/ring": true,
}

// readsFirst are functions that only read their first argument, but write to another.
var readsFirst = map[string]bool{"encoding/json.Unmarshal": true, "encoding/xml.Unmarshal": true, "encoding/asn1.Unmarshal": true}

// libraryCall follows an argument into a standard library function.
func (t *tracer) libraryCall(d *decl, call *ast.CallExpr, n int, f *types.Func, of types.Type) bool {
	if onlyRead(f, n) {
		return false
	}
	if fillers[f.FullName()] && n > 0 {
		if !copies(f, of) || isElement(f, call, n) {
			t.store(d, &ast.IndexExpr{X: call.Args[0]}, []ast.Node{call})
			return true
		}
		return false
	}
	fact, _ := std.Lookup(stdName(f))
	if callsByName(stdName(f)) {
		if t.p.funcs || types.IsInterface(of) { // functions of a template receive its data, whose methods are unknown
			t.lost(d, call, stdName(f))
			return false
		}
		t.namedOn(of, map[types.Type]bool{})
	}
	if fact.Effect == std.Reads || fact.Effect == std.Returns || fact.Effect == std.Receiver || fact.Effect == std.First && n > 0 {
		t.callbacks(d, call, n)
		t.libraryCalls(of, map[types.Type]bool{})
		return fact.Effect == std.Returns && !copies(f, of)
	}
	if readsFirst[f.FullName()] && n == 0 {
		return false
	}
	if !writers[f.Pkg().Path()] && !callsOnce(f) {
		t.lost(d, call, stdName(f))
		return false
	}
	t.callbacks(d, call, n)
	t.libraryCalls(of, map[types.Type]bool{})
	t.writesTo(d, call, stdName(f))
	return true
}

// copiers are standard library functions whose results share only the elements' references
// with their arguments.
var copiers = map[string]bool{
	"slices.Clone": true, "slices.Concat": true, "slices.Repeat": true, "slices.Collect": true, "slices.Sorted": true, "slices.SortedFunc": true,
	"slices.SortedStableFunc": true, "maps.Clone": true, "maps.Collect": true, "bytes.Clone": true, "slices.Max": true, "slices.Min": true,
	"slices.MaxFunc": true, "slices.MinFunc": true, "maps.Keys": true, "maps.Values": true, "maps.All": true, "slices.All": true, "slices.Values": true, "slices.Backward": true,
}

// onlyRead reports whether a standard library function only reads the n-th argument, bytes,
// and does not pass them on for writing: as io.Writer requires of Write, and crypto/cipher
// of its sources.
func onlyRead(f *types.Func, n int) bool {
	switch f.Name() {
	case "Write":
		s := f.Signature()
		return s.Recv() != nil && s.Params().Len() == 1 && s.Results().Len() == 2
	case "Encrypt", "Decrypt", "XORKeyStream":
		return f.Pkg().Path() == "crypto/cipher" && n == 1
	}
	return f.FullName() == "bytes.NewReader"
}

// fillers are standard library functions that put the elements' references of other
// arguments into the first.
var fillers = map[string]bool{"maps.Copy": true, "maps.Insert": true, "slices.AppendSeq": true, "slices.Insert": true, "slices.Replace": true}

// isElement reports whether the n-th argument itself becomes an element of the slice.
func isElement(f *types.Func, call *ast.CallExpr, n int) bool {
	s := f.Signature()
	return s.Variadic() && n >= s.Params().Len()-1 && !call.Ellipsis.IsValid()
}

// copies reports whether the result of a function shares nothing with an argument of that
// type.
func copies(f *types.Func, of types.Type) bool {
	if !copiers[f.FullName()] && !fillers[f.FullName()] || of == nil {
		return false
	}
	switch u := of.Underlying().(type) {
	case *types.Slice:
		return flat(u.Elem(), 0)
	case *types.Map:
		return flat(u.Key(), 0) && flat(u.Elem(), 0)
	}
	return false
}

func callsOnce(f *types.Func) bool { return strings.HasPrefix(f.FullName(), "sync.Once") }

// callbacks follows what a standard library function passes to its function arguments,
// except the n-th.
func (t *tracer) callbacks(d *decl, call *ast.CallExpr, n int) {
	for i, a := range call.Args {
		s, ok := under(d.info().TypeOf(a)).(*types.Signature)
		if i == n || !ok || onlyReads(d.info(), a) {
			continue
		}
		list, all := t.p.callees(d, a)
		if !all && !flat(s.Params(), 0) {
			t.lost(d, a, "a function that is a value")
			return
		}
		for _, c := range list {
			for v := range c.params().Variables() {
				if !flat(v.Type(), 0) {
					t.holds(v)
				}
			}
		}
	}
}

// onlyReads reports whether an expression names a standard library function that writes to
// none of its arguments.
func onlyReads(info *types.Info, e ast.Expr) bool {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return false
	}
	f, ok := info.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || !std.Has(f.Pkg().Path()) {
		return false
	}
	fact, known := std.Lookup(stdName(f))
	return known && (fact.Effect == std.Reads || fact.Effect == std.Returns)
}

// libraryCalls follows a value into the methods that the standard library may call on it
// and its parts.
func (t *tracer) libraryCalls(of types.Type, seen map[types.Type]bool) {
	if of == nil || seen[of] {
		return
	}
	seen[of] = true
	switch u := types.Unalias(of).(type) {
	case *types.Named:
		if d := t.p.declOf(u.Origin().Obj()); d != nil {
			for _, m := range d.methods {
				t.receives(m)
			}
		}
		if _, isInterface := u.Underlying().(*types.Interface); isInterface {
			t.anyReceives()
			return
		}
		t.libraryCalls(u.Underlying(), seen)
	case *types.Interface:
		t.anyReceives()
	case *types.Pointer:
		t.libraryCalls(u.Elem(), seen)
	case *types.Slice:
		t.libraryCalls(u.Elem(), seen)
	case *types.Array:
		t.libraryCalls(u.Elem(), seen)
	case *types.Map:
		t.libraryCalls(u.Key(), seen)
		t.libraryCalls(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			t.libraryCalls(f.Type(), seen)
		}
	case *types.TypeParam:
		t.anyReceives()
	}
}

// anyReceives follows a value of unknown type into the methods that the standard library
// may call.
func (t *tracer) anyReceives() {
	for _, name := range slices.Sorted(maps.Keys(t.p.methods)) {
		if calledByLibrary[name] {
			for _, m := range t.p.methods[name] {
				t.receives(m)
			}
		}
	}
}

func (t *tracer) receives(m *decl) {
	f, ok := m.object().(*types.Func)
	if !ok || !calledByLibrary[f.Name()] {
		return
	}
	if recv := f.Signature().Recv(); recv.Type() != deref(recv.Type()) || !flat(recv.Type(), 0) {
		t.holds(recv)
	}
}

// writes records a write to the memory at a position. Code that writes at program start
// gives the variable its value.
func (t *tracer) writes(d *decl, at token.Pos, stack []ast.Node) {
	if stack != nil && t.fresh(d, stack) && !t.creation.keeps(d, at) {
		t.writer(d, nil)
		return
	}
	if o, ok := t.inOnce(d, at); ok && t.creation == nil && t.guards(d, o, stack) {
		t.onced = append(t.onced, o)
		t.writer(d, nil)
		return
	}
	t.writeAt(d, at, fmt.Sprintf("%s, which %s %s", t.what(), t.deed(d), t.when()))
}

// deed names the writer: a declaration, or what it calls.
func (t *tracer) deed(d *decl) string {
	if t.writing != "" {
		return t.writing + d.name() + " calls may write to"
	}
	return d.name() + " writes"
}

// writesTo records that the standard library writes to the memory.
func (t *tracer) writesTo(d *decl, call *ast.CallExpr, name string) {
	for _, a := range call.Args { // it may refer to them from now on
		if _, isFunc := under(d.info().TypeOf(a)).(*types.Signature); !isFunc {
			t.source(d, a)
		}
	}
	if o, ok := t.inOnce(d, call.Pos()); ok && t.creation == nil && t.guards(d, o, nil) {
		t.onced = append(t.onced, o)
		t.writer(d, nil)
		return
	}
	t.writeAt(d, call.Pos(), fmt.Sprintf("%s, which %s in %s may write %s", t.what(), name, d.name(), t.when()))
}

func (t *tracer) writeAt(d *decl, at token.Pos, what string) {
	callers, ok := t.early(d, at)
	if !ok {
		t.fail(problem{what: what, at: d.at(at)})
		return
	}
	t.atStart = append(t.atStart, d)
	t.writer(d, callers)
}

// namedWriters records code that seems to write only at program start, but is called by
// methods that may be called by name at any time. These are methods of values passed to
// such callers, and all that name the variable.
func (t *tracer) namedWriters() {
	for _, d := range t.atStart {
		through := t.p.startupOf(d).through
		names := slices.ContainsFunc(t.p.mentioned[t.root], func(m *decl) bool { return through[m] })
		for by := range through {
			if t.named[by] || names && t.p.byName && by.kind == "method" && isExported(by.names[0]) && t.p.mayBeHeld(by) {
				t.fail(problem{what: fmt.Sprintf("%s, which %s writes, which may be called by its name", t.what(), by.name()), at: by.at(by.node.Pos())})
			}
		}
	}
}

func (t *tracer) writer(d *decl, callers []*decl) {
	t.changed = true
	if d != t.decl {
		t.writers[d] = true
	}
	for _, c := range callers {
		if c != t.decl {
			t.writers[c] = true
		}
	}
}

// fresh reports whether the written expression, the last of the nodes, is memory that this
// call has just allocated. Such memory is not yet part of the variable, except at program
// start.
func (t *tracer) fresh(d *decl, stack []ast.Node) bool {
	around := d.node // the running function
	for _, n := range stack {
		if lit, ok := n.(*ast.FuncLit); ok {
			around = lit
		}
	}
	derefs := 0
	var e ast.Expr
	for i := len(stack) - 1; i > 0; i-- {
		if _, ok := stack[i-1].(ast.Expr); !ok {
			e, _ = stack[i].(ast.Expr)
			break
		}
	}
	info := d.info()
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			sel := info.Selections[x]
			if sel == nil {
				return false
			}
			derefs += pointersOn(sel)
			e = x.X
		case *ast.IndexExpr:
			if _, isArray := info.TypeOf(x.X).Underlying().(*types.Array); !isArray {
				derefs++
			}
			e = x.X
		case *ast.StarExpr:
			derefs++
			e = x.X
		case *ast.Ident:
			v, ok := info.Uses[x].(*types.Var)
			return ok && derefs <= 1 && around.Pos() <= v.Pos() && v.Pos() < around.End() && v.Parent() != v.Pkg().Scope() && t.made(d, v)
		default:
			return false
		}
	}
}

// pointersOn counts the pointers that a selector follows, including embedded fields.
func pointersOn(sel *types.Selection) (n int) {
	of := sel.Recv()
	for _, i := range sel.Index() {
		if elem := deref(of); elem != of {
			n, of = n+1, elem
		}
		if s, ok := of.Underlying().(*types.Struct); ok && i < s.NumFields() {
			of = s.Field(i).Type()
		}
	}
	return n
}

// made reports whether a local variable refers only to memory that its function has just
// allocated.
func (t *tracer) made(d *decl, v *types.Var) bool {
	if f, ok := d.object().(*types.Func); ok && (slices.Contains(slices.Collect(f.Signature().Params().Variables()), v) || f.Signature().Recv() == v) {
		return false
	}
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
	default:
		return false // what it refers to may be anybody's
	}
	list := d.assignments(v)
	return len(list) > 0 && !slices.ContainsFunc(list, func(e ast.Expr) bool {
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			return false
		case *ast.UnaryExpr:
			_, isLit := ast.Unparen(e.X).(*ast.CompositeLit)
			return e.Op != token.AND || !isLit
		case *ast.CallExpr:
			id, ok := e.Fun.(*ast.Ident)
			if !ok {
				return true
			}
			_, builtin := d.info().Uses[id].(*types.Builtin)
			if builtin && id.Name == "append" && len(e.Args) > 0 { // to itself
				x, ok := e.Args[0].(*ast.Ident)
				return !ok || d.info().Uses[x] != v
			}
			return !builtin || id.Name != "make" && id.Name != "new"
		}
		return true
	})
}

package analysis

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/larder-data/larder/internal/codeid/std"
)

// A tracer finds where references to the memory of a package variable go, and which code
// writes through them. It traces forward from the variable to assignments, arguments and
// results, and backward from its values to other holders of the same memory (origins.go).
// Code that it cannot follow may write.
//
// It distinguishes variables, parameters and fields, but not calls of a function or values
// of a struct type.
type tracer struct {
	p        *parsedProgram
	root     *types.Var
	decl     *decl     // of root
	creation *creation // of the literal that captures it; nil for a package variable
	seen     map[types.Object]bool
	queue    []types.Object        // variables that may hold a reference
	origins  map[types.Object]bool // those whose own values were traced back
	state    map[types.Object]bool // those that are part of the memory
	returned map[returned]bool
	literals map[returnedLiteral]bool
	writers  map[*decl]bool // declarations that write at program start
	atStart  []*decl        // where these were found
	changed  bool           // code writes at program start
	named    map[*decl]bool // methods that may be called by name
	onced    []once
	bodies   map[*ast.BlockStmt]bool // whose results were traced back
	memo     bool                    // calls of functions in it return its memory
	writing  string                  // the current writer, for messages
	leaked   bool                    // exported code returns it
	retained map[*types.Var]bool     // containers whose elements were followed
	cuts     []cutting               // cuts of slices
	appended []cutting               // appends that may write beyond a cut slice
	has      contents                // content of the memory, by the variable's type
	spared   []func()                // writes that may miss it
	cells    *cells                  // the memory, by types
	problem  *problem
}

// newTracer returns a tracer of the variable root, declared in at.
func newTracer(p *parsedProgram, root *types.Var, at *decl) *tracer {
	return &tracer{
		p: p, root: root, decl: at, seen: map[types.Object]bool{}, origins: map[types.Object]bool{}, state: map[types.Object]bool{},
		returned: map[returned]bool{}, literals: map[returnedLiteral]bool{}, writers: map[*decl]bool{}, named: map[*decl]bool{},
	}
}

// returned is a result of a function.
type returned struct {
	f types.Object
	i int
}

// A once is a write in a function that a sync.Once calls.
type once struct {
	decl   *decl
	guard  *types.Var // the sync.Once
	lit    *ast.FuncLit
	writes token.Pos
	base   types.Object // has the sync.Once as a field
}

func (t *tracer) name() string { return t.root.Pkg().Path() + "." + t.root.Name() }

// fail records the first reason why the variable is not constant.
func (t *tracer) fail(p problem) {
	if t.problem == nil {
		p.name, p.refuse, p.state = t.name(), true, !p.opaque
		t.problem = &p
	}
}

func (t *tracer) lost(d *decl, n ast.Node, what string) {
	t.fail(problem{what: fmt.Sprintf("%s, which may change %s: %s at %s may write to it", t.what(), t.when(), what, d.at(n.Pos())), at: t.decl.at(t.decl.node.Pos())})
}

// follow traces the variable in both directions. It first assumes that the memory is what
// the variable's type shows; if it finds more, it starts again.
func (t *tracer) follow() {
	if t.problem != nil {
		return
	}
	for known := t.cellsOf(); ; {
		creation := t.creation
		*t = *newTracer(t.p, t.root, t.decl)
		t.creation = creation
		t.cells = known
		t.has.add(t.root.Type(), map[types.Type]bool{})
		t.trace(t.root)
		t.holds(t.root)
		for t.drain(); t.settle(); {
			t.drain()
		}
		found := t.cellsOf()
		if t.problem != nil || found.same(known) {
			break
		}
		known = found
	}
	t.checkOnces()
}

// maxSteps bounds the number of variables followed for one.
const maxSteps = 20000

func (t *tracer) drain() {
	for steps := 0; len(t.queue) > 0 && t.problem == nil; steps++ {
		if steps > maxSteps {
			t.lost(t.decl, t.decl.node, "something among the many places that its memory gets to")
			return
		}
		o := t.queue[0]
		t.queue = t.queue[1:]
		t.uses(o)
	}
}

// holds records that a variable, a parameter or a field may hold a reference.
func (t *tracer) holds(o types.Object) {
	if o == nil {
		return
	}
	o = origin(o)
	if v, ok := o.(*types.Var); !ok || t.seen[o] || v.Name() == "_" {
		return
	}
	t.seen[o] = true
	t.queue = append(t.queue, o)
	if v := o.(*types.Var); v.IsField() {
		for _, twin := range t.p.twins(v) {
			t.holds(twin)
		}
	}
}

// where lists the declarations that may name a variable, without those that only read a
// package variable.
func (p *parsedProgram) where(o types.Object) []*decl {
	v := o.(*types.Var)
	switch {
	case v.IsField():
		return p.mentioned[o]
	case isPackageVariable(v):
		if d := p.declOf(o); d != nil && !slices.Contains(p.touched[o], d) {
			return append([]*decl{d}, p.touched[o]...)
		}
		return p.touched[o]
	}
	if d := p.around(o); d != nil {
		return []*decl{d}
	}
	return nil
}

// around returns the declaration of a local variable.
func (p *parsedProgram) around(o types.Object) *decl {
	k := p.packages[o.Pkg().Path()]
	if k == nil {
		return nil
	}
	for _, f := range k.syntax {
		if o.Pos() < f.syntax.FileStart || o.Pos() >= f.syntax.FileEnd {
			continue
		}
		for _, d := range f.decls {
			if d.node.Pos() <= o.Pos() && o.Pos() < d.node.End() {
				return d
			}
		}
	}
	return nil
}

// uses follows a variable from all uses.
func (t *tracer) uses(o types.Object) {
	t.namedResult(o)
	embedded := o.(*types.Var).Embedded()
	for _, d := range t.p.where(o) {
		walk(d.node, func(stack []ast.Node) bool {
			if s, ok := stack[len(stack)-1].(*ast.SelectorExpr); ok && embedded && slices.Contains(implicit(d.info().Selections[s]), o) {
				t.flow(d, append(slices.Clone(stack), s.X), t.state[o]) // through it
			}
			id, ok := stack[len(stack)-1].(*ast.Ident)
			if !ok || t.problem != nil || origin(d.info().Uses[id]) != o {
				return true
			}
			if len(stack) > 1 {
				switch p := stack[len(stack)-2].(type) {
				case *ast.SelectorExpr:
					if p.Sel == id { // a field, or a variable of another package
						stack = stack[:len(stack)-1]
					}
				case *ast.KeyValueExpr:
					if p.Key == id && o.(*types.Var).IsField() {
						return true // a field in a literal: its value has been followed
					}
				}
			}
			t.flow(d, slices.Clone(stack), o == t.root || t.state[o])
			return true
		})
	}
}

// implicit lists the embedded fields that a selector passes without naming them.
func implicit(sel *types.Selection) (fields []types.Object) {
	if sel == nil {
		return nil
	}
	of := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		s, ok := deref(of).Underlying().(*types.Struct)
		if !ok {
			return fields
		}
		fields, of = append(fields, s.Field(i).Origin()), s.Field(i).Type()
	}
	return fields
}

// namedResult follows a named result.
func (t *tracer) namedResult(o types.Object) {
	d := t.p.around(o)
	if d == nil {
		return
	}
	if f, ok := d.object().(*types.Func); ok {
		i := 0
		for v := range f.Signature().Results().Variables() {
			if v == o {
				t.returns(f, i)
			}
			i++
		}
	}
	walk(d.node, func(stack []ast.Node) bool {
		lit, ok := stack[len(stack)-1].(*ast.FuncLit)
		if !ok || lit.Type.Results == nil {
			return true
		}
		i := 0
		for _, f := range lit.Type.Results.List {
			for _, id := range f.Names {
				if d.info().Defs[id] == o {
					t.literalReturns(d, slices.Clone(stack), lit, i)
				}
				i++
			}
		}
		return true
	})
}

// A way is the path of a value through a declaration: from an expression to the one that
// contains it, and on.
type way struct {
	d       *decl
	stack   []ast.Node
	at      int // index of the expression in the stack
	e       ast.Expr
	of      types.Type
	mem     bool // the expression is part of the memory: assigning to it writes there
	carries bool // copies of it refer to the memory
	hands   bool // a library iterator that returns the memory
}

// flow follows the value of the last of the nodes.
func (t *tracer) flow(d *decl, stack []ast.Node, mem bool) {
	w := &way{d: d, stack: stack, at: len(stack) - 1, mem: mem}
	for w.at > 0 && t.problem == nil && t.look(w) && t.through(w) {
		w.at--
	}
}

// look classifies the expression, and returns false if it is none.
func (t *tracer) look(w *way) (ok bool) {
	if w.e, ok = w.stack[w.at].(ast.Expr); !ok {
		return false
	}
	info := w.d.info()
	w.of = info.Types[w.e].Type
	if id, isIdent := w.e.(*ast.Ident); isIdent && w.of == nil && info.Uses[id] != nil {
		w.of = info.Uses[id].Type()
	}
	w.carries = t.carries(w.of) || w.hands
	return true
}

// carries reports whether copies of values of a type may refer to the memory.
func (t *tracer) carries(of types.Type) bool {
	return isUnknown(of) || (!flat(of, 0) || t.memo && hasFunctions(of, 0)) && t.refers(of)
}

// through moves to the enclosing expression, and reports whether that has the value.
func (t *tracer) through(w *way) bool {
	if tuple, ok := w.of.(*types.Tuple); ok { // any result may refer to it
		for i := range tuple.Len() {
			t.result(w.d, w.stack[:w.at+1], i, tuple.Len())
		}
		return false
	}
	if w.hands && !w.consumed() {
		t.lost(w.d, w.e, "whatever an iterator of the library is passed to")
		return false
	}
	switch p := w.stack[w.at-1].(type) {
	case *ast.ParenExpr:
	case *ast.StarExpr:
		w.mem = true
	case *ast.SelectorExpr:
		return t.selected(w, p)
	case *ast.IndexExpr:
		if p.X != w.e {
			t.key(w, p)
			return false
		}
		return w.indexed()
	case *ast.SliceExpr:
		return p.X == w.e && t.cut(w, p)
	case *ast.UnaryExpr:
		return t.unary(w, p)
	case *ast.CallExpr:
		return t.called(w, p)
	case *ast.TypeAssertExpr:
		if w.carries && p.Type == nil {
			t.typeSwitch(w.d, w.stack[:w.at-1])
		}
		w.mem = false
		return w.carries && p.Type != nil
	case *ast.CompositeLit:
		if w.carries {
			t.element(w.d, p, w.e)
		}
		w.mem = false
		return w.carries
	case *ast.KeyValueExpr:
		return w.carries && t.keyed(w, p)
	default:
		t.into(w, p)
		return false
	}
	return true
}

// selected continues with a field, or the call of a method.
func (t *tracer) selected(w *way, p *ast.SelectorExpr) bool {
	sel := w.d.info().Selections[p]
	if sel == nil {
		if w.carries {
			t.lost(w.d, p, "."+p.Sel.Name+" of a value whose type is not known")
		}
		return false
	}
	if sel.Kind() == types.FieldVal {
		w.mem = w.mem || sel.Indirect()
		return true
	}
	on := t.method(w.d, w.stack, w.at-1, sel, w.carries || w.mem)
	w.at-- // continue with the call
	w.mem = false
	return on
}

// indexed continues with an element, or an instance of a generic function.
func (w *way) indexed() bool {
	switch core(w.of).(type) {
	case *types.Array, *types.Signature, *types.Basic:
	default:
		w.mem = true
	}
	return true
}

// key follows a value that is a key of a map in an assignment.
func (t *tracer) key(w *way, p *ast.IndexExpr) {
	switch core(w.d.info().TypeOf(p.X)).(type) {
	case *types.Slice, *types.Array, *types.Pointer, *types.Basic, *types.Signature:
		return
	}
	if w.carries && assigned(w.stack[:w.at]) {
		t.store(w.d, p, w.stack)
	}
}

// cut continues with a part of a slice.
func (t *tracer) cut(w *way, p *ast.SliceExpr) bool {
	switch u := core(w.of).(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return false
		}
	case *types.Array:
		if !w.mem && !w.carries {
			return false // of a copy
		}
	}
	if p.High != nil && !clipped(p) {
		t.cuts = append(t.cuts, cutting{w.d.ownList(p.X), p.Pos(), w.d})
	}
	w.mem = false
	return true
}

// unary continues with a pointer.
func (t *tracer) unary(w *way, p *ast.UnaryExpr) bool {
	switch {
	case p.Op == token.AND:
		shared := w.mem && harmless(w.of) && !isLock(w.of, 0)
		on := !shared && (w.mem || w.carries) // otherwise of a copy
		w.mem = false
		return on
	case p.Op == token.ARROW && w.carries:
		t.writes(w.d, p.Pos(), nil)
	}
	return false
}

// called continues with the result of a call that receives the value.
func (t *tracer) called(w *way, p *ast.CallExpr) bool {
	if p.Fun == w.e {
		w.mem = false
		return t.memo
	}
	if f := staticCallee(w.d.info(), p); f != nil && f.Pkg() != nil && std.Has(f.Pkg().Path()) && f.Pkg().Path() != "sync" && isLock(w.of, 0) {
		t.lost(w.d, p, f.Name()+", which sees what locks are held,")
		return false
	}
	on := w.carries && t.argument(w.d, p, slices.Index(p.Args, w.e), -1, w.of) || w.hands
	w.mem = false
	w.hands = handsOut(w.d.info().TypeOf(p))
	return on
}

// handsOut reports whether a value is an iterator with elements that contain references.
func handsOut(of types.Type) bool {
	s, ok := under(of).(*types.Signature)
	if !ok || s.Params().Len() == 0 {
		return false
	}
	yield, ok := under(s.Params().At(0).Type()).(*types.Signature)
	return ok && !flat(yield.Params(), 0)
}

// consumed reports whether an iterator is ranged over directly, or passed to a library
// function that does so.
func (w *way) consumed() bool {
	switch p := w.stack[w.at-1].(type) {
	case *ast.ParenExpr:
		return true
	case *ast.RangeStmt:
		return p.X == w.e
	case *ast.CallExpr:
		f := staticCallee(w.d.info(), p)
		return p.Fun != w.e && f != nil && f.Pkg() != nil && (f.Pkg().Path() == "slices" || f.Pkg().Path() == "maps")
	}
	return false
}

// keyed continues with a literal that has the value under a key.
func (t *tracer) keyed(w *way, p *ast.KeyValueExpr) bool {
	info := w.d.info()
	lit, isLit := w.stack[w.at-2].(*ast.CompositeLit)
	if !isLit {
		return false
	}
	if p.Value == w.e {
		if key, isIdent := p.Key.(*ast.Ident); isIdent && isStruct(info.Types[lit].Type) {
			t.holds(info.Uses[key])
		}
	}
	w.at-- // continue with the literal
	w.mem = false
	return true
}

// into follows a value into the enclosing statement, where its path ends.
func (t *tracer) into(w *way, p ast.Node) {
	switch p := p.(type) {
	case *ast.AssignStmt:
		t.assign(w, p)
	case *ast.IncDecStmt:
		if w.mem {
			at := w.e.Pos()
			t.wrote(w, func() { t.writes(w.d, at, w.stack) })
		}
	case *ast.ValueSpec:
		if n := slices.Index(p.Values, w.e); w.carries && n >= 0 && n < len(p.Names) {
			t.holds(w.d.info().Defs[p.Names[n]])
		}
	case *ast.RangeStmt:
		t.ranges(w.d, p, w.e, w.of, w.mem, w.stack)
	case *ast.SendStmt:
		if p.Chan == w.e {
			t.writes(w.d, p.Pos(), nil)
		} else if w.carries {
			t.lost(w.d, p, "what receives it from a channel")
		}
	case *ast.ReturnStmt:
		if w.carries {
			t.returnedBy(w.d, w.stack[:w.at-1], slices.Index(p.Results, w.e))
		}
	case *ast.BinaryExpr, *ast.ExprStmt, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.GoStmt, *ast.DeferStmt, *ast.BlockStmt, *ast.TypeSwitchStmt, *ast.CommClause, *ast.SelectStmt:
	default:
		if w.carries {
			t.lost(w.d, p, "what cannot be followed")
		}
	}
}

func isStruct(of types.Type) bool {
	if of == nil {
		return false
	}
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	_, ok := of.Underlying().(*types.Struct)
	return ok
}

// element follows a value in a literal without keys.
func (t *tracer) element(d *decl, lit *ast.CompositeLit, e ast.Expr) {
	of := d.info().Types[lit].Type
	if of == nil {
		return
	}
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	if s, ok := of.Underlying().(*types.Struct); ok {
		if n := slices.Index(lit.Elts, e); n >= 0 && n < s.NumFields() {
			t.holds(s.Field(n))
		}
	}
}

// assign follows an assignment with the expression on one side.
func (t *tracer) assign(w *way, p *ast.AssignStmt) {
	if n := slices.Index(p.Lhs, w.e); n >= 0 {
		if w.mem && p.Tok != token.DEFINE {
			at := w.e.Pos()
			t.wrote(w, func() {
				t.writes(w.d, at, w.stack)
				t.source(w.d, p.Rhs[min(n, len(p.Rhs)-1)]) // it refers to that from now on
			})
		}
		return
	}
	if n := slices.Index(p.Rhs, w.e); w.carries && n >= 0 && n < len(p.Lhs) {
		t.store(w.d, p.Lhs[n], w.stack)
	}
}

// store follows a reference into the target of an assignment.
func (t *tracer) store(d *decl, to ast.Expr, stack []ast.Node) {
	info := d.info()
	switch to := ast.Unparen(to).(type) {
	case *ast.Ident:
		if o := info.Defs[to]; o != nil {
			t.holds(o)
		} else {
			t.holds(info.Uses[to])
		}
	case *ast.SelectorExpr:
		o := info.Uses[to.Sel]
		if o == nil {
			t.lost(d, to, "what it is assigned to")
			return
		}
		t.holds(o)
		if o.Pkg() != nil && std.Has(o.Pkg().Path()) { // functions of the library read it, too
			t.share(rootOf(info, to.X))
		}
	default:
		if t.keeps(d, to) {
			return
		}
		// Other holders of the container reach the reference from now on, so the container
		// is followed, too.
		o := rootOf(info, to)
		if _, ok := t.early(d, stack[len(stack)-1].Pos()); o == nil || !ok || d.isLater(stack) {
			t.lost(d, to, "what holds the container that it is put into")
			return
		}
		t.holds(o)
		t.trace(o)
	}
}

// rootOf returns the variable that contains an expression, or nil.
func rootOf(info *types.Info, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if o := info.Uses[x]; o != nil {
				return o
			}
			return info.Defs[x]
		case *ast.SelectorExpr:
			if o, ok := info.Uses[x.Sel].(*types.Var); ok {
				return o // a field, or a variable of another package
			}
			return nil
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// ranges follows the elements of a range statement.
func (t *tracer) ranges(d *decl, p *ast.RangeStmt, e ast.Expr, of types.Type, mem bool, stack []ast.Node) {
	if p.X != e {
		if mem && p.Tok == token.ASSIGN && (p.Key == e || p.Value == e) {
			t.writes(d, e.Pos(), stack)
		}
		return
	}
	if _, ok := core(of).(*types.Chan); ok {
		t.writes(d, p.Pos(), nil)
		return
	}
	for _, v := range []ast.Expr{p.Key, p.Value} {
		if v == nil {
			continue
		}
		id, ok := ast.Unparen(v).(*ast.Ident)
		if ok && id.Name == "_" {
			continue
		}
		vt := d.info().TypeOf(v)
		if vt != nil && !t.carries(vt) {
			continue
		}
		t.store(d, v, stack)
	}
}

// typeSwitch follows the operand of a type switch into the variables of the cases.
func (t *tracer) typeSwitch(d *decl, stack []ast.Node) {
	for i := len(stack) - 1; i >= 0; i-- {
		s, ok := stack[i].(*ast.TypeSwitchStmt)
		if !ok {
			continue
		}
		for _, c := range s.Body.List {
			t.holds(d.info().Implicits[c])
		}
		return
	}
}

// argument follows an argument into the called function, and reports whether the call's
// results may refer to it.
func (t *tracer) argument(d *decl, call *ast.CallExpr, n, result int, of types.Type) (goOn bool) {
	info := d.info()
	fun := info.Types[ast.Unparen(call.Fun)]
	if fun.IsType() {
		return true
	}
	if fun.IsBuiltin() {
		return t.builtin(d, call, n)
	}
	f := staticCallee(info, call)
	if result >= 0 && len(call.Args) == 1 {
		n = result // f(g())
	}
	if f != nil && isMethodExpression(info, call) {
		if n == 0 {
			return t.receiver(d, call, f, true)
		}
		n--
	}
	switch {
	case f == nil:
		return t.dynamic(d, call, n)
	case f.Pkg() == nil:
		return false
	case std.Has(f.Pkg().Path()):
		return t.libraryCall(d, call, n, f, of)
	case isEngine(f.Pkg().Path()):
		if t.creation != nil { // Larder calls the maker, and does not change captured values
			return false
		}
		if _, isFunc := core(of).(*types.Signature); !isFunc && isBorrowed(of, nil) {
			t.lost(d, call, f.Name()+", to which values with functions in them are passed,")
		}
		return false
	}
	if f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
		if t.p.ofLibrary(f) {
			t.lost(d, call, "the method "+f.Name()+" of whatever is behind an interface")
		}
		if t.p.comesInUnseen(methodsOf(f.Signature().Recv().Type())) {
			t.lost(d, call, "the method "+f.Name()+" of a type whose sources are not registered")
		}
		for _, m := range t.p.implementations(f) {
			t.parameter(m, n)
		}
		return false
	}
	if k := t.p.declOf(f); k != nil {
		t.parameter(k, n)
		return false
	}
	t.lost(d, call, f.Name())
	return false
}

// isMethodExpression reports whether a call is T.method(receiver, ...).
func isMethodExpression(info *types.Info, call *ast.CallExpr) bool {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && info.Selections[s] != nil && info.Selections[s].Kind() == types.MethodExpr
}

// parameter follows the n-th argument into a function.
func (t *tracer) parameter(d *decl, n int) {
	f, ok := d.object().(*types.Func)
	if !ok {
		return
	}
	if d.function().Body == nil {
		t.lost(d, d.node, "code that is not Go")
		return
	}
	params := f.Signature().Params()
	if n = min(n, params.Len()-1); n >= 0 {
		t.holds(params.At(n))
	}
}

// dynamic follows an argument into a function value.
func (t *tracer) dynamic(d *decl, call *ast.CallExpr, n int) bool {
	info := d.info()
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if path := d.unknownPackage(s); path != "" {
			if !d.file.pkg.assumes(path + "." + s.Sel.Name) {
				t.lost(d, call, path+"."+s.Sel.Name+", whose sources are not registered,")
				return false
			}
			return true
		}
	}
	if isUnknown(info.TypeOf(call.Fun)) {
		t.lost(d, call, "code whose sources are not registered")
		return false
	}
	if list, all := t.p.callees(d, call.Fun); all {
		for _, c := range list {
			if params := c.params(); params.Len() > 0 {
				t.holds(params.At(min(n, params.Len()-1)))
			}
		}
		return true
	}
	t.lost(d, call, "a function that is a value")
	return false
}

// clipped reports whether a slice has no capacity beyond its end: s[a:b:b].
func clipped(s *ast.SliceExpr) bool {
	return s.Slice3 && types.ExprString(s.High) == types.ExprString(s.Max)
}

// builtin follows an argument of a built-in function.
func (t *tracer) builtin(d *decl, call *ast.CallExpr, n int) bool {
	name := ""
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		t.lost(d, call, "unsafe."+f.Sel.Name)
		return false
	}
	elements := func() bool { // of a slice that is copied
		s, ok := d.info().TypeOf(call.Args[n]).Underlying().(*types.Slice)
		return !ok || !flat(s.Elem(), 0)
	}
	switch name {
	case "append":
		if n == 0 {
			if s, part := ast.Unparen(call.Args[0]).(*ast.SliceExpr); part && clipped(s) {
				return true
			} else if part {
				t.writes(d, call.Pos(), nil)
			} else {
				t.appended = append(t.appended, cutting{d.ownList(call.Args[0]), call.Pos(), d})
			}
			return true
		}
		if call.Ellipsis.IsValid() && !elements() {
			return false
		}
		if !d.appendsAlone(call) {
			t.lost(d, call, "what shares the list that it is appended to")
		}
		return true
	case "copy":
		if n == 0 {
			t.writes(d, call.Pos(), nil)
		} else if elements() {
			t.store(d, &ast.IndexExpr{X: call.Args[0]}, []ast.Node{call})
		}
	case "delete", "clear", "close":
		if n == 0 {
			t.writes(d, call.Pos(), nil)
		}
	case "min", "max":
		return true
	case "panic":
		if _, early := t.early(d, call.Pos()); early && t.creation == nil && t.p.unknown == "" && !t.p.recovers() {
			return false // ends the program
		}
		t.lost(d, call, "whatever recovers it")
	}
	return false
}

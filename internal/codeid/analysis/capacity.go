package analysis

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
)

// An emptied slice or buffer from a sync.Pool still has memory beyond its end: old content,
// and a capacity that decides whether two slices share memory. So only uses are allowed
// that do not observe these. A slice may grow by appends if each result is the next state
// of its one variable, and may be read up to its end. A buffer has some allowed methods.
// The analysis follows them through variables and functions of the program.

// A capacity follows a value with old capacity.
type capacity struct {
	p    *parsedProgram
	seen map[*types.Var]bool
	view map[*types.Var]bool  // slices that alias a buffer: they must not grow
	from map[*types.Func]bool // functions whose results are followed
	bad  bool
}

// seesCapacity reports whether code may observe the capacity of an object from a pool, the last
// of the nodes.
func (d *decl) seesCapacity(get use) bool {
	of := itemOf(d.info(), get.stack)
	if !hasSpace(of) && !hidesBuffer(of) {
		return false
	}
	r := &capacity{p: d.file.pkg.program, seen: map[*types.Var]bool{}, view: map[*types.Var]bool{}, from: map[*types.Func]bool{}}
	r.flow(d, get.stack, nil, false)
	return r.bad
}

// hasSpace reports whether a type is a slice or a buffer, or a pointer to one.
func hasSpace(of types.Type) bool {
	if of == nil {
		return false
	}
	of = types.Unalias(deref(of))
	_, isList := core(of).(*types.Slice)
	return isList || isBuffer(of)
}

func isBuffer(of types.Type) bool {
	n, ok := types.Unalias(deref(of)).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "bytes" && n.Obj().Name() == "Buffer"
}

// bufferMethods are methods of buffers: true for those that do not observe the capacity.
var bufferMethods = map[string]bool{
	"Write": true, "WriteString": true, "WriteByte": true, "WriteRune": true, "String": true, "Len": true, "Reset": true, "Truncate": true, "Grow": true,
	"Bytes": true, "Next": true, "Read": true, "ReadByte": true, "ReadRune": true, "ReadString": true, "ReadBytes": true, "UnreadByte": true, "UnreadRune": true,
	"ReadFrom": false, "WriteTo": false, "Cap": false, "Available": false, "AvailableBuffer": false, "Peek": false,
}

// hidesBuffer reports whether a type is an interface that a buffer implements.
func hidesBuffer(of types.Type) bool {
	i, ok := under(of).(*types.Interface)
	if !ok {
		return false
	}
	for m := range i.Methods() {
		if _, has := bufferMethods[m.Name()]; !has {
			return false
		}
	}
	return true
}

// follow checks all uses of a variable with such a value. Its slice may grow there, or move
// to one other variable: then it is otherwise only assigned and put back.
func (r *capacity) follow(d *decl, v *types.Var, view bool) {
	if v == nil || r.bad || r.seen[v] && (!view || r.view[v]) {
		return
	}
	r.seen[v], r.view[v] = true, view
	if isPackageVariable(v) || v.IsField() {
		r.bad = true
		return
	}
	moved, used := 0, 0
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[id] != v || r.bad {
			return !r.bad
		}
		list := !isBuffer(v.Type()) && !types.IsInterface(v.Type())
		if list && !d.runsHere(stack) {
			r.bad = true
			return false
		}
		switch r.flow(d, slices.Clone(stack), v, r.view[v]) {
		case moves:
			moved++
		case uses:
			used++
		}
		return true
	})
	if !isBuffer(v.Type()) && !types.IsInterface(v.Type()) && (moved > 1 || moved == 1 && used > 0) {
		r.bad = true
	}
}

// A fate is the effect of a use.
type fate int

const (
	sets  fate = iota // assigned, put back, or only its length is read
	uses              // it is read, or grows
	moves             // it moves to another variable
)

// flow follows an expression with such a value, the last of the nodes: the content of a
// variable, or an object from a pool. A grown slice must become the next state of the
// variable.
func (r *capacity) flow(d *decl, stack []ast.Node, v *types.Var, view bool) fate {
	info, grown := d.info(), false
	end := func() fate {
		if grown {
			return moves
		}
		return uses
	}
	for i := len(stack) - 1; i > 0; i-- {
		e, ok := stack[i].(ast.Expr)
		if !ok {
			return sets
		}
		switch p := stack[i-1].(type) {
		case *ast.ParenExpr:
		case *ast.TypeAssertExpr:
			if p.Type == nil || types.IsInterface(info.TypeOf(p.Type)) {
				return r.lost()
			}
			if !hasSpace(info.TypeOf(p.Type)) {
				return uses
			}
		case *ast.StarExpr:
			if isBuffer(info.TypeOf(p)) && !assigned(stack[:i]) {
				return r.lost() // a copy
			}
		case *ast.SliceExpr:
			if p.X != e || p.High != nil && !d.isZero(p.High) {
				return r.lost()
			}
		case *ast.IndexExpr:
			if p.X != e {
				return r.lost()
			}
			return end()
		case *ast.UnaryExpr:
			call, ok := stack[max(i-2, 0)].(*ast.CallExpr)
			if p.Op != token.AND || !ok || !isPoolPut(info, call) {
				return r.lost()
			}
			return sets
		case *ast.SelectorExpr:
			goOn := false
			if goOn, view = r.method(d, stack[:i+1], view); !goOn {
				return end()
			}
			i-- // continue with the call
		case *ast.CallExpr:
			goOn, fate := r.argument(d, p, e, view)
			if !goOn && fate == uses {
				return end()
			} else if !goOn {
				return fate
			}
			grown = grown || v != nil && !info.Types[ast.Unparen(p.Fun)].IsType()
		case *ast.BinaryExpr, *ast.ExprStmt:
			return sets
		case *ast.RangeStmt:
			return end()
		case *ast.AssignStmt:
			return r.assign(d, stack[:i+1], v, view)
		case *ast.ValueSpec:
			n := slices.Index(p.Values, e)
			if n < 0 || len(p.Names) != len(p.Values) || !d.runsHere(stack) {
				return r.lost()
			}
			o, _ := info.Defs[p.Names[n]].(*types.Var)
			return r.move(d, o, info.TypeOf(e), view)
		case *ast.ReturnStmt:
			return r.returned(d, stack[:i+1], view)
		default:
			return r.lost()
		}
	}
	return sets
}

// move follows the value into another variable. Interfaces may hold only buffers, because
// methods of other types may observe the capacity.
func (r *capacity) move(d *decl, o *types.Var, of types.Type, view bool) fate {
	if o == nil || types.IsInterface(o.Type()) && !isBuffer(of) && !types.IsInterface(of) {
		return r.lost()
	}
	r.follow(d, o, view)
	return moves
}

func (r *capacity) lost() fate {
	r.bad = true
	return uses
}

// runsHere reports whether the declared function runs the last of the nodes, directly or in
// literals that it calls or defers.
func (d *decl) runsHere(stack []ast.Node) bool {
	return !slices.ContainsFunc(stack, func(n ast.Node) bool { _, is := n.(*ast.GoStmt); return is }) && d.atOnce(stack)
}

// assign follows the value into the variable to which it is assigned.
func (r *capacity) assign(d *decl, stack []ast.Node, v *types.Var, view bool) fate {
	info, e := d.info(), stack[len(stack)-1].(ast.Expr)
	a := stack[len(stack)-2].(*ast.AssignStmt)
	if slices.Contains(a.Lhs, e) {
		return sets
	}
	n := slices.Index(a.Rhs, e)
	if n < 0 || !d.runsHere(stack) || len(a.Lhs) != len(a.Rhs) && len(a.Rhs) != 1 {
		return r.lost()
	}
	to := ast.Unparen(a.Lhs[n])
	if star, ok := to.(*ast.StarExpr); ok {
		to = ast.Unparen(star.X)
	}
	id, ok := to.(*ast.Ident)
	if !ok {
		return r.lost()
	}
	if id.Name == "_" {
		return sets
	}
	o, _ := info.Defs[id].(*types.Var)
	if o == nil {
		o, _ = info.Uses[id].(*types.Var)
	}
	switch {
	case o == v && v != nil: // its next state
		if d.emptiesItself(a, v) {
			return sets
		}
		return uses
	case o == nil || v == nil && a.Tok != token.DEFINE && isPackageVariable(o):
		return r.lost()
	case r.seen[o] && !view: // back to its origin
		return sets
	}
	return r.move(d, o, info.TypeOf(e), view)
}

// emptiesItself reports whether an assignment empties the slice in a variable.
func (d *decl) emptiesItself(a *ast.AssignStmt, v *types.Var) bool {
	s, ok := ast.Unparen(a.Rhs[0]).(*ast.SliceExpr)
	return ok && len(a.Rhs) == 1 && d.isEmptied(s) && d.uses(s.X, v)
}

// returned follows a result to the calls of a function that obtained the value itself;
// callers follow their own arguments.
func (r *capacity) returned(d *decl, stack []ast.Node, view bool) fate {
	f, _ := d.object().(*types.Func)
	if f == nil || f.Signature().Results().Len() != 1 || slices.ContainsFunc(stack, isLit) {
		return r.lost()
	}
	of := d.info().TypeOf(stack[len(stack)-1].(ast.Expr))
	if types.IsInterface(f.Signature().Results().At(0).Type()) && !isBuffer(of) && !types.IsInterface(of) {
		return r.lost()
	}
	if r.from[f] {
		return uses
	}
	r.from[f] = true
	if d.kind == "method" && r.p.mayBeHeld(d) {
		return r.lost()
	}
	r.p.mentions(f, func(m *decl, stack []ast.Node) {
		i := len(stack) - 1
		if s, ok := stack[i-1].(*ast.SelectorExpr); ok && s.Sel == stack[i] {
			i--
		}
		if call, ok := stack[i-1].(*ast.CallExpr); ok && call.Fun == stack[i] {
			r.flow(m, slices.Clone(stack[:i]), nil, view)
			return
		}
		r.bad = true
	})
	return uses
}

// method follows the value, the last of the nodes, into a method called on it. It reports
// whether the result also has old capacity, and whether it is a part of a buffer.
func (r *capacity) method(d *decl, stack []ast.Node, view bool) (goOn, isView bool) {
	info := d.info()
	i := len(stack) - 2
	s := stack[i].(*ast.SelectorExpr)
	call, ok := stack[max(i-1, 0)].(*ast.CallExpr)
	sel := info.Selections[s]
	if !ok || call.Fun != s || sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) != 1 {
		r.bad = true
		return false, false
	}
	f := origin(sel.Obj()).(*types.Func)
	if of := info.TypeOf(s.X); isBuffer(of) || types.IsInterface(of) {
		whole := f.Name() == "ReadFrom" && r.noneOf("Read") || f.Name() == "WriteTo" && r.noneOf("Write")
		r.bad = r.bad || !bufferMethods[f.Name()] && (!whole || !isBuffer(of))
		return f.Name() == "Bytes" || f.Name() == "Next", true
	}
	m := r.p.declOf(f)
	if m == nil || m.function().Body == nil {
		r.bad = true
		return false, false
	}
	r.given(m, f, f.Signature().Recv(), view)
	results := f.Signature().Results()
	return results.Len() == 1 && hasSpace(results.At(0).Type()), view
}

// noneOf reports whether no method of the program with a name has a parameter of bytes.
func (r *capacity) noneOf(name string) bool {
	return !slices.ContainsFunc(r.p.indexed().methods[name], func(m *decl) bool {
		f, ok := m.object().(*types.Func)
		if !ok || f.Signature().Params().Len() != 1 {
			return !ok
		}
		list, ok := core(f.Signature().Params().At(0).Type()).(*types.Slice)
		return ok && types.Identical(list.Elem().Underlying(), types.Typ[types.Byte])
	})
}

// given follows a parameter of a function of the program.
func (r *capacity) given(m *decl, f *types.Func, v *types.Var, view bool) {
	if v == nil || v.Name() == "_" || v.Name() == "" {
		return
	}
	r.from[f] = true
	r.follow(m, v, view)
}

// argument follows the value into a called function, and reports whether the result also
// has old capacity.
func (r *capacity) argument(d *decl, call *ast.CallExpr, e ast.Expr, view bool) (goOn bool, what fate) {
	info := d.info()
	n := slices.Index(call.Args, e)
	fun := info.Types[ast.Unparen(call.Fun)]
	switch {
	case call.Fun == e: // Get, or a method that was followed
		return true, uses
	case n < 0:
		return false, r.lost()
	case fun.IsType():
		return r.converted(info.TypeOf(call), info.TypeOf(e))
	case fun.IsBuiltin():
		switch {
		case isBuiltin(info, call, "append"):
			if n == 0 && view {
				return false, r.lost()
			}
			return n == 0, uses
		case isBuiltin(info, call, "len"):
			return false, sets
		case isBuiltin(info, call, "copy", "clear"):
			return false, uses
		}
		return false, r.lost()
	case isPoolPut(info, call):
		return false, sets
	}
	f := staticCallee(info, call)
	switch {
	case f == nil || f.Pkg() == nil || isMethodExpression(info, call):
		return false, r.lost()
	case std.Has(f.Pkg().Path()):
		return r.library(d, call, f, n, view)
	case isEngine(f.Pkg().Path()):
		return false, uses // it copies the value
	}
	m := r.p.declOf(f)
	params := f.Signature().Params()
	if m == nil || m.function() == nil || m.function().Body == nil || n >= params.Len() || f.Signature().Variadic() && n == params.Len()-1 {
		return false, r.lost()
	}
	of := info.TypeOf(e)
	if types.IsInterface(params.At(n).Type()) && !isBuffer(of) && !types.IsInterface(of) {
		return false, r.lost()
	}
	r.given(m, f, params.At(n), view)
	results := f.Signature().Results()
	if results.Len() > 1 && !plain(results) && hasSpace(results.At(0).Type()) {
		return false, r.lost()
	}
	return results.Len() == 1 && hasSpace(results.At(0).Type()), uses
}

// converted follows a conversion: a conversion to a string copies.
func (r *capacity) converted(to, of types.Type) (goOn bool, what fate) {
	switch core(to).(type) {
	case *types.Slice:
		return true, uses
	case *types.Basic, *types.Array:
		return false, uses
	case *types.Interface:
		if isBuffer(of) || types.IsInterface(of) {
			return true, uses
		}
	case *types.Pointer:
		return hasSpace(to), uses
	}
	return false, r.lost()
}

// isPoolPut reports whether a call puts something into a pool.
func isPoolPut(info *types.Info, call *ast.CallExpr) bool {
	f := staticCallee(info, call)
	return f != nil && f.FullName() == "(*sync.Pool).Put"
}

// growing are library functions whose result is the next state of their first argument, in
// addition to those whose names begin with Append.
var growing = map[string]bool{"slices.Grow": true, "slices.Insert": true, "slices.Delete": true, "slices.DeleteFunc": true, "slices.Compact": true, "slices.CompactFunc": true, "slices.Replace": true}

// reading are library packages whose functions read a slice up to its end, if their results
// contain no references.
var reading = []string{"bytes", "slices", "sort", "strings", "strconv", "unicode/utf8", "unicode/utf16", "encoding/", "hash/", "crypto/", "math", "regexp", "fmt", "errors"}

// writing are packages whose functions only write to an io.Writer, and only read from an
// io.Reader.
var writing = []string{"fmt", "encoding/", "image/", "compress/", "archive/", "text/", "html/", "go/", "html", "mime/"}

// library follows the value into a function of the standard library.
func (r *capacity) library(d *decl, call *ast.CallExpr, f *types.Func, n int, view bool) (goOn bool, what fate) {
	of, to := d.info().TypeOf(call.Args[n]), parameterAt(f.Signature(), n)
	if isBuffer(of) || types.IsInterface(of) {
		r.bad = r.bad || !r.writes(f, to)
		return false, uses
	}
	if named, ok := types.Unalias(of).(*types.Named); ok && named.NumMethods() > 0 && types.IsInterface(to) {
		return false, r.lost() // its methods may be called
	}
	grows := strings.HasPrefix(f.Name(), "Append") || growing[f.FullName()] || f.Name() == "Sum" && r.noneOf("Sum")
	switch {
	case n == 0 && grows && !view:
		return true, uses
	case n > 0 && grows, copiesList[f.FullName()], f.FullName() == "encoding/json.Unmarshal" && n == 0:
	case f.Name() == "Write" && n == 0 && f.Signature().Recv() != nil:
		for _, m := range r.written(f) {
			r.given(m, m.object().(*types.Func), m.object().(*types.Func).Signature().Params().At(0), true)
		}
	case f.FullName() == "bytes.NewReader":
		r.bad = r.bad || !r.noneOf("Write")
	case inPackages(reading, f.Pkg().Path()) && plain(f.Signature().Results()):
	default:
		return false, r.lost()
	}
	return false, uses
}

// copiesList are library functions whose result shares only the elements with a slice.
var copiesList = map[string]bool{"slices.Clone": true, "bytes.Clone": true, "slices.Concat": true, "bytes.Join": true, "bytes.ToUpper": true, "bytes.ToLower": true, "slices.Sorted": true}

// written lists the program's methods that may be a method Write.
func (r *capacity) written(f *types.Func) []*decl {
	if types.IsInterface(f.Signature().Recv().Type()) {
		return slices.DeleteFunc(slices.Clone(r.p.implementations(f)), func(m *decl) bool {
			g, ok := m.object().(*types.Func)
			return !ok || g.Signature().Params().Len() != 1
		})
	}
	return nil
}

// plain reports whether results contain no references, except errors.
func plain(results *types.Tuple) bool {
	for v := range results.Variables() {
		if !flat(v.Type(), 0) && v.Type() != types.Universe.Lookup("error").Type() {
			return false
		}
	}
	return true
}

// writes reports whether a library function only writes to a buffer, or only reads from it.
func (r *capacity) writes(f *types.Func, to types.Type) bool {
	path := f.Pkg().Path()
	switch {
	case isBuffer(to):
		return path == "encoding/json"
	case to == nil || !types.IsInterface(to):
		return false
	case to.String() == "io.Writer":
		switch f.FullName() {
		case "io.WriteString", "io.MultiWriter", "io.TeeReader":
			return true
		case "io.Copy", "io.CopyN", "io.CopyBuffer", "bufio.NewWriter", "bufio.NewWriterSize":
			return r.noneOf("Read")
		}
		return inPackages(writing, path)
	case to.String() == "io.Reader":
		switch f.FullName() {
		case "io.ReadAll", "io.ReadFull", "io.LimitReader", "bufio.NewScanner", "bufio.NewReader":
			return r.noneOf("Write")
		}
		return r.noneOf("Write") && inPackages(writing, path)
	}
	return false
}

func inPackages(list []string, path string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) })
}

// parameterAt returns the type of the parameter for the n-th argument of a call.
func parameterAt(s *types.Signature, n int) types.Type {
	params := s.Params()
	switch last := params.Len() - 1; {
	case last < 0:
		return nil
	case n >= last && s.Variadic():
		if l, ok := params.At(last).Type().(*types.Slice); ok {
			return l.Elem()
		}
		return params.At(last).Type()
	case n > last:
		return nil
	}
	return params.At(n).Type()
}

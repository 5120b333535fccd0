package source

import (
	"go/ast"
	"go/token"
	"slices"
)

// use says what the innermost expression or statement around the name n of a
// package variable does to it.
func (r *resolver) use(d *decl, n ast.Expr) use {
	u := use{variable: d, at: r.decl.at(n.Pos()), later: r.later(), once: r.once()}
	var child ast.Node = n
	part := false    // child is a part of the variable, not all of it
	address := false // child is a pointer to it, or to a part
	parents := r.stack
	if len(parents) > 0 && parents[len(parents)-1] == ast.Node(n) {
		parents = parents[:len(parents)-1]
	}
	for i := len(parents) - 1; i >= 0; i-- {
		switch p := parents[i].(type) {
		case *ast.ParenExpr:
		case *ast.IndexExpr:
			if p.X != child {
				return u
			}
			part = true
		case *ast.StarExpr:
			part = true
		case *ast.TypeAssertExpr:
			if _, ok := parent(parents, i).(*ast.AssignStmt); ok && p.Type == nil { // switch x := v.(type)
				return u.aliasIf(r.shares(d, part))
			}
		case *ast.SliceExpr:
			if p.X != child {
				return u
			}
		case *ast.SelectorExpr:
			called := isCalled(parents, i)
			if !called && !r.decl.file.pkg.program.isMethod(p.Sel.Name) {
				part = true
				break
			}
			u.kind = r.methodUse(d, p.Sel.Name, called)
			return u
		case *ast.UnaryExpr:
			if p.Op != token.AND || d.madeToShare() {
				return u
			}
			address, part = true, false
		case *ast.AssignStmt:
			u.kind = r.assignUse(p, child, address || r.shares(d, part))
			return u
		case *ast.IncDecStmt:
			u.kind = writes
			return u
		case *ast.SendStmt:
			if p.Chan == child {
				u.kind = writes
				return u
			}
			return u.aliasIf(address || r.shares(d, part))
		case *ast.RangeStmt:
			if (p.Key == child || p.Value == child) && p.Tok == token.ASSIGN {
				u.kind = writes
				return u
			}
			return u.aliasIf(p.X == child && p.Value != nil && r.shares(d, true))
		case *ast.CallExpr:
			u.kind = r.callUse(p, child, address, r.shares(d, part))
			return u
		case *ast.ReturnStmt:
			if address { // whoever calls may write by it
				u.kind = writes
				return u
			}
			return u.aliasIf(r.shares(d, part))
		case *ast.CompositeLit, *ast.KeyValueExpr, *ast.ValueSpec:
			return u.aliasIf(address || r.shares(d, part))
		default:
			return u
		}
		child = parents[i]
	}
	return u
}

// assignUse says what an assignment does to a variable that stands in it as
// child; shared says that handing it on lets others write to it.
func (r *resolver) assignUse(s *ast.AssignStmt, child ast.Node, shared bool) useKind {
	for _, left := range s.Lhs {
		if left == child {
			if s.Tok == token.DEFINE {
				return reads
			}
			return writes
		}
	}
	switch {
	case !shared:
		return reads
	case r.writesAlias(s, child):
		return writes
	}
	return aliases
}

// callUse says what a call does to a variable that is child: what is called, or
// an argument.
func (r *resolver) callUse(c *ast.CallExpr, child ast.Node, address, shared bool) useKind {
	switch {
	case c.Fun == child:
		return reads
	case address: // that is what pointers are handed over for
		return writes
	}
	switch r.builtin(c) {
	case "delete", "clear", "copy":
		if len(c.Args) > 0 && c.Args[0] == child {
			return writes
		}
		return reads
	case "len", "cap", "min", "max", "print", "println", "panic":
		return reads
	}
	if shared {
		return aliases
	}
	return reads
}

func isCalled(stack []ast.Node, i int) bool {
	call, ok := parent(stack, i).(*ast.CallExpr)
	return ok && call.Fun == stack[i]
}

// methodUse says what naming a method of a variable, or of a part of it, can
// do: one that is not known here, or known to write to what it is called on,
// writes.
func (r *resolver) methodUse(d *decl, name string, called bool) useKind {
	p := r.decl.file.pkg.program
	switch {
	case d.madeToShare() || r.harmless(d) && !d.ownType():
		return reads
	case !p.isMethod(name):
		return writes // of a type of another module, or a field that is a function
	case called && p.mutators[name]:
		return writes
	}
	return aliases
}

// writesAlias reports whether a local variable that is given (a part of) a
// package variable is written to in the same declaration.
func (r *resolver) writesAlias(s *ast.AssignStmt, from ast.Node) bool {
	var local *ast.Object
	for i, right := range s.Rhs {
		if id, ok := s.Lhs[min(i, len(s.Lhs)-1)].(*ast.Ident); ok && right == from {
			local = id.Obj
		}
	}
	return local != nil && writesTo(r.decl.node, local)
}

// writesTo reports whether something is assigned to a part of what a local
// variable stands for.
func writesTo(n ast.Node, local *ast.Object) bool {
	found := false
	check := func(e ast.Expr) {
		if id, part := base(e); id != nil && part && id.Obj == local {
			found = true
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				check(left)
			}
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") {
				check(&ast.ParenExpr{X: &ast.StarExpr{X: n.Args[0]}})
			}
		}
		return !found
	})
	return found
}

// base is the variable that an expression is, or is a part of.
func base(e ast.Expr) (id *ast.Ident, part bool) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x, part
		case *ast.IndexExpr:
			e, part = x.X, true
		case *ast.SelectorExpr:
			e, part = x.X, true
		case *ast.StarExpr:
			e, part = x.X, true
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil, false
		}
	}
}

// shares reports whether handing on a variable, or a part of it, lets others
// write to it.
func (r *resolver) shares(d *decl, part bool) bool {
	if r.harmless(d) {
		return false
	}
	return !part || !d.flatParts()
}

func (u use) aliasIf(yes bool) use {
	if yes {
		u.kind = aliases
	}
	return u
}

func parent(stack []ast.Node, i int) ast.Node {
	if i == 0 {
		return nil
	}
	return stack[i-1]
}

// builtin is the name of the predeclared function that is called, or "".
func (r *resolver) builtin(c *ast.CallExpr) string {
	id, ok := c.Fun.(*ast.Ident)
	if !ok || id.Obj != nil || r.decl.file.pkg.scope[id.Name] != nil {
		return ""
	}
	return id.Name
}

// later reports whether the place is within a function literal that may be
// called at any time: not at once, and not once (the Do of a sync.Once).
func (r *resolver) later() bool {
	for i, n := range r.stack {
		if _, ok := n.(*ast.FuncLit); !ok || i == 0 {
			continue
		}
		call, ok := r.stack[i-1].(*ast.CallExpr)
		if !ok || call.Fun != n && !r.isOnce(call) {
			return true
		}
	}
	return false
}

// isOnce reports whether a function that is an argument of the call is called
// once: by a sync.Once, as far as its declaration shows that it is one.
func (r *resolver) isOnce(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "OnceFunc", "OnceValue", "OnceValues":
		return slices.Contains(r.decl.file.imports[x.Name], "sync")
	case "Do":
		var spec any
		if x.Obj != nil {
			spec = x.Obj.Decl
		} else if d := r.decl.file.pkg.scope[x.Name]; d != nil {
			spec = d.node
		}
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			return false
		}
		t, ok := v.Type.(*ast.SelectorExpr)
		return ok && qualifiedName(t) == "sync.Once"
	}
	return false
}

// once reports whether the place is within a literal that is called once.
func (r *resolver) once() bool {
	for i, n := range r.stack {
		if _, ok := n.(*ast.FuncLit); ok && i > 0 {
			if call, ok := r.stack[i-1].(*ast.CallExpr); ok && call.Fun != n && r.isOnce(call) {
				return true
			}
		}
	}
	return false
}

// called reports whether the expression on top of the stack is called then and
// there, or once.
func (r *resolver) called(n ast.Expr) (called, once bool) {
	if r.later() {
		return false, false
	}
	var child ast.Node = n
	for i := len(r.stack) - 1; i >= 0; i-- {
		switch p := r.stack[i].(type) {
		case *ast.CallExpr:
			return p.Fun == child || r.isOnce(p), p.Fun != child && r.isOnce(p)
		case *ast.IndexExpr, *ast.IndexListExpr, *ast.ParenExpr:
			child = p
		default:
			if p != ast.Node(n) {
				return false, false
			}
		}
	}
	return false, false
}

// harmless reports whether a variable cannot be written by another name for
// it: it is a number, a text, a function, an error, or of a type that is made
// for being shared.
func (r *resolver) harmless(d *decl) bool {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok {
		return false
	}
	if s.Type != nil {
		return d.harmlessType(s.Type)
	}
	for _, v := range s.Values {
		if !d.harmlessValue(v) {
			return false
		}
	}
	return len(s.Values) > 0
}

// shareable are names of other packages whose values nobody writes to.
var shareable = map[string]bool{
	"errors.New": true, "fmt.Errorf": true, "regexp.MustCompile": true, "time.Duration": true, "regexp.Regexp": true,
	"sync.Mutex": true, "sync.RWMutex": true, "sync.Once": true, "sync.OnceValue": true, "sync.OnceFunc": true, "sync.OnceValues": true,
	"source.Register": true, "embed.FS": true, "reflect.TypeFor": true, "reflect.TypeOf": true, "strings.NewReplacer": true,
	"lazy.Func0": true, "lazy.Func1": true, "lazy.Func2": true, "lazy.Func3": true, "lazy.Func4": true, "lazy.Func5": true, "lazy.FuncN": true,
}

func (d *decl) harmlessType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "string", "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune",
			"float32", "float64", "complex64", "complex128", "uintptr", "error":
			return d.file.pkg.scope[e.Name] == nil
		}
		if t := d.file.pkg.scope[e.Name]; t != nil && t.kind == "type" {
			switch u := t.node.(*ast.TypeSpec).Type.(type) {
			case *ast.Ident:
				return t != d && u.Name != e.Name && t.harmlessType(u)
			case *ast.FuncType:
				return true
			}
		}
	case *ast.FuncType:
		return true
	case *ast.StarExpr:
		return d.harmlessType(e.X) && isSelector(e.X)
	case *ast.SelectorExpr:
		return shareable[qualifiedName(e)]
	}
	return false
}

// madeToShare reports whether a variable is of a type whose values are used by
// many: a mutex, an error, a regular expression.
func (d *decl) madeToShare() bool {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok {
		return false
	}
	if t, ok := s.Type.(*ast.SelectorExpr); ok {
		return shareable[qualifiedName(t)]
	}
	return s.Type == nil && len(s.Values) > 0 && !slices.ContainsFunc(s.Values, func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return true
		}
		f := call.Fun
		if i, ok := f.(*ast.IndexExpr); ok {
			f = i.X
		}
		sel, ok := f.(*ast.SelectorExpr)
		return !ok || !shareable[qualifiedName(sel)]
	})
}

// ownType reports whether a variable is of a type of its package, which may
// have methods.
func (d *decl) ownType() bool {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok {
		return true
	}
	own := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && d.file.pkg.scope[id.Name] != nil && d.file.pkg.scope[id.Name].kind == "type"
	}
	if s.Type != nil {
		return own(s.Type)
	}
	return slices.ContainsFunc(s.Values, func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && own(call.Fun)
	})
}

func isSelector(e ast.Expr) bool {
	_, ok := e.(*ast.SelectorExpr)
	return ok
}

func qualifiedName(e *ast.SelectorExpr) string {
	if id, ok := e.X.(*ast.Ident); ok {
		return id.Name + "." + e.Sel.Name
	}
	return ""
}

func (d *decl) harmlessValue(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.FuncLit:
		return true
	case *ast.BinaryExpr:
		return d.harmlessValue(e.X) && d.harmlessValue(e.Y)
	case *ast.UnaryExpr:
		return e.Op != token.AND && d.harmlessValue(e.X)
	case *ast.ParenExpr:
		return d.harmlessValue(e.X)
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false" || d.constant(e.Name)
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.SelectorExpr:
			return shareable[qualifiedName(f)]
		case *ast.IndexExpr:
			s, ok := f.X.(*ast.SelectorExpr)
			return ok && shareable[qualifiedName(s)]
		case *ast.Ident:
			return d.harmlessType(f) && len(e.Args) == 1 && d.harmlessValue(e.Args[0])
		}
	}
	return false
}

func (d *decl) constant(name string) bool {
	c := d.file.pkg.scope[name]
	return c != nil && (c.kind == "const" || c.kind == "func")
}

// flatParts reports whether the elements or fields of a variable are values
// without anything in them that could be shared.
func (d *decl) flatParts() bool {
	s, ok := d.node.(*ast.ValueSpec)
	if !ok {
		return false
	}
	t := s.Type
	if t == nil && len(s.Values) == 1 && len(s.Names) == 1 {
		t = typeOfValue(s.Values[0])
	}
	return t != nil && d.flatElements(t, 0)
}

// typeOfValue is the type that a value shows, or nil.
func typeOfValue(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return e.Type
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "make" && len(e.Args) > 0 {
			return e.Args[0]
		}
	}
	return nil
}

const maxTypeDepth = 8

func (d *decl) flatElements(t ast.Expr, depth int) bool {
	if depth > maxTypeDepth {
		return false
	}
	switch t := t.(type) {
	case *ast.ArrayType:
		return d.flat(t.Elt, depth+1)
	case *ast.MapType:
		return d.flat(t.Value, depth+1)
	case *ast.StructType:
		return d.flat(t, depth+1)
	case *ast.Ident:
		if u := d.file.pkg.scope[t.Name]; u != nil && u.kind == "type" {
			return u.flatElements(u.node.(*ast.TypeSpec).Type, depth+1)
		}
	}
	return false
}

// flat reports whether values of a type share nothing when they are copied.
func (d *decl) flat(t ast.Expr, depth int) bool {
	if depth > maxTypeDepth {
		return false
	}
	switch t := t.(type) {
	case *ast.Ident:
		if d.harmlessType(t) {
			return true
		}
		u := d.file.pkg.scope[t.Name]
		return u != nil && u.kind == "type" && u.flat(u.node.(*ast.TypeSpec).Type, depth+1)
	case *ast.SelectorExpr:
		return shareable[qualifiedName(t)]
	case *ast.FuncType:
		return true
	case *ast.ArrayType:
		return t.Len != nil && d.flat(t.Elt, depth+1)
	case *ast.StructType:
		for _, f := range t.Fields.List {
			if !d.flat(f.Type, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// mutates reports whether a method writes to what it is called on, as far as
// its body shows: it assigns to a part of it, or calls a method of a part.
func mutates(f *ast.FuncDecl) bool {
	if f.Body == nil || len(f.Recv.List) == 0 || len(f.Recv.List[0].Names) == 0 {
		return f.Body == nil
	}
	return writesTo(f.Body, f.Recv.List[0].Names[0].Obj)
}

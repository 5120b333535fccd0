package source

import (
	"go/ast"
	"go/token"
)

// use says what the innermost expression or statement around the name n of a
// package variable does to it.
func (r *resolver) use(d *decl, n ast.Expr) use {
	u := use{variable: d, at: r.decl.at(n.Pos()), later: r.later()}
	var child ast.Node = n
	part := false // child is a part of the variable, not all of it
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
		case *ast.SliceExpr:
			if p.X != child {
				return u
			}
		case *ast.SelectorExpr:
			if call, ok := parent(parents, i).(*ast.CallExpr); ok && call.Fun == p {
				// A method can write to what it is called on.
				if !part && !r.harmless(d) {
					u.kind = aliases
				}
				return u
			}
			part = true
		case *ast.UnaryExpr:
			if p.Op == token.AND {
				u.kind = aliases
			}
			return u
		case *ast.AssignStmt:
			for _, left := range p.Lhs {
				if left == child {
					if p.Tok != token.DEFINE {
						u.kind = writes
					}
					return u
				}
			}
			return u.aliasIf(!part && !r.harmless(d))
		case *ast.IncDecStmt:
			u.kind = writes
			return u
		case *ast.SendStmt:
			if p.Chan == child {
				u.kind = writes
				return u
			}
			return u.aliasIf(!part && !r.harmless(d))
		case *ast.RangeStmt:
			if (p.Key == child || p.Value == child) && p.Tok == token.ASSIGN {
				u.kind = writes
			}
			return u
		case *ast.CallExpr:
			if p.Fun == child {
				return u
			}
			switch r.builtin(p) {
			case "delete", "clear", "copy":
				if len(p.Args) > 0 && p.Args[0] == child {
					u.kind = writes
				}
				return u
			case "len", "cap", "min", "max", "print", "println", "panic":
				return u
			case "append":
				return u.aliasIf(p.Args[0] == child && !r.harmless(d))
			}
			return u.aliasIf(!part && !r.harmless(d))
		case *ast.ReturnStmt, *ast.CompositeLit, *ast.KeyValueExpr, *ast.ValueSpec:
			return u.aliasIf(!part && !r.harmless(d))
		default:
			return u
		}
		child = parents[i]
	}
	return u
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
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if call.Fun != n && (!ok || sel.Sel.Name != "Do") {
			return true
		}
	}
	return false
}

// called reports whether the expression on top of the stack is called then and
// there.
func (r *resolver) called(n ast.Expr) bool {
	if r.later() {
		return false
	}
	var child ast.Node = n
	for i := len(r.stack) - 1; i >= 0; i-- {
		switch p := r.stack[i].(type) {
		case *ast.CallExpr:
			return p.Fun == child
		case *ast.IndexExpr, *ast.IndexListExpr, *ast.ParenExpr:
			child = p
		default:
			if p != ast.Node(n) {
				return false
			}
		}
	}
	return false
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

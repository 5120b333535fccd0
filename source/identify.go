package source

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strings"
)

// ErrNotRegistered is returned for a function of a package that does not
// register its sources.
var ErrNotRegistered = errors.New("source: the package does not register its sources")

// Declared is what the author of a function says of it.
type Declared struct {
	// Pure is as in [Options].
	Pure []string
	// Captured names the variables that a function literal captures and whose
	// values are part of the key by other means.
	Captured []string
}

// Identify returns the closure of a function. It fails with ErrNotRegistered,
// or with a *RefusalError that says what the function reaches and on which
// way.
func Identify(f Function, by Declared) (*Closure, error) {
	p, err := loaded()
	if err != nil {
		return nil, err
	}
	return p.identify(f, by)
}

func (p *program) identify(f Function, by Declared) (*Closure, error) {
	k := p.packages[f.Package]
	if k == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotRegistered, f.Package)
	}
	d, err := k.find(f, by)
	if err != nil {
		return nil, fmt.Errorf("source: %s (%s:%d): %w", f.Name(), f.File, f.Line, err)
	}
	return p.closure(root{decl: d, types: signatureOf(f.typ), pure: by.Pure})
}

// signatureOf lists the types that a function is given and gives, but for the
// context and the error that all have.
func signatureOf(t reflect.Type) []reflect.Type {
	var list []reflect.Type
	if t == nil {
		return nil
	}
	for in := range t.Ins() {
		if in != reflect.TypeFor[context.Context]() {
			list = append(list, in)
		}
	}
	for out := range t.Outs() {
		if out != reflect.TypeFor[error]() {
			list = append(list, out)
		}
	}
	return list
}

// find returns the declaration of a function, or one made for a literal.
func (k *pkg) find(f Function, by Declared) (*decl, error) {
	if f.literal() {
		return k.literal(f, by)
	}
	for _, d := range k.decls {
		fn, ok := d.node.(*ast.FuncDecl)
		if !ok || d.symbol(fn) != symbolOf(f.Symbol) {
			continue
		}
		if d.kind == "init" {
			continue
		}
		return d, d.visibleArguments(fn)
	}
	return nil, errors.New("is not in the registered sources: embed all .go files of the package with //go:embed *.go")
}

// symbolOf takes type arguments and pointers out of a symbol.
func symbolOf(s string) string {
	s = strings.NewReplacer("[...]", "", "(*", "", ")", "").Replace(s)
	return s
}

// symbol is the name of a function within its package.
func (d *decl) symbol(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return receiver(f) + "." + f.Name.Name
}

// visibleArguments refuses a generic function of which a type argument does
// not show in the types it is given and gives.
func (d *decl) visibleArguments(f *ast.FuncDecl) error {
	if f.Type.TypeParams == nil {
		return nil
	}
	shown := map[string]bool{}
	for _, list := range []*ast.FieldList{f.Type.Params, f.Type.Results} {
		if list != nil {
			ast.Inspect(list, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					shown[id.Name] = true
				}
				return true
			})
		}
	}
	for _, p := range f.Type.TypeParams.List {
		for _, n := range p.Names {
			if !shown[n.Name] {
				return fmt.Errorf("its type argument %s does not show in its parameters or results: call it from a function literal", n.Name)
			}
		}
	}
	return nil
}

// literal returns a declaration made for a function literal.
func (k *pkg) literal(f Function, by Declared) (*decl, error) {
	var found []*ast.FuncLit
	var around *decl
	for _, d := range k.decls {
		if d.file.name != f.File {
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			if l, ok := n.(*ast.FuncLit); ok && d.file.fset.Position(l.Pos()).Line == f.Line {
				found, around = append(found, l), d
			}
			return true
		})
	}
	switch {
	case len(found) == 0:
		return nil, errors.New("is not in the registered sources: embed all .go files of the package with //go:embed *.go")
	case len(found) > 1:
		return nil, errors.New("is one of several function literals on one line, which cannot be told apart: put each on a line of its own")
	}
	lit := &decl{file: around.file, kind: "literal", names: []string{around.names[0] + ".func"}, node: found[0]}
	captured, local := around.outside(found[0])
	if missing := slices.DeleteFunc(captured, func(n string) bool { return slices.Contains(by.Captured, n) }); len(missing) > 0 {
		return nil, fmt.Errorf("captures %s, which no key covers: pass it as an argument, or declare its value as Captured", strings.Join(missing, ", "))
	}
	if local { // constants or types of the function around it
		lit.resolved()
		lit.targets = append(lit.targets, around)
	}
	return lit, nil
}

// outside lists the variables that a literal takes from the function around
// it, and reports whether it takes other names from there.
func (d *decl) outside(lit *ast.FuncLit) (captured []string, local bool) {
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || id.Obj == nil || d.file.syntax.Scope.Lookup(id.Name) == id.Obj {
			return true
		}
		if p := id.Obj.Pos(); p >= lit.Pos() && p < lit.End() {
			return true
		}
		switch id.Obj.Kind {
		case ast.Var:
			if !slices.Contains(captured, id.Name) {
				captured = append(captured, id.Name)
			}
		case ast.Con, ast.Typ:
			local = true
		}
		return true
	})
	return captured, local
}

package analysis

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// ErrNotRegistered is returned for a function of an unregistered package.
var ErrNotRegistered = errors.New("codeid: the package does not register its sources")

// Declared holds what the author of a function declares.
type Declared struct {
	// Pure is like [Options.Pure].
	Pure []string
	// Captured names variables that a function literal captures and whose values are part
	// of the key by other means.
	Captured []string
	// Maker reports that the function is a literal that depends on the arguments of its
	// enclosing function: that function identifies it, and captured values are part of the
	// key by other means.
	Maker bool
	// Values reports that values that arrive through interfaces are identified by other
	// means, and that results are treated as interfaces.
	Values bool
	// Given is how many functions arrive as separately identified values. If more may
	// arrive, or a value may hold any number, the whole program identifies the function.
	Given int
	// Through lists the packages of Larder that pass samples to the function, which makes
	// it a component: their code counts as well.
	Through []string
}

// Identify returns the closure of a function. It fails with ErrNotRegistered, or with a
// *RefusalError that tells what the function reaches and on which path.
func Identify(f Function, by Declared) (*Closure, error) {
	defer letGoLater()
	p, err := loaded(f.Package)
	if err != nil {
		return nil, err
	}
	noteStarted(f, by)
	return p.identify(f, by)
}

func (p *parsedProgram) identify(f Function, by Declared) (c *Closure, err error) {
	p.identifying.Lock()
	defer p.identifying.Unlock()
	defer func() {
		if r := recover(); r != nil {
			p.fails(r)
		}
		if p.broken != "" { // the analysis may be incomplete
			c, err = nil, &RefusalError{Function: f.Name(), Reasons: []string{p.broken}, Fix: "please report it"}
		}
	}()
	k := p.packages[f.Package]
	if k == nil || k.also {
		return nil, fmt.Errorf("%w: %s", ErrNotRegistered, f.Package)
	}
	if same := namesakeIn(f.typ); same != nil {
		return nil, &RefusalError{
			Function: f.Name(), Reasons: []string{fmt.Sprintf("has a parameter or result of type %v, which is declared in a function and is indistinguishable from another type of the same name", same)},
			Fix: "declare types outside of functions, or give them unique names",
		}
	}
	r, err := k.find(f, by)
	if err != nil {
		return nil, fmt.Errorf("codeid: %s (%s:%d): %w", f.Name(), f.File, f.Line, err)
	}
	r.pure, r.values, r.through = by.Pure, by.Values, by.Through
	switch own := ofLarder(f.Package); {
	case own && r.gets <= by.Given:
		r.unseen = nil // Larder's own are written so that these are the same
	case !own && r.creation != nil && r.given > 0 && r.given != by.Given:
		return nil, fmt.Errorf("codeid: %s (%s:%d): Given is %d, but %d functions are named next to it; name each function that it receives once", f.Name(), f.File, f.Line, by.Given, r.given)
	}
	if f.typ != nil && r.made == nil {
		r.types = parametersOf(f.typ)
		r.results = slices.Collect(f.typ.Outs())
	}
	p.starts(r.decl)
	return p.closure(r)
}

// fails records that the analysis of the program panicked.
func (p *parsedProgram) fails(with any) {
	p.broken = fmt.Sprintf("what Larder itself fails to understand (%v)", with)
}

// starts records that unseen code calls a function.
func (p *parsedProgram) starts(d *decl) {
	o := d.object()
	if o == nil || len(p.indexed().mentioned[o]) > 0 || p.roots[o] {
		return
	}
	p.roots[o] = true
	p.verdicts.forget()
}

// parametersOf lists the parameter types of a function, without the context that all have.
func parametersOf(t reflect.Type) []reflect.Type {
	var list []reflect.Type
	if t == nil {
		return nil
	}
	for in := range t.Ins() {
		if in != reflect.TypeFor[context.Context]() {
			list = append(list, in)
		}
	}
	return list
}

// errNotThere is returned for a function that is missing in the sources.
var errNotThere = errors.New("is not in the registered sources: embed all .go files of the package with //go:embed *.go")

// find returns the declaration of a function, or one made for a literal.
func (k *pkg) find(f Function, by Declared) (root, error) {
	if f.literal() {
		return k.literal(f, by)
	}
	symbol := symbolOf(f.Symbol)
	for _, d := range k.decls {
		if fn := d.function(); fn != nil && d.kind != "init" && d.symbol() == symbol {
			return root{decl: d}, d.visibleArguments(fn.Type)
		}
	}
	if d := k.promoted(symbol); d != nil {
		return root{decl: d}, nil
	}
	return root{}, errNotThere
}

// promoted returns a declaration made for a promoted method, or for a method of an
// interface.
func (k *pkg) promoted(symbol string) *decl {
	typ, method, ok := strings.Cut(symbol, ".")
	t := k.scope[typ]
	if !ok || t == nil || t.kind != "type" {
		return nil
	}
	o := k.info.Defs[t.typeName()]
	if o == nil {
		return nil
	}
	m, _, _ := types.LookupFieldOrMethod(o.Type(), true, k.checked, method)
	f, ok := m.(*types.Func)
	if !ok {
		return nil
	}
	d := &decl{file: t.file, kind: "method value", names: []string{typ + "." + method}, node: t.node}
	d.resolved()
	d.targets = append(d.targets, t)
	if target := k.program.declOf(f.Origin()); target != nil {
		d.targets = append(d.targets, target)
	} else {
		newResolver(d).object(f, t.typeName())
		d.digest = d.sum(d.stands)
	}
	return d
}

// typeName returns the name in a type declaration.
func (d *decl) typeName() *ast.Ident {
	if s, ok := d.node.(*ast.TypeSpec); ok {
		return s.Name
	}
	return nil
}

// symbolOf removes type arguments and pointers from a symbol.
func symbolOf(s string) string {
	return strings.NewReplacer("[...]", "", "(*", "", ")", "").Replace(s)
}

// symbol returns the name of a function within its package.
func (d *decl) symbol() string {
	if d.recv != nil {
		return d.recv.names[0] + "." + d.names[0]
	}
	return d.names[0]
}

// visibleArguments refuses a generic function with a type argument that is not visible in
// its parameter and result types.
func (d *decl) visibleArguments(f *ast.FuncType) error {
	if f.TypeParams == nil {
		return nil
	}
	for _, p := range f.TypeParams.List {
		for _, n := range p.Names {
			if !d.shows(d.info().Defs[n], f) {
				return fmt.Errorf("its type argument %s does not show in its parameters or results: call it from a function literal", n.Name)
			}
		}
	}
	return nil
}

// shows reports whether a type parameter occurs in the type of a function.
func (d *decl) shows(o types.Object, f *ast.FuncType) bool {
	found := false
	for _, list := range []*ast.FieldList{f.Params, f.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			ast.Inspect(field.Type, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				found = found || ok && d.info().Uses[id] == o
				return !found
			})
		}
	}
	return found
}

// Captures lists the variables that a function literal captures, by its sources, so that an
// author's declaration can be checked even if the code has a version.
func Captures(f Function) ([]string, error) {
	defer letGoLater()
	p, err := loaded(f.Package)
	if err != nil {
		return nil, err
	}
	p.identifying.Lock()
	defer p.identifying.Unlock()
	k := p.packages[f.Package]
	switch {
	case k == nil:
		return nil, fmt.Errorf("%w: %s", ErrNotRegistered, f.Package)
	case !f.literal():
		return nil, nil
	}
	lit, around, err := k.literalAt(f)
	if err != nil {
		return nil, fmt.Errorf("codeid: %s (%s:%d): %w", f.Name(), f.File, f.Line, err)
	}
	var names []string
	for _, v := range around.captures(lit) {
		names = append(names, v.Name())
	}
	return names, nil
}

// literalAt returns a function literal and its declaration.
func (k *pkg) literalAt(f Function) (lit *ast.FuncLit, around *decl, err error) {
	var found []*ast.FuncLit
	for _, d := range k.decls {
		if d.file.name != f.File {
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			if l, ok := n.(*ast.FuncLit); ok && d.file.fset.Position(l.Pos()).Line == f.Line && (f.typ == nil || k.fits(l, f.typ)) {
				found, around = append(found, l), d
			}
			return true
		})
	}
	switch {
	case len(found) == 0:
		return nil, nil, errNotThere
	case len(found) > 1:
		return nil, nil, errors.New("is one of several function literals on one line; put each on its own line")
	}
	return found[0], around, nil
}

// literal returns a declaration made for a function literal.
func (k *pkg) literal(f Function, by Declared) (root, error) {
	found, around, err := k.literalAt(f)
	if err != nil {
		return root{}, err
	}
	captured := around.captures(found)
	if by.Maker && len(captured) > 0 {
		return around.maker(found)
	}
	lit := &decl{file: around.file, kind: "literal", names: []string{around.names[0] + ".func"}, node: found, pragmas: around.pragmas}
	r := root{decl: lit}
	for _, v := range captured {
		if !slices.Contains(by.Captured, v.Name()) {
			return root{}, fmt.Errorf("captures %s, which no key covers: pass it as an argument, or declare its value as Captured", v.Name())
		}
		if around.changesLater(v, found) {
			return root{}, fmt.Errorf("captures %s, which is assigned later, so its value may differ from the one declared as Captured; capture a variable that is assigned once", v.Name())
		}
		r.captured = append(r.captured, v.Type())
	}
	lit.resolved()
	if err := around.instances(found); err != nil {
		return root{}, err
	}
	if around.takesNames(found) { // constants or types of the enclosing function
		lit.targets = append(lit.targets, around)
	}
	return r, nil
}

// instances refuses a literal that depends on type arguments of the enclosing function, or
// of its receiver, which its own types do not show.
func (d *decl) instances(lit *ast.FuncLit) error {
	f, ok := d.object().(*types.Func)
	if !ok || !isGeneric(f.Signature()) {
		return nil
	}
	for _, list := range []*types.TypeParamList{f.Signature().TypeParams(), f.Signature().RecvTypeParams()} {
		for p := range list.TypeParams() {
			if d.uses(lit, p.Obj()) && !d.shows(p.Obj(), lit.Type) {
				return fmt.Errorf("depends on the type argument %s, which does not show in its parameters or results", p.Obj().Name())
			}
		}
	}
	if d.takesNames(lit) {
		return errors.New("depends on a declaration in a generic function, whose type arguments are unknown; move the declaration out of it")
	}
	return nil
}

// changesLater reports whether a variable may be assigned after a literal captured it:
// after the literal, in a literal, or in a loop around both.
func (d *decl) changesLater(v *types.Var, lit *ast.FuncLit) (later bool) {
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[id] != v || !assigned(stack) {
			return true
		}
		later = later || id.Pos() > lit.Pos()
		for _, n := range stack[:len(stack)-1] {
			switch n.(type) {
			case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
				later = later || v.Pos() < n.Pos() && (n.Pos() < lit.Pos() && lit.End() <= n.End() || isLit(n))
			}
		}
		return true
	})
	return later
}

func isLit(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok }

// fits reports whether a literal has the same number of parameters and results as a
// function.
func (k *pkg) fits(l *ast.FuncLit, t reflect.Type) bool {
	s, ok := k.info.TypeOf(l).(*types.Signature)
	return !ok || s.Params().Len() == t.NumIn() && s.Results().Len() == t.NumOut()
}

// uses reports whether an object is named below n.
func (d *decl) uses(n ast.Node, o types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && d.info().Uses[id] == o
		return !found
	})
	return found
}

// takesNames reports whether a literal names constants or types of the enclosing function.
func (d *decl) takesNames(lit *ast.FuncLit) bool {
	found := false
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := d.info().Uses[id].(type) {
		case *types.Const, *types.TypeName:
			_, isParam := types.Unalias(o.Type()).(*types.TypeParam)
			if o.Pkg() != nil && o.Parent() != o.Pkg().Scope() && (o.Pos() < lit.Pos() || o.Pos() >= lit.End()) && !isParam {
				found = true
			}
		}
		return true
	})
	return found
}

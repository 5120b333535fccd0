package analysis

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"sync"

	"github.com/larder-data/larder/key"
)

// declareInputs finds the variables to which the pointers in [codeid.Options] point, by their
// names in the sources.
func (p *parsedProgram) declareInputs(registered []*registration) error {
	for _, r := range registered {
		if len(r.options.Inputs) == 0 {
			continue
		}
		k := p.packages[r.path]
		if k == nil {
			continue // declares none
		}
		names := k.inputNames()
		if len(names) != len(r.options.Inputs) {
			return fmt.Errorf("codeid: package %s: the Inputs of codeid.Register must be written there, as []any{&variable, ...}", r.path)
		}
		for i, pointer := range r.options.Inputs {
			v := reflect.ValueOf(pointer)
			if v.Kind() != reflect.Pointer || v.IsNil() || names[i] == nil {
				return fmt.Errorf("codeid: package %s: input %d of codeid.Register is not a pointer to a package variable; write &variable", r.path, i)
			}
			p.inputs[names[i]] = Input{Name: names[i].Pkg().Path() + "." + names[i].Name(), Package: r.path, Index: i}
		}
	}
	return nil
}

// inputNames lists the variables in the Inputs of a package's call of Register.
func (k *pkg) inputNames() []*types.Var {
	var list []*types.Var
	for _, d := range k.decls {
		if d.kind != "var" {
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			id, ok := kv.Key.(*ast.Ident)
			f, isField := k.info.Uses[id].(*types.Var)
			if !ok || id.Name != "Inputs" || !isField || f.Pkg() == nil || f.Pkg().Path() != engine+"/codeid" {
				return true
			}
			if lit, ok := kv.Value.(*ast.CompositeLit); ok {
				for _, e := range lit.Elts {
					list = append(list, k.pointed(e))
				}
			}
			return false
		})
	}
	return list
}

// pointed returns the package variable v of an expression &v, or nil.
func (k *pkg) pointed(e ast.Expr) *types.Var {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if !ok {
		return nil
	}
	var o types.Object
	switch x := ast.Unparen(u.X).(type) {
	case *ast.Ident:
		o = k.info.Uses[x]
	case *ast.SelectorExpr:
		o = k.info.Uses[x.Sel]
	}
	v, ok := o.(*types.Var)
	if !ok || v.IsField() || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

// An Input is a package variable whose value is part of keys.
type Input struct {
	Name    string // "example.com/m/pkg.Limit"
	Package string // the package that declares it as an input
	Index   int    // in the Inputs of that package
}

// Digest returns the digest of the current value of the variable.
func (in Input) Digest() (key.Digest, error) {
	v, err := in.value()
	if err != nil {
		return key.Digest{}, err
	}
	d, err := key.Of(v)
	if err != nil {
		return d, fmt.Errorf("codeid: the value of package variable %s: %w", in.Name, err)
	}
	return d, nil
}

// remembered has the inputs of this process, by name.
var remembered sync.Map // of Input

// Remember makes the input known to [DigestInput].
func (in Input) Remember() { remembered.Store(in.Name, in) }

// DigestInput returns the digest of the current value of a remembered input.
func DigestInput(name string) (key.Digest, error) {
	in, ok := remembered.Load(name)
	if !ok {
		return key.Digest{}, fmt.Errorf("codeid: package variable %s is not an input of a function of this program", name)
	}
	return in.(Input).Digest()
}

// value returns the current value of the variable.
func (in Input) value() (any, error) {
	p := known(in.Package)
	if p == nil || in.Index >= len(p.options.Inputs) {
		return nil, fmt.Errorf("codeid: package %s declares no input %s", in.Package, in.Name)
	}
	return reflect.ValueOf(p.options.Inputs[in.Index]).Elem().Interface(), nil
}

// AdmitsInput returns an error if the current value of an input is forbidden for the
// function: see [Closure.CheckValue].
func (c *Closure) AdmitsInput(in Input) error {
	if len(c.ForbiddenTypes) == 0 && !c.Opens {
		return nil
	}
	v, err := in.value()
	if err == nil {
		err = c.CheckValue(v)
	}
	if err != nil {
		return fmt.Errorf("input %s: %w", in.Name, err)
	}
	return nil
}

// madeOfInput refuses a variable that a declaration that runs once computes from an input:
// it does not follow later values of the input.
func (w *walker) madeOfInput(d *decl, v *types.Var, by *decl) {
	in := w.program.readsInput(by, by.onceDone(), map[*decl]bool{by: true})
	if in == nil || in == v {
		return
	}
	w.refuse(d, problem{
		what: fmt.Sprintf("package variable %s.%s, which is computed from an earlier value of the input %s.%s", v.Pkg().Path(), v.Name(), in.Pkg().Path(), in.Name()),
		at:   d.at(d.node.Pos()), name: v.Pkg().Path() + "." + v.Name(), refuse: true, state: true,
	})
}

// readsInput returns an input that a declaration, or a function that it names, reads. If a
// sync.Once calls parts of it, only these count.
func (p *parsedProgram) readsInput(d *decl, parts []ast.Node, seen map[*decl]bool) *types.Var {
	for _, t := range d.resolved().targets {
		if parts != nil && !slices.ContainsFunc(parts, func(n ast.Node) bool { return d.namesIn(n, t) }) {
			continue
		}
		if t.kind == "var" {
			for _, v := range t.variables() {
				if _, is := p.inputs[v]; is && (parts == nil && !d.onlyPoints(v) || slices.ContainsFunc(parts, func(n ast.Node) bool { return d.uses(n, v) })) {
					return v
				}
			}
			continue
		}
		if seen[t] || t.kind == "type" {
			continue
		}
		seen[t] = true
		if v := p.readsInput(t, nil, seen); v != nil {
			return v
		}
	}
	return nil
}

// onlyPoints reports whether a declaration names a variable only in the call that declares
// it as an input.
func (d *decl) onlyPoints(v *types.Var) bool {
	only := true
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || d.info().Uses[id] != v {
			return true
		}
		only = only && slices.ContainsFunc(stack, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return false
			}
			id, ok := kv.Key.(*ast.Ident)
			return ok && id.Name == "Inputs"
		})
		return true
	})
	return only
}

// namesIn reports whether a part of d names a declaration of t.
func (d *decl) namesIn(part ast.Node, t *decl) (found bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && d.info().Uses[id] != nil {
			found = found || d.file.pkg.program.declOf(origin(d.info().Uses[id])) == t
		}
		return !found
	})
	return found
}

// onceDone lists the literals in a function that a sync.Once calls; nil if there are none,
// or d is not a function.
func (d *decl) onceDone() (parts []ast.Node) {
	if d.function() == nil {
		return nil
	}
	ast.Inspect(d.node, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && d.guardOf(call) != nil {
			parts = append(parts, call.Args[0])
		}
		return true
	})
	return parts
}

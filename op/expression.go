package op

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/source"
)

// expression is a formula over the items of a sample, in the language of
// expr-lang: `metadata.letter in ["a", "b"] and stats.mean[0] > 100`.
// It cannot loop for ever, call the outside or change anything.
type expression struct {
	source  string
	reads   []string // items it names
	program *vm.Program
}

func compile(text string) (*expression, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	names := &identifiers{bound: map[*ast.IdentifierNode]bool{}}
	ast.Walk(&tree.Node, names)
	if err := names.check(); err != nil {
		return nil, err
	}
	program, err := expr.Compile(text, expr.Env(map[string]any{}), expr.AllowUndefinedVariables(), expr.Patch(asItems{}))
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	return &expression{source: text, reads: names.items(), program: program}, nil
}

// check returns what is wrong with an expression.
func check(text string) error {
	_, err := compile(text)
	return err
}

// variable is the name by which a program reads an item. The language knows a
// name that one of its functions has as that function, called or not; so such an
// item has a name there that no formula can write.
func variable(item string) string {
	if slices.Contains(builtin.Names, item) {
		return "item " + item
	}
	return item
}

// asItems makes of every name that is not called the variable of an item. What is
// called is no identifier in the tree, and let declares no name of a function.
type asItems struct{}

func (asItems) Visit(node *ast.Node) {
	if name, ok := (*node).(*ast.IdentifierNode); ok {
		name.Value = variable(name.Value)
	}
}

// identifiers collects the names that a formula uses: those that it calls, and
// those that it reads, of which some are bound to what let declares or a call.
type identifiers struct {
	called []string
	read   []*ast.IdentifierNode
	bound  map[*ast.IdentifierNode]bool
}

// Visit comes to a node after all that is in it.
func (n *identifiers) Visit(node *ast.Node) {
	switch node := (*node).(type) {
	case *ast.IdentifierNode:
		n.read = append(n.read, node)
	case *ast.BuiltinNode:
		n.called = append(n.called, node.Name)
	case *ast.CallNode:
		if callee, ok := node.Callee.(*ast.IdentifierNode); ok {
			n.called = append(n.called, callee.Value)
			n.bound[callee] = true
		}
	case *ast.VariableDeclaratorNode:
		// Not in node.Value, nor outside: there the name is an item.
		within := &identifiers{bound: n.bound}
		ast.Walk(&node.Expr, within)
		for _, name := range within.read {
			n.bound[name] = n.bound[name] || name.Value == node.Name
		}
	}
}

// check refuses names that mean nothing, or nothing that could be kept.
func (n *identifiers) check() error {
	for _, name := range n.called {
		if name == "now" {
			return errors.New("expression: now is not available: what is decided by the clock cannot be kept")
		}
		if !slices.Contains(builtin.Names, name) {
			return fmt.Errorf("expression: there is no function %q; an item is named without ()", name)
		}
	}
	if slices.Contains(n.items(), "$env") {
		return errors.New("expression: $env is not available; name the items")
	}
	return nil
}

// items returns the names that must be items, each once.
func (n *identifiers) items() []string {
	items := []string{}
	for _, name := range n.read {
		if !n.bound[name] && !slices.Contains(items, name.Value) {
			items = append(items, name.Value)
		}
	}
	return items
}

// op returns the identity of an operator that evaluates the expression and passes
// what comes of it to a function.
func (e *expression) op(ctx context.Context, l *larder.Larder, name string, convert any) (*key.Op, error) {
	id, err := larder.CodeOf(ctx, l, larder.Component{Functions: []any{compile, (*expression).eval, convert}, Declared: source.Declared{Values: true, Through: []string{"github.com/larder-data/larder/dataset"}}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return key.NewOp(name, id.Code, key.Param{Name: "expression", Value: e.source})
}

// eval evaluates the expression over a sample.
func (e *expression) eval(ctx context.Context, s dataset.Sample) (any, error) {
	env := make(map[string]any, len(e.reads))
	for _, name := range e.reads {
		v, err := s.Value(ctx, name)
		if err != nil {
			return nil, err
		}
		env[variable(name)] = v
	}
	v, err := expr.Run(e.program, env)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", e.source, err)
	}
	return v, nil
}

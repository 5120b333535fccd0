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
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// expression is a formula over the items of a sample, in the language of
// expr-lang: `metadata.letter in ["a", "b"] and stats.mean[0] > 100`.
// It cannot loop for ever, call the outside or change anything.
type expression struct {
	source  string
	reads   []string // items it names
	program *vm.Program
}

// exprVersion is part of the identity of whatever an expression decides: a
// release of the language that changes a meaning must change it.
const exprVersion = "expr/1.17"

func compile(source string) (*expression, error) {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	names := &identifiers{}
	ast.Walk(&tree.Node, names)
	if slices.Contains(names.used, "$env") {
		return nil, errors.New("expression: $env is not available; name the items")
	}
	if slices.Contains(names.used, "now") {
		return nil, errors.New("expression: now is not available: what is decided by the clock cannot be kept")
	}
	program, err := expr.Compile(source, expr.Env(map[string]any{}), expr.AllowUndefinedVariables(), expr.DisableBuiltin("now"))
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	return &expression{source: source, reads: names.free(), program: program}, nil
}

// check returns what is wrong with an expression.
func check(source string) error {
	_, err := compile(source)
	return err
}

// identifiers collects the names that an expression uses and declares.
type identifiers struct{ used, declared []string }

func (n *identifiers) Visit(node *ast.Node) {
	switch node := (*node).(type) {
	case *ast.IdentifierNode:
		n.used = append(n.used, node.Value)
	case *ast.BuiltinNode:
		n.used = append(n.used, node.Name)
	case *ast.VariableDeclaratorNode:
		n.declared = append(n.declared, node.Name)
	}
}

// free returns the names that must be items.
func (n *identifiers) free() []string {
	items := []string{}
	for _, name := range n.used {
		if slices.Contains(n.declared, name) || slices.Contains(builtin.Names, name) {
			continue
		}
		if !slices.Contains(items, name) {
			items = append(items, name)
		}
	}
	return items
}

// op returns the identity of an operator that evaluates the expression.
func (e *expression) op(name string) (*key.Op, error) {
	return key.NewOp(name, key.Version("1 "+exprVersion), key.Param{Name: "expression", Value: e.source})
}

// eval evaluates the expression over a sample.
func (e *expression) eval(ctx context.Context, s dataset.Sample) (any, error) {
	env := make(map[string]any, len(e.reads))
	for _, name := range e.reads {
		v, err := s.Value(ctx, name)
		if err != nil {
			return nil, err
		}
		env[name] = v
	}
	v, err := expr.Run(e.program, env)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", e.source, err)
	}
	return v, nil
}

// Package expression evaluates formulas over the items of a sample, in the language
// of expr-lang: `metadata.letter in ["a", "b"] and stats.mean[0] > 100`.
//
// A formula cannot loop for ever, call the outside, know the time or change anything,
// and what one evaluation handles is bounded in bytes, which bounds its memory and its
// time by the same measure on every machine (meter.go). Which items it reads is known
// before it is evaluated. A name that is called is a function and any other an item;
// what is not there is an error with the nearest name, unless the formula says that it
// may be missing, by has(...), ??, ?. or a comparison with nil. Whole numbers do not
// wrap.
//
// An [Expression] does not change and may be evaluated by many goroutines.
package expression

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/larder-data/larder/dataset"
)

// An Expression is a formula that was read.
type Expression struct {
	source  string
	reads   []string // items it names
	may     []string // those of them that may be missing
	program *vm.Program
}

// Compile reads a formula. The error says what is wrong with it, and where.
func Compile(text string) (*Expression, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("expression: it is empty; write what is to be found out, such as metadata.size > 3")
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", inPlain(text, err))
	}
	names := &identifiers{bound: map[*ast.IdentifierNode]bool{}}
	ast.Walk(&tree.Node, names)
	if err := names.check(); err != nil {
		return nil, err
	}
	// As it is written it is compiled for what is wrong with its types.
	if _, err := expr.Compile(text, expr.Env(map[string]any{}), expr.AllowUndefinedVariables(), expr.Patch(asItems{})); err != nil {
		return nil, fmt.Errorf("expression: %w", inPlain(text, err))
	}
	program, err := expr.Compile(text, expr.Env(signatures()), expr.AllowUndefinedVariables(), expr.Patch(asItems{}), expr.Patch(metered{}))
	if err != nil {
		return nil, fmt.Errorf("expression: %w", inPlain(text, err))
	}
	return &Expression{source: text, reads: names.items(), may: names.may, program: program}, nil
}

// Check returns what is wrong with a formula.
func Check(text string) error {
	_, err := Compile(text)
	return err
}

// Text is the formula as it was given.
func (e *Expression) Text() string { return e.source }

// Reads names the items that the formula reads. They are not to be changed.
func (e *Expression) Reads() []string { return e.reads }

// May names those of the items that the formula says may be missing. They are not to
// be changed.
func (e *Expression) May() []string { return e.may }

// The functions that read what the language has no way to write, or what may not be
// there.
const (
	itemFunction = "item" // item("a b") is the item a b
	hasFunction  = "has"  // has(a.b) says whether it is there
)

// variable is the name by which a program reads an item. The language knows a
// name that one of its functions has as that function, called or not; so such an
// item has a name there that no formula can write.
func variable(item string) string {
	if slices.Contains(builtin.Names, item) {
		return named(item)
	}
	return item
}

// named is the name of an item in a program that is read by item(...).
func named(item string) string { return "item " + item }

// itemCall returns the item that a node reads by item("...").
func itemCall(node ast.Node) (name string, ok bool) {
	call, ok := node.(*ast.CallNode)
	if !ok || !calls(call, itemFunction) || len(call.Arguments) != 1 {
		return "", false
	}
	text, ok := call.Arguments[0].(*ast.StringNode)
	if !ok {
		return "", false
	}
	return text.Value, true
}

// calls reports whether a call is of the function of that name.
func calls(call *ast.CallNode, name string) bool {
	callee, ok := call.Callee.(*ast.IdentifierNode)
	return ok && callee.Value == name
}

// asItems makes of every name that is not called, and of item("..."), the variable of
// an item. What is called is no identifier in the tree, or a function, and let
// declares no name of a function.
type asItems struct{}

func (asItems) Visit(node *ast.Node) {
	if name, ok := itemCall(*node); ok {
		ast.Patch(node, &ast.IdentifierNode{Value: named(name)})
		return
	}
	if name, ok := (*node).(*ast.IdentifierNode); ok {
		name.Value = variable(name.Value)
	}
}

// identifiers collects the names that a formula uses: those that it calls, and
// those that it reads, of which some are bound to what let declares or a call.
type identifiers struct {
	called []string
	read   []*ast.IdentifierNode
	given  []string // by item("...")
	may    []string // that may be missing
	bound  map[*ast.IdentifierNode]bool
	wrong  error
}

// Visit comes to a node after all that is in it.
func (n *identifiers) Visit(node *ast.Node) {
	switch node := (*node).(type) {
	case *ast.IdentifierNode:
		n.read = append(n.read, node)
	case *ast.BuiltinNode:
		n.called = append(n.called, node.Name)
	case *ast.CallNode:
		n.call(node)
	case *ast.BinaryNode:
		for _, side := range lenient(node) {
			n.mayMiss(side)
		}
	case *ast.ChainNode:
		n.mayMiss(node)
	case *ast.VariableDeclaratorNode:
		// Not in node.Value, nor outside: there the name is an item.
		within := &identifiers{bound: n.bound}
		ast.Walk(&node.Expr, within)
		for _, name := range within.read {
			n.bound[name] = n.bound[name] || name.Value == node.Name
		}
	}
}

func (n *identifiers) call(node *ast.CallNode) {
	callee, ok := node.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	n.called = append(n.called, callee.Value)
	n.bound[callee] = true
	if name, ok := itemCall(node); ok {
		n.given = append(n.given, name)
	} else if callee.Value == itemFunction {
		n.wrong = errors.New(`expression: item takes the name of an item in quotes, such as item("my-item")`)
	}
	if callee.Value == hasFunction {
		if len(node.Arguments) != 1 {
			n.wrong = errors.New("expression: has takes one item, or one path into an item, such as has(metadata.letter)")
			return
		}
		n.mayMiss(node.Arguments[0])
	}
}

// mayMiss notes the item at which a path starts that may be missing.
func (n *identifiers) mayMiss(path ast.Node) {
	if name, ok := itemCall(path); ok {
		n.may = append(n.may, name)
		return
	}
	switch path := path.(type) {
	case *ast.IdentifierNode:
		n.may = append(n.may, path.Value)
	case *ast.MemberNode:
		n.mayMiss(path.Node)
	case *ast.ChainNode:
		n.mayMiss(path.Node)
	case *ast.BinaryNode: // of a ?? b ?? c
		if path.Operator == "??" {
			n.mayMiss(path.Right)
		}
	}
}

// lenient returns the sides of an operator that may be missing: what ?? stands in
// for, and what is compared with nil.
func lenient(node *ast.BinaryNode) []ast.Node {
	_, leftNil := node.Left.(*ast.NilNode)
	_, rightNil := node.Right.(*ast.NilNode)
	switch {
	case node.Operator == "??":
		return []ast.Node{node.Left}
	case (node.Operator == "==" || node.Operator == "!=") && (leftNil || rightNil):
		return []ast.Node{node.Left, node.Right}
	}
	return nil
}

// check refuses names that mean nothing, or nothing that could be kept.
func (n *identifiers) check() error {
	for _, name := range n.called {
		if name == "now" {
			return errors.New("expression: now is not available: what is decided by the clock cannot be kept")
		}
		if !slices.Contains(builtin.Names, name) && name != itemFunction && name != hasFunction {
			return fmt.Errorf(`expression: there is no function %q; an item is named without (), or by item("...") if its name is no word`, name)
		}
	}
	if slices.Contains(n.items(), "$env") {
		return errors.New(`expression: $env is not available; name the items, by item("...") those whose names are no words`)
	}
	return n.wrong
}

// items returns the names that must be items, each once.
func (n *identifiers) items() []string {
	items := []string{}
	for _, name := range n.read {
		if !n.bound[name] && !slices.Contains(items, name.Value) {
			items = append(items, name.Value)
		}
	}
	for _, name := range n.given {
		if !slices.Contains(items, name) {
			items = append(items, name)
		}
	}
	return items
}

// Eval evaluates the formula over a sample. The error says which formula it is, and
// where in it.
func (e *Expression) Eval(ctx context.Context, s dataset.Sample) (any, error) {
	env := make(map[string]any, 2*len(e.reads)+8)
	for _, name := range e.reads {
		if _, ok := s.Field(name); !ok && slices.Contains(e.may, name) {
			continue
		}
		v, err := s.Value(ctx, name)
		if err != nil {
			return nil, err
		}
		env[variable(name)], env[named(name)] = v, v
	}
	m := newMeter()
	m.offer(env)
	v, err := expr.Run(e.program, env)
	if err == nil {
		err = m.result(v)
	}
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", Brief(e.source), inPlain(e.source, err))
	}
	return v, nil
}

// Package expr provides formulas over the items of a sample, in the language of
// expr-lang: `metadata.letter in ["a", "b"] and stats.mean[0] > 100`.
//
// A formula always terminates. It cannot call outside code, read the clock or change
// anything. An evaluation handles a bounded number of bytes, which bounds its memory
// and its time by the same measure on every machine (meter.go). The items that it reads
// are known before the evaluation. A name that is called is a function, and any other
// name is an item. A missing item is an error with the nearest name, unless the formula
// allows for it by has(...), ??, ?. or a comparison with nil. Integers do not wrap, and
// conditions must be boolean.
//
// The library parses formulas and runs their programs. This package implements the
// operators and functions (metered.go, do.go), by the kinds that each accepts
// (signature.go). So an error is reported before the evaluation if the kinds are known,
// and otherwise with the same words during it.
//
// An [Expression] is immutable and safe for concurrent use.
package expr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/larder-data/larder/dataset"
)

// An Expression is a parsed formula.
type Expression struct {
	source  string
	reads   []string // items that it names
	may     []string // items among them that may be missing
	program *vm.Program
}

// Bounds of a formula: in bytes, and in nodes of the tree as evaluated.
const (
	maxBytes = 256 << 10
	maxNodes = 100_000
)

// Compile parses a formula. The error describes a problem and its position, as far as
// names, functions and kinds of values are known before an evaluation.
func Compile(text string) (*Expression, error) {
	names, program, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", inPlain(text, err))
	}
	return &Expression{source: text, reads: names.items(), may: names.may, program: program}, nil
}

const tooLong = "the expression is too long; split it, or move its lists into items"

func compile(text string) (*identifiers, *vm.Program, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, &fault{"empty expression; write one such as metadata.size > 3"}
	}
	if len(text) > maxBytes {
		return nil, nil, &fault{tooLong}
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	if isLarge(tree.Node) {
		return nil, nil, &fault{tooLong}
	}
	names := &identifiers{bound: map[*ast.IdentifierNode]bool{}}
	ast.Walk(&tree.Node, names)
	if err := names.check(); err != nil {
		return nil, nil, bind(err, tree.Source)
	}
	m := &metered{bound: names.bound}
	if tree.Node, err = m.tree(tree.Node); err != nil {
		return nil, nil, bind(err, tree.Source)
	}
	config := conf.New(map[string]any{doName: function(nil)})
	config.Strict, config.Optimize = false, false
	if _, err := checker.Check(tree, config); err != nil {
		return nil, nil, err
	}
	program, err := compiler.Compile(tree, config)
	return names, program, err
}

// bind adds line and column to an error.
func bind(err error, in file.Source) error {
	if e, ok := errors.AsType[*file.Error](err); ok {
		return e.Bind(in)
	}
	return err
}

// isLarge reports whether a tree has too many nodes. The middle of a < b < c occurs in
// it twice.
func isLarge(n ast.Node) (large bool) {
	defer func() {
		w := recover()
		if _, large = w.(tooMany); w != nil && !large {
			panic(w)
		}
	}()
	count := nodes(0)
	ast.Walk(&n, &count)
	return false
}

// nodes counts nodes up to the bound.
type nodes int

// tooMany is the panic for too many nodes.
type tooMany struct{}

func (n *nodes) Visit(*ast.Node) {
	if *n++; *n > maxNodes {
		panic(tooMany{})
	}
}

// Check returns the error of a formula, if any.
func Check(text string) error {
	_, err := Compile(text)
	return err
}

// Text returns the source of the formula.
func (e *Expression) Text() string { return e.source }

// Reads returns the items that the formula reads. The caller must not modify it.
func (e *Expression) Reads() []string { return e.reads }

// May returns those of the items that may be missing according to the formula. The
// caller must not modify it.
func (e *Expression) May() []string { return e.may }

// Functions for items with names that are not identifiers, or that may be missing.
const (
	itemFunction = "item" // item("a b") is the item a b
	hasFunction  = "has"  // has(a.b) reports whether it exists
)

// named returns the name of an item in a program. No formula can contain it, so it
// differs from functions and from names that let declares.
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

// calls reports whether a call is of the function with that name.
func calls(call *ast.CallNode, name string) bool {
	callee, ok := call.Callee.(*ast.IdentifierNode)
	return ok && callee.Value == name
}

// identifiers collects the names that a formula calls, and those that it reads.
// let or a call binds some of the latter.
type identifiers struct {
	called []calledName
	read   []*ast.IdentifierNode
	given  []string // by item("...")
	may    []string // that may be missing
	bound  map[*ast.IdentifierNode]bool
	wrong  error
}

// calledName is a called name with its position.
type calledName struct {
	name string
	at   file.Location
}

// Visit visits a node after its children.
func (n *identifiers) Visit(node *ast.Node) {
	switch node := (*node).(type) {
	case *ast.IdentifierNode:
		n.read = append(n.read, node)
	case *ast.BuiltinNode:
		n.called = append(n.called, calledName{node.Name, node.Location()})
	case *ast.CallNode:
		n.call(node)
	case *ast.BinaryNode:
		for _, side := range lenient(node) {
			n.mayMiss(side)
		}
	case *ast.ChainNode:
		n.mayMiss(node)
	case *ast.VariableDeclaratorNode:
		// Only the body: in node.Value and outside, the name is an item.
		ast.Walk(&node.Expr, binding{node.Name, n.bound})
	}
}

// binding records the names that a declaration binds.
type binding struct {
	name  string
	bound map[*ast.IdentifierNode]bool
}

func (b binding) Visit(node *ast.Node) {
	if name, ok := (*node).(*ast.IdentifierNode); ok && name.Value == b.name {
		b.bound[name] = true
	}
}

func (n *identifiers) call(node *ast.CallNode) {
	callee, ok := node.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	n.called = append(n.called, calledName{callee.Value, node.Location()})
	n.bound[callee] = true
	if name, ok := itemCall(node); ok {
		n.given = append(n.given, name)
	} else if callee.Value == itemFunction {
		n.wrong = faultAt(node.Location(), `item needs a quoted item name, such as item("my-item")`)
	}
	if callee.Value == hasFunction {
		if len(node.Arguments) != 1 {
			n.wrong = faultAt(node.Location(), "has needs one item or path, such as has(metadata.letter)")
			return
		}
		n.mayMiss(node.Arguments[0])
	}
}

// mayMiss records the item at the start of a path that may be missing.
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
	case *ast.BinaryNode: // for a ?? b ?? c
		if path.Operator == "??" {
			n.mayMiss(path.Right)
		}
	}
}

// lenient returns the operands that may be missing: the left one of ??, and those
// compared with nil.
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

// check refuses unknown names, and functions whose results cannot be cached.
func (n *identifiers) check() error {
	for _, c := range n.called {
		if c.name == "now" {
			return faultAt(c.at, "now is not available, as results that depend on the clock cannot be cached")
		}
		if _, ok := signatures[c.name]; !ok && c.name != itemFunction && c.name != hasFunction {
			return faultAt(c.at, noFunction(c.name))
		}
	}
	if slices.Contains(n.items(), "$env") {
		return &fault{`$env is not available; name items directly, or with item("...")`}
	}
	return n.wrong
}

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

// Eval evaluates the formula over a sample. An error names the formula and the position
// in it.
func (e *Expression) Eval(ctx context.Context, s dataset.Sample) (any, error) {
	env := make(map[string]any, len(e.reads)+1)
	for _, name := range e.reads {
		if _, ok := s.Field(name); !ok && slices.Contains(e.may, name) {
			continue
		}
		v, err := s.Value(ctx, name)
		if err != nil {
			return nil, err
		}
		env[named(name)], _ = scalar(v)
	}
	return e.run(env)
}

// run evaluates the formula with the variables of its program.
func (e *Expression) run(env map[string]any) (any, error) {
	m := newMeter()
	env[doName] = function(m.do)
	v, err := expr.Run(e.program, env)
	if v, _ = scalar(v); err == nil {
		err = m.result(v)
	}
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", Brief(e.source), inPlain(e.source, err))
	}
	return v, nil
}

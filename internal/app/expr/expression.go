// Package expr evaluates formulas over the items of a sample, in the language
// of expr-lang: `metadata.letter in ["a", "b"] and stats.mean[0] > 100`.
//
// A formula cannot loop for ever, call the outside, know the time or change anything,
// and what one evaluation handles is bounded in bytes, which bounds its memory and its
// time by the same measure on every machine (meter.go). Which items it reads is known
// before it is evaluated. A name that is called is a function and any other an item;
// what is not there is an error with the nearest name, unless the formula says that it
// may be missing, by has(...), ??, ?. or a comparison with nil. Whole numbers do not
// wrap, and what decides is true or false.
//
// The library reads formulas and goes through their programs. Its operators and functions
// are done here (metered.go, do.go), by what each takes (signature.go): so what is wrong is
// known before an evaluation where kinds of values are, and said in the same words in it.
//
// An [Expression] does not change and may be evaluated by many goroutines.
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

// An Expression is a formula that was read.
type Expression struct {
	source  string
	reads   []string // items it names
	may     []string // those of them that may be missing
	program *vm.Program
}

// most is how long a formula may be: in bytes, and in what it is made of, counted where it
// is evaluated.
const (
	mostBytes = 256 << 10
	mostNodes = 100_000
)

// Compile reads a formula. The error says what is wrong with it, and where: names,
// functions and kinds of values, as far as they are known before it is evaluated.
func Compile(text string) (*Expression, error) {
	names, program, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", inPlain(text, err))
	}
	return &Expression{source: text, reads: names.items(), may: names.may, program: program}, nil
}

const tooLong = "the expression is too long; let the items hold what it lists, or take it apart"

func compile(text string) (*identifiers, *vm.Program, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, &fault{"it is empty; write what is to be found out, such as metadata.size > 3"}
	}
	if len(text) > mostBytes {
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

// bind gives an error the line and the column of its place.
func bind(err error, in file.Source) error {
	if e, ok := errors.AsType[*file.Error](err); ok {
		return e.Bind(in)
	}
	return err
}

// isLarge reports whether there is too much in a tree. What stands in the middle of
// a < b < c stands in it twice.
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

// nodes counts nodes, as far as there may be.
type nodes int

// tooMany is the panic of too many nodes.
type tooMany struct{}

func (n *nodes) Visit(*ast.Node) {
	if *n++; *n > mostNodes {
		panic(tooMany{})
	}
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

// named is the name of an item in a program. No formula can write it: names of functions
// and those that let declares are others.
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

// identifiers collects the names that a formula uses: those that it calls, and
// those that it reads, of which some are bound to what let declares or a call.
type identifiers struct {
	called []calledName
	read   []*ast.IdentifierNode
	given  []string // by item("...")
	may    []string // that may be missing
	bound  map[*ast.IdentifierNode]bool
	wrong  error
}

// calledName is a name that is called somewhere.
type calledName struct {
	name string
	at   file.Location
}

// Visit comes to a node after all that is in it.
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
		// Not in node.Value, nor outside: there the name is an item.
		ast.Walk(&node.Expr, binding{node.Name, n.bound})
	}
}

// binding notes the names that a declaration binds.
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
		n.wrong = faultAt(node.Location(), `item takes the name of an item in quotes, such as item("my-item")`)
	}
	if callee.Value == hasFunction {
		if len(node.Arguments) != 1 {
			n.wrong = faultAt(node.Location(), "has takes one item, or one path into an item, such as has(metadata.letter)")
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
	for _, c := range n.called {
		if c.name == "now" {
			return faultAt(c.at, "now is not available: what is decided by the clock cannot be kept")
		}
		if _, ok := signatures[c.name]; !ok && c.name != itemFunction && c.name != hasFunction {
			return faultAt(c.at, noFunction(c.name))
		}
	}
	if slices.Contains(n.items(), "$env") {
		return &fault{`$env is not available; name the items, by item("...") those whose names are no words`}
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

// run evaluates the formula with what a program's variables are.
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

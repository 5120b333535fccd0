package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Functions of a program that no formula can name.
const (
	addName     = "larder add"
	subName     = "larder subtract"
	mulName     = "larder multiply"
	negName     = "larder negate"
	callName    = "larder call"
	readName    = "larder read"
	memberName  = "larder member"
	mayName     = "larder may"
	patternName = "larder pattern"
)

// arithmetic are the operators that our functions stand for.
var arithmetic = map[string]string{"+": addName, "-": subName, "*": mulName}

// metered has functions of a meter do whatever makes large values of small ones, or
// takes time in proportion to a value, and read the members of documents.
type metered struct{}

// Visit comes to a node after all that is in it.
func (metered) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		binary(node, n)
	case *ast.UnaryNode:
		if n.Operator == "-" && !isNumber(n.Node) {
			patch(node, negName, n.Node)
		}
	case *ast.BuiltinNode:
		builtinCall(node, n)
	case *ast.PredicateNode:
		n.Node = call(readName, n.Node)
	case *ast.SliceNode:
		n.Node = call(readName, n.Node)
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok && !n.Method {
			path := &ast.StringNode{Value: pathOf(n.Node)}
			if n.Optional {
				patch(node, mayName, n.Node, name)
			} else {
				patch(node, memberName, n.Node, name, path)
			}
		}
	case *ast.ChainNode:
		relax(n.Node)
	case *ast.CallNode:
		if calls(n, hasFunction) {
			relax(n.Arguments[0])
			ast.Patch(node, &ast.BinaryNode{Operator: "!=", Left: n.Arguments[0], Right: &ast.NilNode{}})
		}
	}
}

// binary has operators done by functions, or told what they compare.
func binary(node *ast.Node, n *ast.BinaryNode) {
	if sides := lenient(n); sides != nil {
		for _, side := range sides {
			relax(side)
		}
		return
	}
	if name, ok := arithmetic[n.Operator]; ok {
		patch(node, name, n.Left, n.Right)
		return
	}
	compares := []string{"in", "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches"}
	if n.Operator == "matches" && !isLiteral(n.Right) {
		n.Right = call(patternName, n.Right)
	} else if slices.Contains(compares, n.Operator) && !isLiteral(n.Right) && !isLiteral(n.Left) {
		n.Right = call(readName, n.Right)
	}
	if n.Operator == "contains" || n.Operator == "matches" || n.Operator == "in" && !isLiteral(n.Right) && isLiteral(n.Left) {
		n.Left = call(readName, n.Left)
	}
}

// builtinCall has a function of the language called by one of ours, unless it goes
// through a list by itself: then what it does with each element is metered.
func builtinCall(node *ast.Node, n *ast.BuiltinNode) {
	if n.Name == "sum" && len(n.Arguments) == 2 {
		mapped := &ast.BuiltinNode{Name: "map", Arguments: n.Arguments, Throws: n.Throws, Map: n.Map, Threshold: n.Threshold}
		patch(node, callName, &ast.StringNode{Value: "sum"}, mapped)
		return
	}
	if slices.ContainsFunc(n.Arguments, func(a ast.Node) bool { _, ok := a.(*ast.PredicateNode); return ok }) {
		return
	}
	patch(node, callName, append([]ast.Node{&ast.StringNode{Value: n.Name}}, n.Arguments...)...)
}

// relax has every member of a path give nil where there is none.
func relax(path ast.Node) {
	for {
		c, ok := path.(*ast.CallNode)
		switch inner := path.(type) {
		case *ast.ChainNode:
			path = inner.Node
			continue
		case *ast.BinaryNode: // of a ?? b ?? c
			if inner.Operator == "??" {
				path = inner.Right
				continue
			}
		}
		if !ok || !calls(c, memberName) && !calls(c, mayName) {
			return
		}
		c.Callee = &ast.IdentifierNode{Value: mayName}
		c.Arguments = c.Arguments[:2]
		path = c.Arguments[0]
	}
}

// pathOf is what people call a value that members are read of.
func pathOf(n ast.Node) string {
	if c, ok := n.(*ast.CallNode); ok && (calls(c, memberName) || calls(c, mayName)) {
		return pathOf(c.Arguments[0]) + "." + c.Arguments[1].(*ast.StringNode).Value
	}
	switch n.(type) {
	case *ast.IdentifierNode, *ast.PointerNode:
		return n.String()
	}
	return "the value"
}

func patch(node *ast.Node, name string, args ...ast.Node) { ast.Patch(node, call(name, args...)) }

func call(name string, args ...ast.Node) ast.Node {
	n := &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
	n.SetLocation(args[0].Location())
	return n
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}

// isLiteral reports whether a node is as large as it is written.
func isLiteral(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.StringNode, *ast.BoolNode, *ast.NilNode, *ast.ConstantNode, *ast.IntegerNode, *ast.FloatNode:
		return true
	case *ast.ArrayNode:
		return !slices.ContainsFunc(n.Nodes, func(e ast.Node) bool { return !isLiteral(e) })
	}
	return false
}

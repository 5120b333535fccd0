package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// doName is the function in programs that executes all operations. No formula can
// contain this name. Its first argument names the operation.
const doName = "larder do"

// Operations besides the operators and functions of the language.
const (
	negateName    = "larder negate"
	numberName    = "larder number"
	notName       = "larder not"
	conditionName = "larder condition"
	readName      = "larder read"
	listName      = "larder list"
	keyName       = "larder name"
	memberName    = "larder member"
	mayName       = "larder may"
	elementName   = "larder element"
	elementMay    = "larder may element"
	sliceName     = "larder slice"
	matchedName   = "larder matched"
	isNullName    = "larder null"
	methodName    = "larder method"
)

// metered converts a formula to the program's tree. Functions of a meter replace all
// operations that can fail, that make large values of small ones, or that need time in
// proportion to a value. It refuses values that are statically of a wrong kind, with
// the same words as at run time. It does not modify its input, whose nodes may occur in
// several places.
type metered struct {
	bound map[*ast.IdentifierNode]bool // from let
	let   []declared
	given int // number of names declared here
}

// declared is what is known of a name from let.
type declared struct {
	name string
	kind kinds
}

// wrong is the panic for a formula that is refused.
type wrong struct {
	at   file.Location
	text string
}

func refuse(at ast.Node, format string, args ...any) {
	panic(wrong{at.Location(), fmt.Sprintf(format, args...)})
}

// tree returns the program's tree of a formula.
func (m *metered) tree(n ast.Node) (made ast.Node, err error) {
	defer func() {
		if w := recover(); w != nil {
			refused, ok := w.(wrong)
			if !ok {
				panic(w)
			}
			err = faultAt(refused.at, refused.text)
		}
	}()
	made, _ = m.visit(n, false)
	return made, nil
}

// visit returns the replacement of a node, and the kinds of its value. If missing is
// set, a path to a missing value gives null.
func (m *metered) visit(n ast.Node, missing bool) (ast.Node, kinds) {
	switch n := n.(type) {
	case *ast.NilNode:
		return n, nullKind
	case *ast.BoolNode:
		return n, truthKind
	case *ast.IntegerNode:
		return n, wholeKind
	case *ast.FloatNode:
		return n, floatKind
	case *ast.StringNode:
		return n, textKind
	case *ast.BytesNode:
		return n, bytesKind
	case *ast.IdentifierNode:
		return m.name(n)
	case *ast.UnaryNode:
		return m.unary(n)
	case *ast.BinaryNode:
		return m.binary(n, missing)
	case *ast.ChainNode:
		return m.visit(n.Node, true)
	case *ast.MemberNode:
		return m.member(n, missing || n.Optional)
	case *ast.SliceNode:
		return m.slice(n)
	case *ast.CallNode:
		return m.call(n)
	case *ast.BuiltinNode:
		return m.builtin(n)
	case *ast.ConditionalNode:
		made := *n
		made.Cond = m.condition(n.Cond, "", false)
		var one, other kinds
		made.Exp1, one = m.visit(n.Exp1, false)
		made.Exp2, other = m.visit(n.Exp2, false)
		return &made, one | other
	case *ast.VariableDeclaratorNode:
		made := *n
		var k kinds
		made.Value, k = m.visit(n.Value, false)
		m.let = append(m.let, declared{n.Name, k})
		made.Expr, k = m.visit(n.Expr, false)
		m.let = m.let[:len(m.let)-1]
		return &made, k
	case *ast.SequenceNode:
		made := *n
		var k kinds
		made.Nodes, k = m.all(n.Nodes)
		return &made, k
	case *ast.ArrayNode:
		if c, ok := constant(n); ok {
			return c, listKind
		}
		made := *n
		made.Nodes, _ = m.all(n.Nodes)
		return &made, listKind
	case *ast.MapNode:
		return m.mapping(n), mappingKind
	}
	return n, anyKind // # and similar nodes
}

// all visits nodes, and returns the kinds of the last.
func (m *metered) all(nodes []ast.Node) (made []ast.Node, last kinds) {
	made = make([]ast.Node, len(nodes))
	for i, n := range nodes {
		made[i], last = m.visit(n, false)
	}
	return made, last
}

// name returns a name from let, or an item.
func (m *metered) name(n *ast.IdentifierNode) (ast.Node, kinds) {
	if !m.bound[n] {
		return itemNode(n, n.Value), anyKind
	}
	for _, d := range slices.Backward(m.let) {
		if d.name == n.Value {
			made := *n
			return &made, d.kind
		}
	}
	return n, anyKind
}

func itemNode(at ast.Node, item string) ast.Node {
	n := &ast.IdentifierNode{Value: named(item)}
	n.SetLocation(at.Location())
	return n
}

func (m *metered) unary(n *ast.UnaryNode) (ast.Node, kinds) {
	if n.Operator == "not" || n.Operator == "!" {
		return do(n, notName, m.condition(n.Node, "not", false)), truthKind
	}
	switch v := n.Node.(type) {
	case *ast.IntegerNode:
		if n.Operator == "-" {
			return at(n, &ast.IntegerNode{Value: -v.Value}), wholeKind
		}
	case *ast.FloatNode:
		if n.Operator == "-" {
			return at(n, &ast.FloatNode{Value: -v.Value}), floatKind
		}
	}
	of, k := m.visit(n.Node, false)
	if k&numberKind == 0 {
		refuse(n, "%s is not defined for %s", n.Operator, k)
	}
	if n.Operator == "-" {
		return do(n, negateName, of), k & numberKind
	}
	return do(n, numberName, of), k & numberKind
}

func (m *metered) binary(n *ast.BinaryNode, missing bool) (ast.Node, kinds) {
	switch operator := sameOperator(n.Operator); operator {
	case "??":
		return m.coalesce(n, missing)
	case "==", "!=":
		return m.equality(n)
	case "and", "or":
		made := *n
		made.Left, made.Right = m.condition(n.Left, operator, false), m.condition(n.Right, operator, false)
		return &made, truthKind
	default:
		left, l := m.visit(n.Left, false)
		right, r := m.visit(n.Right, false)
		gives, ok := between(operator, l, r)
		if !ok {
			refuse(n, "%s", refused(operator, l, r, l.String(), r.String()))
		}
		if pattern, ok := n.Right.(*ast.StringNode); ok && operator == "matches" {
			steps, err := stepsOf(pattern.Value)
			if err != nil {
				refuse(n, "%s", wrongPattern(err))
			}
			made := *n
			made.Left = do(n, matchedName, left, at(n, &ast.IntegerNode{Value: steps}))
			return &made, truthKind
		}
		if operator == "in" {
			right = membersOf(n.Right, right)
		}
		return do(n, operator, left, right), gives
	}
}

// sameOperator returns the listed name of an operator.
func sameOperator(operator string) string {
	switch operator {
	case "&&":
		return "and"
	case "||":
		return "or"
	case "^":
		return "**"
	}
	return operator
}

// coalesce replaces null by another value. It stores the value under a name, because it
// is read twice.
func (m *metered) coalesce(n *ast.BinaryNode, missing bool) (ast.Node, kinds) {
	left, l := m.visit(n.Left, true)
	right, r := m.visit(n.Right, missing)
	m.given++
	name := fmt.Sprintf("larder value %d", m.given)
	value := func() ast.Node { return at(n, &ast.IdentifierNode{Value: name}) }
	return at(n, &ast.VariableDeclaratorNode{Name: name, Value: left, Expr: at(n, &ast.ConditionalNode{
		Cond: do(n, isNullName, value()), Exp1: right, Exp2: value(),
	})}), l&^nullKind | r
}

func (m *metered) equality(n *ast.BinaryNode) (ast.Node, kinds) {
	missing := lenient(n) != nil
	left, l := m.visit(n.Left, missing)
	right, r := m.visit(n.Right, missing)
	same := func(k kinds) kinds {
		if k&numberKind != 0 {
			k |= numberKind
		}
		return k
	}
	if same(l)&same(r) == 0 && (l|r)&nullKind == 0 {
		refuse(n, "%s", refused(n.Operator, l, r, l.String(), r.String()))
	}
	return do(n, n.Operator, left, right), truthKind
}

// condition returns a boolean operand of an operator or a function. With counted, each
// evaluation for an element is charged.
func (m *metered) condition(n ast.Node, what string, counted bool) ast.Node {
	made, k := m.visit(n, false)
	if k&truthKind == 0 {
		refuse(n, "%s", mustBeTruth(what, k.String()))
	}
	if _, counts := made.(*ast.CallNode); k == truthKind && (counts || !counted) {
		return made
	}
	return do(n, conditionName, at(n, &ast.StringNode{Value: what}), made)
}

func (m *metered) member(n *ast.MemberNode, missing bool) (ast.Node, kinds) {
	of, k := m.visit(n.Node, missing)
	path := at(n, &ast.StringNode{Value: pathOf(n.Node)})
	if name, ok := n.Property.(*ast.StringNode); ok {
		if k&(mappingKind|otherKind) == 0 && (k != nullKind || !missing) {
			refuse(n, "%s", noMember(pathOf(n.Node), k.String(), name.Value))
		}
		if missing {
			return do(n, mayName, of, name, path), anyKind
		}
		return do(n, memberName, of, name, path), anyKind
	}
	index, i := m.visit(n.Property, false)
	if text := wrongIndex(k, i, k.String(), i.String()); text != "" && (k != nullKind || !missing) {
		refuse(n, "%s", text)
	}
	gives := kinds(anyKind)
	if k == textKind && !missing {
		gives = textKind
	}
	if missing {
		return do(n, elementMay, of, index, path), gives
	}
	return do(n, elementName, of, index, path), gives
}

func (m *metered) slice(n *ast.SliceNode) (ast.Node, kinds) {
	of, k := m.visit(n.Node, false)
	if k&(textKind|listKind) == 0 {
		refuse(n, "%s", noParts(k.String()))
	}
	parts := []ast.Node{of}
	for _, bound := range []ast.Node{n.From, n.To} {
		if bound == nil {
			parts = append(parts, at(n, &ast.BoolNode{}), at(n, &ast.NilNode{}))
			continue
		}
		made, b := m.visit(bound, false)
		if b&wholeKind == 0 {
			refuse(n, "%s", wrongBound(b.String()))
		}
		parts = append(parts, at(n, &ast.BoolNode{Value: true}), made)
	}
	return do(n, sliceName, parts...), k & (textKind | listKind)
}

// call handles has(...), item(...), and methods of times and durations.
func (m *metered) call(n *ast.CallNode) (ast.Node, kinds) {
	if name, ok := itemCall(n); ok {
		return itemNode(n, name), anyKind
	}
	if calls(n, hasFunction) {
		of, _ := m.visit(n.Arguments[0], true)
		return do(n, notName, do(n, isNullName, of)), truthKind
	}
	of, ok := n.Callee.(*ast.MemberNode)
	name, named := ast.Node(nil), false
	if ok {
		name, named = of.Property.(*ast.StringNode)
	}
	if !named {
		refuse(n, "the called value is not a function")
	}
	value, k := m.visit(of.Node, false)
	if k&(timeKind|durationKind) == 0 {
		refuse(n, "%s", noMethods(k.String(), name.(*ast.StringNode).Value))
	}
	args, _ := m.all(n.Arguments)
	return do(n, methodName, append([]ast.Node{value, name}, args...)...), anyKind
}

func (m *metered) builtin(n *ast.BuiltinNode) (ast.Node, kinds) {
	s, ok := signatures[n.Name]
	if !ok {
		refuse(n, "%s", noFunction(n.Name))
	}
	if text := s.counts(n.Name, len(n.Arguments)); text != "" {
		refuse(n, "%s", text)
	}
	args := make([]ast.Node, len(n.Arguments))
	for i, a := range n.Arguments {
		if p, ok := a.(*ast.PredicateNode); ok {
			args[i] = m.predicate(p, n.Name, s.decides)
			continue
		}
		var k kinds
		args[i], k = m.visit(a, false)
		if text := s.accepts(n.Name, i, k, ""); text != "" {
			refuse(n, "%s", text)
		}
	}
	if n.Name == "count" && len(args) == 1 {
		args = append(args, at(n, &ast.PredicateNode{Node: do(n, conditionName, at(n, &ast.StringNode{Value: n.Name}), at(n, &ast.PointerNode{}))}))
	}
	if len(args) < 2 {
		return do(n, n.Name, args...), s.gives
	}
	p, ok := args[1].(*ast.PredicateNode)
	if !ok {
		return do(n, n.Name, args...), s.gives
	}
	args[0] = do(n, listName, at(n, &ast.StringNode{Value: n.Name}), args[0])
	switch n.Name {
	case "sum":
		return do(n, n.Name, at(n, &ast.BuiltinNode{Name: "map", Arguments: args})), s.gives
	case "sortBy", "groupBy":
		pair := at(n, &ast.ArrayNode{Nodes: []ast.Node{at(n, &ast.PointerNode{}), p.Node}})
		pairs := at(n, &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{args[0], at(n, &ast.PredicateNode{Node: pair})}})
		return do(n, n.Name, append([]ast.Node{pairs}, args[2:]...)...), s.gives
	}
	return at(n, &ast.BuiltinNode{Name: n.Name, Arguments: args}), s.gives
}

// predicate returns the expression for each element.
func (m *metered) predicate(p *ast.PredicateNode, function string, decides bool) ast.Node {
	if decides {
		return at(p, &ast.PredicateNode{Node: m.condition(p.Node, function, true)})
	}
	made, _ := m.visit(p.Node, false)
	return at(p, &ast.PredicateNode{Node: do(p.Node, readName, made)})
}

func (m *metered) mapping(n *ast.MapNode) ast.Node {
	made := *n
	made.Pairs = make([]ast.Node, len(n.Pairs))
	written := map[string]bool{}
	for i, p := range n.Pairs {
		pair := *p.(*ast.PairNode)
		if text, ok := pair.Key.(*ast.StringNode); ok {
			if written[text.Value] {
				refuse(pair.Key, "the mapping has the key %q twice", text.Value)
			}
			written[text.Value] = true
		} else {
			name, k := m.visit(pair.Key, false)
			if k&textKind == 0 {
				refuse(pair.Key, "%s", wrongName(k.String()))
			}
			pair.Key = do(pair.Key, keyName, name)
		}
		pair.Value, _ = m.visit(pair.Value, false)
		made.Pairs[i] = &pair
	}
	return &made
}

// pathOf returns the source form of a value with members, for messages.
func pathOf(n ast.Node) string {
	const unnamed = "the value"
	if name, ok := itemCall(n); ok {
		return fmt.Sprintf("item(%q)", name)
	}
	switch n := n.(type) {
	case *ast.IdentifierNode, *ast.PointerNode:
		return n.String()
	case *ast.ChainNode:
		return pathOf(n.Node)
	case *ast.MemberNode:
		of := pathOf(n.Node)
		if of == unnamed {
			return of
		}
		switch p := n.Property.(type) {
		case *ast.StringNode:
			return of + "." + p.Value
		case *ast.IntegerNode:
			return fmt.Sprintf("%s[%d]", of, p.Value)
		}
	}
	return unnamed
}

// do returns a call of an operation at the position of a node.
func do(place ast.Node, what string, args ...ast.Node) ast.Node {
	return at(place, &ast.CallNode{
		Callee:    at(place, &ast.IdentifierNode{Value: doName}),
		Arguments: append([]ast.Node{at(place, &ast.StringNode{Value: what})}, args...),
	})
}

func at(place, n ast.Node) ast.Node {
	n.SetLocation(place.Location())
	return n
}

// constant returns a literal list, which is created once.
func constant(n *ast.ArrayNode) (ast.Node, bool) {
	list := make([]any, len(n.Nodes))
	for i, e := range n.Nodes {
		switch e := e.(type) {
		case *ast.StringNode:
			list[i] = e.Value
		case *ast.IntegerNode:
			list[i] = e.Value
		case *ast.FloatNode:
			list[i] = e.Value
		case *ast.BoolNode:
			list[i] = e.Value
		default:
			return nil, false
		}
	}
	return at(n, &ast.ConstantNode{Value: list}), true
}

// members are the elements of a literal list of strings or of integers, for lookups.
type members struct {
	texts  map[string]bool
	wholes map[int]bool
}

// membersOf returns members for a literal list that is searched.
func membersOf(n, made ast.Node) ast.Node {
	list, ok := n.(*ast.ArrayNode)
	if !ok {
		return made
	}
	all := &members{map[string]bool{}, map[int]bool{}}
	for _, e := range list.Nodes {
		switch e := e.(type) {
		case *ast.StringNode:
			all.texts[e.Value] = true
		case *ast.IntegerNode:
			all.wholes[e.Value] = true
		default:
			return made
		}
	}
	return at(n, &ast.ConstantNode{Value: all})
}

func (m *members) has(v any) bool {
	switch v := v.(type) {
	case string:
		return m.texts[v]
	case int:
		return m.wholes[v]
	case float64:
		return v == math.Trunc(v) && fits(v) && m.wholes[int(v)]
	}
	return false
}

package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// doName is the function of a program that does all that a formula asks for, under a name
// that no formula can have. Its first value says what.
const doName = "larder do"

// What a program asks for beside the operators and functions of the language.
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

// metered makes of a formula the program's tree, in which functions of a meter do whatever
// can fail, makes large values of small ones, or takes time in proportion to a value.
// What is known to be of a wrong kind before it is evaluated is refused here, in the
// same words. It changes nothing in the tree that it reads, in which nodes may stand in
// several places.
type metered struct {
	bound map[*ast.IdentifierNode]bool // what let declares
	let   []declared
	given int // names that are declared here
}

// declared is what is known of a name that let declares.
type declared struct {
	name string
	kind kinds
}

// wrong is the panic of a formula that is refused.
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

// visit returns what stands for a node, and what is known of its value. Where it may be
// missing, paths are read so that null is what is not there.
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
	return n, anyKind // # and its like
}

// all visits nodes, and says what is known of the last.
func (m *metered) all(nodes []ast.Node) (made []ast.Node, last kinds) {
	made = make([]ast.Node, len(nodes))
	for i, n := range nodes {
		made[i], last = m.visit(n, false)
	}
	return made, last
}

// name is what let declares, or an item.
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
		refuse(n, "%s cannot be done with %s", n.Operator, k)
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

// sameOperator is an operator by the one of its names that is listed.
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

// coalesce has another value stand for null. The value is kept under a name, as it is
// read twice.
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

// condition is what must be true or false, for an operator or a function. Of what is
// done for each element is counted what it takes.
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

// call is has(...), item(...), or what times and durations have.
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
		refuse(n, "what is called here is no function")
	}
	value, k := m.visit(of.Node, false)
	if k&(timeKind|durationKind) == 0 {
		refuse(n, "%s", noMethods(k.String(), name.(*ast.StringNode).Value))
	}
	args, _ := m.all(n.Arguments)
	return do(n, methodName, append([]ast.Node{value, name}, args...)...), anyKind
}

// builtin calls a function of the language.
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

// predicate is what is done with each element.
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
				refuse(pair.Key, "the mapping has the name %q twice", text.Value)
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

// pathOf is what people call a value that members are read of.
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

// do has a meter do something at the place of a node.
func do(place ast.Node, what string, args ...ast.Node) ast.Node {
	return at(place, &ast.CallNode{
		Callee:    at(place, &ast.IdentifierNode{Value: doName}),
		Arguments: append([]ast.Node{at(place, &ast.StringNode{Value: what})}, args...),
	})
}

// at gives a node the place of another.
func at(place, n ast.Node) ast.Node {
	n.SetLocation(place.Location())
	return n
}

// constant is a list of what is written out, which is made once.
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

// members are the values of a list that is written out, of texts or of whole numbers, to
// be looked up.
type members struct {
	texts  map[string]bool
	wholes map[int]bool
}

// membersOf makes members of a list that is searched, if it is written out.
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

// has reports whether a value is one of them.
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

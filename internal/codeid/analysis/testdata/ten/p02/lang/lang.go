// Package lang parses a small language of expressions.
package lang

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"programs/p02/copied/scanner"
)

// A Node is a part of a syntax tree.
type Node interface {
	Pos() scanner.Position
	write(b *strings.Builder)
}

type node struct{ pos scanner.Position }

func (n node) Pos() scanner.Position { return n.pos }

type (
	// Number is a literal.
	Number struct {
		node
		Value float64
	}
	// Name is a variable.
	Name struct {
		node
		Name string
	}
	// Unary is an operator with one operand.
	Unary struct {
		node
		Op rune
		X  Node
	}
	// Binary is an operator with two operands.
	Binary struct {
		node
		Op   rune
		X, Y Node
	}
	// Call is a function call.
	Call struct {
		node
		Fun  string
		Args []Node
	}
	// Let defines a name in an expression.
	Let struct {
		node
		Name    string
		X, Body Node
	}
)

func (n *Number) write(b *strings.Builder) { b.WriteString(strconv.FormatFloat(n.Value, 'g', -1, 64)) }
func (n *Name) write(b *strings.Builder)   { b.WriteString(n.Name) }
func (n *Unary) write(b *strings.Builder) {
	fmt.Fprintf(b, "(%c ", n.Op)
	n.X.write(b)
	b.WriteByte(')')
}
func (n *Binary) write(b *strings.Builder) {
	fmt.Fprintf(b, "(%c ", n.Op)
	n.X.write(b)
	b.WriteByte(' ')
	n.Y.write(b)
	b.WriteByte(')')
}
func (n *Call) write(b *strings.Builder) {
	b.WriteString("(" + n.Fun)
	for _, a := range n.Args {
		b.WriteByte(' ')
		a.write(b)
	}
	b.WriteByte(')')
}
func (n *Let) write(b *strings.Builder) {
	b.WriteString("(let " + n.Name + " ")
	n.X.write(b)
	b.WriteByte(' ')
	n.Body.write(b)
	b.WriteByte(')')
}

// Format writes a tree in the way of Lisp.
func Format(n Node) string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

// Walk calls f for each node, parents first.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	switch n := n.(type) {
	case *Unary:
		Walk(n.X, f)
	case *Binary:
		Walk(n.X, f)
		Walk(n.Y, f)
	case *Call:
		for _, a := range n.Args {
			Walk(a, f)
		}
	case *Let:
		Walk(n.X, f)
		Walk(n.Body, f)
	}
}

// A SyntaxError says where what is wrong.
type SyntaxError struct {
	Pos scanner.Position
	Msg string
}

func (e *SyntaxError) Error() string { return e.Pos.String() + ": " + e.Msg }

// ErrTooDeep is returned for expressions that nest too deeply.
var ErrTooDeep = errors.New("lang: too deep")

const maxDepth = 100

// precedence of the binary operators.
var precedence = map[rune]int{'<': 1, '>': 1, '+': 2, '-': 2, '*': 3, '/': 3, '%': 3, '^': 4}

var rightAssociative = map[rune]bool{'^': true}

type parser struct {
	s     scanner.Scanner
	tok   rune
	depth int
}

type bailout struct{ err error }

// Parse parses an expression.
func Parse(name, text string) (n Node, err error) {
	p := &parser{}
	p.s.Init(strings.NewReader(text))
	p.s.Filename = name
	p.s.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanComments | scanner.SkipComments
	p.s.Error = func(s *scanner.Scanner, msg string) { p.fail(msg) }
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bailout:
			err = r.err
		default:
			panic(r)
		}
	}()
	p.next()
	n = p.expr(0)
	if p.tok != scanner.EOF {
		p.fail("unexpected " + scanner.TokenString(p.tok))
	}
	return n, nil
}

func (p *parser) fail(msg string) { panic(bailout{&SyntaxError{p.s.Pos(), msg}}) }
func (p *parser) next()           { p.tok = p.s.Scan() }
func (p *parser) want(r rune) {
	if p.tok != r {
		p.fail(fmt.Sprintf("expected %s, found %s", scanner.TokenString(r), scanner.TokenString(p.tok)))
	}
	p.next()
}

func (p *parser) expr(min int) Node {
	if p.depth++; p.depth > maxDepth {
		panic(bailout{ErrTooDeep})
	}
	defer func() { p.depth-- }()
	x := p.unary()
	for {
		op := p.tok
		prec, ok := precedence[op]
		if !ok || prec <= min {
			return x
		}
		at := node{p.s.Position}
		p.next()
		if rightAssociative[op] {
			prec--
		}
		x = &Binary{at, op, x, p.expr(prec)}
	}
}

func (p *parser) unary() Node {
	at := node{p.s.Position}
	if p.tok == '-' {
		p.next()
		return &Unary{at, '-', p.unary()}
	}
	switch p.tok {
	case scanner.Int, scanner.Float:
		v, err := strconv.ParseFloat(p.s.TokenText(), 64)
		if err != nil {
			p.fail(err.Error())
		}
		p.next()
		return &Number{at, v}
	case scanner.Ident:
		name := p.s.TokenText()
		p.next()
		if name == "let" {
			return p.let(at)
		}
		if p.tok != '(' {
			return &Name{at, name}
		}
		return p.call(at, name)
	case '(':
		p.next()
		x := p.expr(0)
		p.want(')')
		return x
	}
	p.fail("unexpected " + scanner.TokenString(p.tok))
	return nil
}

func (p *parser) let(at node) Node {
	name := p.s.TokenText()
	p.want(scanner.Ident)
	p.want('=')
	x := p.expr(0)
	p.want(';')
	return &Let{at, name, x, p.expr(0)}
}

func (p *parser) call(at node, name string) Node {
	c := &Call{node: at, Fun: name}
	for p.next(); p.tok != ')'; {
		c.Args = append(c.Args, p.expr(0))
		if p.tok != ',' {
			break
		}
		p.next()
	}
	p.want(')')
	return c
}

// Package calc evaluates expressions.
package calc

import (
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"

	"programs/p02/copied/list"
	"programs/p02/lang"
)

// A Func is a built-in function.
type Func struct {
	Args int // below 0: any number
	Call func(args []float64) (float64, error)
}

func unary(f func(float64) float64) Func {
	return Func{1, func(a []float64) (float64, error) { return f(a[0]), nil }}
}

var builtins = map[string]Func{
	"sqrt": unary(math.Sqrt),
	"sin":  unary(math.Sin),
	"abs":  unary(math.Abs),
	"max":  {-1, func(a []float64) (float64, error) { return slices.Max(a), nil }},
	"min":  {-1, func(a []float64) (float64, error) { return slices.Min(a), nil }},
	"hyp":  {2, func(a []float64) (float64, error) { return math.Hypot(a[0], a[1]), nil }},
	"fact": {1, factorial},
}

func factorial(a []float64) (float64, error) {
	if a[0] < 0 || a[0] > 170 || a[0] != math.Trunc(a[0]) {
		return 0, fmt.Errorf("fact: bad argument %v", a[0])
	}
	r := 1.0
	for i := 2.0; i <= a[0]; i++ {
		r *= i
	}
	return r, nil
}

var operators = map[rune]func(x, y float64) float64{
	'+': func(x, y float64) float64 { return x + y },
	'-': func(x, y float64) float64 { return x - y },
	'*': func(x, y float64) float64 { return x * y },
	'/': func(x, y float64) float64 { return x / y },
	'%': math.Mod,
	'^': math.Pow,
	'<': func(x, y float64) float64 { return truth(x < y) },
	'>': func(x, y float64) float64 { return truth(x > y) },
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// A Scope is a chain of names.
type Scope struct {
	names map[string]float64
	outer *Scope
}

// NewScope returns a scope with some names.
func NewScope(names map[string]float64) *Scope {
	return &Scope{names: maps.Clone(names), outer: universe}
}

var universe = &Scope{names: map[string]float64{"pi": math.Pi, "e": math.E}}

func (s *Scope) lookup(name string) (float64, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.names[name]; ok {
			return v, true
		}
	}
	return 0, false
}

// An UndefinedError names what is not defined.
type UndefinedError struct {
	Kind, Name string
}

func (e UndefinedError) Error() string { return fmt.Sprintf("undefined %s %q", e.Kind, e.Name) }

// Eval evaluates an expression.
func Eval(n lang.Node, s *Scope) (float64, error) {
	switch n := n.(type) {
	case *lang.Number:
		return n.Value, nil
	case *lang.Name:
		v, ok := s.lookup(n.Name)
		if !ok {
			return 0, fmt.Errorf("%v: %w", n.Pos(), UndefinedError{"name", n.Name})
		}
		return v, nil
	case *lang.Unary:
		v, err := Eval(n.X, s)
		return -v, err
	case *lang.Binary:
		x, err := Eval(n.X, s)
		if err != nil {
			return 0, err
		}
		y, err := Eval(n.Y, s)
		if err != nil {
			return 0, err
		}
		return operators[n.Op](x, y), nil
	case *lang.Let:
		x, err := Eval(n.X, s)
		if err != nil {
			return 0, err
		}
		return Eval(n.Body, &Scope{map[string]float64{n.Name: x}, s})
	case *lang.Call:
		return call(n, s)
	}
	return 0, fmt.Errorf("unknown node %T", n)
}

func call(n *lang.Call, s *Scope) (float64, error) {
	f, ok := builtins[n.Fun]
	if !ok {
		return 0, fmt.Errorf("%v: %w", n.Pos(), UndefinedError{"function", n.Fun})
	}
	if f.Args >= 0 && len(n.Args) != f.Args || len(n.Args) == 0 {
		return 0, fmt.Errorf("%v: %s: %d arguments", n.Pos(), n.Fun, len(n.Args))
	}
	args := make([]float64, len(n.Args))
	for i, a := range n.Args {
		v, err := Eval(a, s)
		if err != nil {
			return 0, err
		}
		args[i] = v
	}
	return f.Call(args)
}

// Functions lists the built-in functions.
func Functions() []string { return slices.Sorted(maps.Keys(builtins)) }

// An Engine evaluates texts and remembers the latest trees.
type Engine struct {
	mu     sync.Mutex
	limit  int
	recent *list.List // of *entry
	byText map[string]*list.Element
	log    *slog.Logger
	Hits   int
}

type entry struct {
	text string
	node lang.Node
}

// NewEngine returns an engine; a nil logger is silent.
func NewEngine(limit int, log *slog.Logger) *Engine {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Engine{limit: limit, recent: list.New(), byText: map[string]*list.Element{}, log: log}
}

// Eval evaluates a text with some names.
func (e *Engine) Eval(text string, names map[string]float64) (float64, error) {
	n, err := e.parse(text)
	if err != nil {
		return 0, err
	}
	return Eval(n, NewScope(names))
}

func (e *Engine) parse(text string) (lang.Node, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if el, ok := e.byText[text]; ok {
		e.recent.MoveToFront(el)
		e.Hits++
		e.log.Debug("hit", "text", text)
		return el.Value.(*entry).node, nil
	}
	n, err := lang.Parse("expr", text)
	if err != nil {
		e.log.Warn("syntax", "err", err)
		return nil, err
	}
	e.byText[text] = e.recent.PushFront(&entry{text, n})
	if e.recent.Len() > e.limit {
		old := e.recent.Remove(e.recent.Back()).(*entry)
		delete(e.byText, old.text)
	}
	return n, nil
}

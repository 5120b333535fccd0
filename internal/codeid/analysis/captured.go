package analysis

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Variables that a maker's literal captures must keep the state that they had when the
// literal was made. Otherwise results depend on earlier calls or later assignments. So each
// variable is followed like a package variable (variable.go), and the enclosing function,
// until the literal exists, corresponds to init. Parameters of the enclosing function are
// covered by the caller's Params; but the literal must not write to them.

// A creation is the place where the enclosing function creates a literal.
type creation struct {
	in     *decl    // declaration of the literal
	around ast.Node // the enclosing function: that declaration, or a literal in it
	lit    *ast.FuncLit
	only   map[*decl]bool // declarations without other callers
}

// checkOnce refuses a literal that one call of the enclosing function may make several
// times, because code does not distinguish these.
func (m *creation) checkOnce() error {
	again := ""
	walk(m.around, func(stack []ast.Node) bool {
		switch n := stack[len(stack)-1].(type) {
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				again = "next to a goto"
			}
		case *ast.FuncLit:
			if n != m.lit {
				return true
			}
			for _, n := range stack[1 : len(stack)-1] {
				switch n.(type) {
				case *ast.ForStmt, *ast.RangeStmt:
					again = "in a loop"
				case *ast.FuncLit:
					again = "in another function literal"
				}
			}
		}
		return true
	})
	if again != "" {
		return errors.New("captures variables and is made " + again + ", so there may be several, which no key distinguishes; create it in its own function, pass what differs, and name that in Params")
	}
	return nil
}

// place returns the index of the literal among those of the enclosing function, which may
// have the same words.
func (m *creation) place() (n int) {
	if m == nil {
		return 0
	}
	ast.Inspect(m.around, func(node ast.Node) bool {
		if lit, ok := node.(*ast.FuncLit); ok && lit.Pos() < m.lit.Pos() {
			n++
		}
		return true
	})
	return n
}

// has reports whether code at a position runs only while the literal is made, not later.
func (m *creation) has(d *decl, at token.Pos) bool {
	if d != m.in {
		return !d.later(at) && m.calls(d)
	}
	return m.around.Pos() <= at && at < m.lit.Pos() && !laterIn(m.around, at)
}

// calls reports whether only the enclosing function calls a function, directly and before
// the literal is made.
func (m *creation) calls(d *decl) bool {
	if only, known := m.only[d]; known {
		return only
	}
	m.only[d] = true // for recursion
	m.only[d] = m.callsOnly(d)
	return m.only[d]
}

func (m *creation) callsOnly(d *decl) bool {
	p, o := d.file.pkg.program, d.object()
	switch {
	case d.kind != "func" && d.kind != "method" || p.roots[o]:
		return false
	case d.kind == "method" && p.mayBeHeld(d) && (calledByLibrary[d.names[0]] || len(p.called[d.names[0]]) > 0):
		return false // the time is unknown
	}
	only := len(p.mentioned[o]) > 0
	for _, by := range p.mentioned[o] {
		walk(by.node, func(stack []ast.Node) bool {
			id, ok := stack[len(stack)-1].(*ast.Ident)
			if ok && only && origin(by.info().Uses[id]) == o {
				only = isCalled(stack) && (by == d || m.has(by, id.Pos()))
			}
			return only
		})
	}
	return only
}

// keeps reports whether freshly allocated memory written at a position may be captured at
// that time.
func (m *creation) keeps(d *decl, at token.Pos) bool {
	return m != nil && d == m.in && at >= m.lit.End()
}

// gives returns the parameter of the enclosing function that an expression is, or is a part
// of; else nil.
func (m *creation) gives(d *decl, e ast.Expr) types.Object {
	if m == nil || d != m.in {
		return nil
	}
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.Ident:
			if o := d.info().Uses[x]; m.given(o) {
				return o
			}
			return nil
		default:
			return nil
		}
	}
}

// given reports whether a variable is a parameter or the receiver of the enclosing
// function.
func (m *creation) given(o types.Object) bool {
	if m == nil || o == nil {
		return false
	}
	lists := []*ast.FieldList{}
	switch f := m.around.(type) {
	case *ast.FuncDecl:
		lists = append(lists, f.Recv, f.Type.Params)
	case *ast.FuncLit:
		lists = append(lists, f.Type.Params)
	}
	return slices.ContainsFunc(lists, func(l *ast.FieldList) bool { return l != nil && l.Pos() <= o.Pos() && o.Pos() < l.End() })
}

// captured returns why a captured variable may change, or nil.
func (m *creation) captured(v *types.Var) *problem {
	p := m.in.file.pkg.program
	p.indexed()
	t := newTracer(p, v, m.in)
	t.creation = m
	t.follow()
	t.spaceWritten()
	t.namedWriters()
	t.overwritten()
	t.unseen()
	if t.problem != nil {
		t.problem.state = false // it cannot be an input
	}
	return t.problem
}

// early reports whether code at a position runs only before the memory is fixed, and which
// init functions and variables cause it to run.
func (t *tracer) early(d *decl, at token.Pos) (callers []*decl, ok bool) {
	if t.creation != nil {
		return nil, t.creation.has(d, at)
	}
	callers, running := t.p.beforeMain(d)
	return callers, running == nil && !d.later(at)
}

// what names the variable in messages.
func (t *tracer) what() string {
	if t.creation != nil {
		return fmt.Sprintf("captured variable %s", t.name())
	}
	return fmt.Sprintf("package variable %s", t.name())
}

// when names the time from which it must not be written.
func (t *tracer) when() string {
	if t.creation != nil {
		return "after it was captured"
	}
	return "while the program runs"
}

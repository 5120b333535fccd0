package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"log"
	"slices"

	"github.com/larder-data/larder/source/internal/std"
)

// Some functions of the standard library do what they do only if they are used
// with care. This file looks at how they are used.

// A use is a call of one of them.
type use struct {
	of    *types.Func
	call  *ast.CallExpr
	stack []ast.Node // around the call and with it
}

// wantsCare reports whether a function is one of them.
func wantsCare(f *types.Func) bool {
	switch f.Name() {
	case "New", "SetOutput", "NewTextHandler", "NewJSONHandler", "SetDefault", "NewLogLogger", "Do", "Get":
		switch f.Pkg().Path() {
		case "log", "log/slog", "sync":
			return true
		}
	}
	return false
}

// careless finds such uses in a declaration that are without care.
func (d *decl) careless() (list []problem) {
	for _, u := range d.careful {
		if what := d.carelessly(u); what != "" {
			list = append(list, problem{what: what, at: d.at(u.call.Pos()), name: stdName(u.of), refuse: true, state: true})
		}
	}
	for _, id := range d.careNamed {
		if !slices.ContainsFunc(d.careful, func(u use) bool { return u.call.Fun.Pos() <= id.Pos() && id.Pos() < u.call.Fun.End() }) {
			f := d.info().Uses[id].(*types.Func)
			list = append(list, problem{what: stdName(f) + " (as a value, of which it is not known how it is used)", at: d.at(id.Pos()), name: stdName(f), refuse: true, state: true})
		}
	}
	return append(list, d.hiddenCalls()...)
}

// A hiddenCall is that of a method by an interface or a type parameter, behind which
// may be a type of the library that tells of its state: of what was done to it
// before, or of a random seed.
type hiddenCall struct {
	of *types.Func
	at token.Pos
}

// hiddenCalls finds those that the program may put there.
func (d *decl) hiddenCalls() (list []problem) {
	p := d.file.pkg.program
	for _, h := range d.hidden {
		p.converted()
		for _, name := range std.Telling(h.of.Name()) {
			if !p.puts(name, h.of) {
				continue
			}
			what := name + "." + h.of.Name()
			list = append(list, problem{what: what + " (by an interface)", at: d.at(h.at), name: what, refuse: true, state: true})
		}
	}
	return list
}

// puts reports whether values of a type of the library, which has such a method, may
// be behind interfaces or type parameters.
func (p *parsedProgram) puts(name string, method *types.Func) bool {
	is := func(t types.Type) bool {
		n, ok := t.(*types.Named)
		if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path()+"."+n.Obj().Name() != name {
			return false
		}
		m, _, _ := types.LookupFieldOrMethod(n, true, n.Obj().Pkg(), method.Name())
		f, ok := m.(*types.Func)
		return ok && types.Identical(withoutReceiver(f), withoutReceiver(method))
	}
	for t := range p.held {
		if is(t) {
			return true
		}
	}
	for _, k := range p.order {
		for _, i := range k.info.Instances {
			for a := range i.TypeArgs.Types() {
				if is(deref(a)) {
					return true
				}
			}
		}
	}
	return false
}

// carelessly tells what a use lets through, or "".
func (d *decl) carelessly(u use) string {
	const logged = "what is logged, which has the time or the place in the source in it, where it can be read"
	args := u.call.Args
	switch u.of.FullName() {
	case "log.New":
		if len(args) > 0 && !d.outward(args[0]) && (!d.bareFlags(args) || d.file.pkg.program.setsFlags()) {
			return logged
		}
	case "log.SetOutput", "(*log.Logger).SetOutput", "log/slog.NewTextHandler", "log/slog.NewJSONHandler":
		if len(args) > 0 && !d.outward(args[0]) {
			return logged
		}
	case "log/slog.New", "log/slog.SetDefault", "log/slog.NewLogLogger":
		if len(args) > 0 && !d.outward(args[0]) && !d.libraryHandler(args[0]) {
			return logged
		}
	case "(*sync.Once).Do":
		if d.firstComes(u.call) {
			return "a sync.Once that does what the first caller passes"
		}
		if d.panics(u.call.Args) && d.file.pkg.program.recovers() {
			return "a sync.Once whose function panics, which only the first caller sees"
		}
	case "(*sync.Pool).Get":
		if !d.resets(u.call, u.stack) {
			return "what is left in a sync.Pool, which is not reset before it is used"
		}
	}
	return ""
}

// bareFlags reports whether what log.New is given says that neither time nor place
// is logged.
func (d *decl) bareFlags(args []ast.Expr) bool {
	if len(args) != 3 {
		return false
	}
	flags, ok := constant.Int64Val(constant.ToInt(d.valueOf(args[2])))
	const shown = log.Ldate | log.Ltime | log.Lmicroseconds | log.Llongfile | log.Lshortfile
	return ok && flags&shown == 0
}

// valueOf is the value of a constant expression.
func (d *decl) valueOf(e ast.Expr) constant.Value {
	if v := d.info().Types[e].Value; v != nil {
		return v
	}
	return constant.MakeUnknown()
}

// setsFlags reports whether the program changes what loggers show, also as a value.
func (p *parsedProgram) setsFlags() bool {
	p.flagsOnce.Do(func() { p.flagsSet = p.namesAny("log", "SetFlags") })
	return p.flagsSet
}

// outward reports whether what is written to an expression leaves the program.
func (d *decl) outward(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := d.info().Uses[s.Sel].(*types.Var)
	if !ok || v.Pkg() == nil {
		return false
	}
	switch v.Pkg().Path() + "." + v.Name() {
	case "os.Stderr", "os.Stdout", "io.Discard", "log/slog.DiscardHandler":
		return true
	}
	return false
}

// libraryHandler reports whether a handler or logger is one of the standard
// library's.
func (d *decl) libraryHandler(e ast.Expr) bool {
	n, ok := types.Unalias(deref(d.info().TypeOf(e))).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "log/slog" && !types.IsInterface(n)
}

// firstComes reports whether what a sync.Once that lives on calls depends on who
// calls it first: it captures variables, but for the one that the sync.Once is a
// field of, or is a function that is a value.
func (d *decl) firstComes(call *ast.CallExpr) bool {
	if guardOf(d.info(), call) == nil || len(call.Args) != 1 {
		return false
	}
	base := baseOfGuard(d.info(), call)
	switch f := ast.Unparen(call.Args[0]).(type) {
	case *ast.FuncLit:
		return slices.ContainsFunc(d.captures(f), func(v *types.Var) bool { return types.Object(v) != base })
	case *ast.Ident:
		_, named := d.info().Uses[f].(*types.Func)
		return !named
	case *ast.SelectorExpr:
		if sel := d.info().Selections[f]; sel != nil {
			return sel.Kind() != types.MethodVal || base == nil || baseOf(d.info(), f) != base
		}
		_, named := d.info().Uses[f.Sel].(*types.Func)
		return !named
	}
	return true
}

// panics reports whether a function that is passed calls panic itself.
func (d *decl) panics(args []ast.Expr) bool {
	if len(args) != 1 {
		return false
	}
	in, body := d, ast.Node(args[0])
	if o := funcNamed(d.info(), args[0]); o != nil {
		if in = d.file.pkg.program.declOf(o); in == nil {
			return false
		}
		body = in.node
	}
	return in.callsBuiltin(body, "panic")
}

func (d *decl) callsBuiltin(in ast.Node, name string) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || isBuiltin(d.info(), call, name)
		}
		return !found
	})
	return found
}

// recovers reports whether the program recovers from panics.
func (p *parsedProgram) recovers() bool {
	p.recoversOnce.Do(func() {
		for _, k := range p.order {
			for id, o := range k.info.Uses {
				b, ok := o.(*types.Builtin)
				p.hasRecover = p.hasRecover || !k.engine && ok && b.Name() == "recover" && id != nil
			}
		}
	})
	return p.hasRecover
}

// resets reports whether what is got from a pool is reset: where it is got, or
// wherever the program puts something back.
func (d *decl) resets(get *ast.CallExpr, stack []ast.Node) bool {
	p := d.file.pkg.program
	pool := rootOf(d.info(), get.Fun.(*ast.SelectorExpr).X)
	if pool == nil {
		return false
	}
	return d.resetHere(get, stack) || p.resetsBack(origin(pool))
}

// resetHere reports whether the variable that is assigned what is got is reset
// before all other uses.
func (d *decl) resetHere(get *ast.CallExpr, stack []ast.Node) bool {
	var v types.Object
	for i := len(stack) - 1; i > 0 && v == nil; i-- {
		switch s := stack[i-1].(type) {
		case *ast.TypeAssertExpr, *ast.ParenExpr, *ast.StarExpr:
		case *ast.AssignStmt:
			id, ok := s.Lhs[0].(*ast.Ident)
			if !ok {
				return false
			}
			if v = d.info().Defs[id]; v == nil {
				v = d.info().Uses[id]
			}
		default:
			return false
		}
	}
	if v == nil {
		return false
	}
	reset, decided := false, false
	walk(d.node, func(stack []ast.Node) bool {
		id, ok := stack[len(stack)-1].(*ast.Ident)
		if !ok || decided || d.info().Uses[id] != v || id.Pos() < get.End() || within(stack, get) || putsBack(d.info(), stack) {
			return true
		}
		decided, reset = true, d.isReset(stack, false)
		return true
	})
	return reset || !decided
}

// putsBack reports whether the last of the nodes is put back into a pool.
func putsBack(info *types.Info, stack []ast.Node) bool {
	for _, n := range stack {
		if call, ok := n.(*ast.CallExpr); ok {
			if f := staticCallee(info, call); f != nil && f.FullName() == "(*sync.Pool).Put" {
				return true
			}
		}
	}
	return false
}

// isReset reports whether the variable that is the last of the nodes is reset: by
// a method of that name, by an assignment to all that it points to, by being cut
// to nothing, or cleared. empty asks for nothing but zero values in it.
func (d *decl) isReset(stack []ast.Node, empty bool) bool {
	for i := len(stack) - 1; i > 0; i-- {
		switch p := stack[i-1].(type) {
		case *ast.ParenExpr:
		case *ast.StarExpr:
			if i > 1 {
				if a, ok := stack[i-2].(*ast.AssignStmt); ok && slices.Contains(a.Lhs, ast.Expr(p)) && len(a.Rhs) == 1 {
					return d.fromNothing(a.Rhs[0], empty)
				}
			}
		case *ast.SliceExpr:
			return d.emptySlice(p)
		case *ast.CallExpr:
			id, ok := p.Fun.(*ast.Ident)
			return ok && id.Name == "clear"
		case *ast.SelectorExpr:
			if i < 2 || !isCalled(stack[:i]) {
				return false
			}
			return d.resetMethod(p, empty)
		default:
			return false
		}
	}
	return false
}

// fromNothing reports whether an expression has nothing of what was before, and,
// if it is to be empty, nothing else either.
func (d *decl) fromNothing(e ast.Expr, empty bool) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return !empty || len(e.Elts) == 0
	case *ast.BasicLit:
		return !empty || e.Value == "0" || e.Value == `""`
	case *ast.SliceExpr:
		return d.emptySlice(e)
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok {
			if id.Name == "append" && len(e.Args) > 0 {
				return !empty && d.fromNothing(e.Args[0], false)
			}
			return id.Name == "make" || id.Name == "new"
		}
	}
	return false
}

// emptySlice reports whether an expression is x[:0].
func (d *decl) emptySlice(s *ast.SliceExpr) bool {
	if s.High == nil {
		return false
	}
	high := d.info().Types[s.High].Value
	return s.Low == nil && high != nil && high.ExactString() == "0"
}

// resetMethod reports whether a method resets what it is called on: one of that
// name of the standard library, or one of the program's that begins by assigning
// to all of it, and, if it is to be empty, does no more.
func (d *decl) resetMethod(s *ast.SelectorExpr, empty bool) bool {
	f, ok := origin(d.info().Uses[s.Sel]).(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	m := d.file.pkg.program.declOf(f)
	if m == nil {
		return f.Name() == "Reset" || f.Name() == "Seed"
	}
	body := m.function().Body
	if body == nil || len(body.List) == 0 || empty && len(body.List) > 1 || len(m.function().Recv.List[0].Names) == 0 {
		return false
	}
	recv := m.info().Defs[m.function().Recv.List[0].Names[0]]
	a, ok := body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	star, ok := a.Lhs[0].(*ast.StarExpr)
	return ok && rootOf(m.info(), star) == recv && m.fromNothing(a.Rhs[0], empty)
}

// resetsBack reports whether all that is put into a pool is reset in the
// statement before, or cut to nothing, so that it is like what is new.
func (p *parsedProgram) resetsBack(pool types.Object) bool {
	if !p.newIsEmpty(pool) {
		return false
	}
	puts, reset := 0, 0
	for _, m := range p.indexed().mentioned[pool] {
		walk(m.node, func(stack []ast.Node) bool {
			call, ok := stack[len(stack)-1].(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if f := staticCallee(m.info(), call); f == nil || f.FullName() != "(*sync.Pool).Put" || origin(rootOf(m.info(), call.Fun.(*ast.SelectorExpr).X)) != pool {
				return true
			}
			puts++
			if m.putsEmpty(call, stack) {
				reset++
			}
			return true
		})
	}
	return puts == reset
}

// newIsEmpty reports whether what a pool makes anew is empty: where the pool is
// named, all functions that are given the name New return nothing else.
func (p *parsedProgram) newIsEmpty(pool types.Object) bool {
	empty := true
	for _, m := range append(slices.Clip(p.indexed().mentioned[pool]), p.declOf(pool)) {
		if m == nil {
			continue
		}
		ast.Inspect(m.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "New" {
					empty = empty && m.returnsEmpty(n.Value)
				}
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if s, ok := ast.Unparen(l).(*ast.SelectorExpr); ok && s.Sel.Name == "New" {
						empty = empty && len(n.Lhs) == len(n.Rhs) && m.returnsEmpty(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return empty
}

// returnsEmpty reports whether a function literal returns nothing but zero values,
// lists without elements, or pointers to such.
func (d *decl) returnsEmpty(e ast.Expr) bool {
	lit, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		return false
	}
	empty := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			empty = empty && len(r.Results) == 1 && d.isEmpty(r.Results[0])
		}
		return true
	})
	return empty
}

// isEmpty reports whether an expression is a zero value, a list that was just
// made, or a pointer to one.
func (d *decl) isEmpty(e ast.Expr) bool {
	e = strip(e)
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		v, ok := d.info().Uses[id].(*types.Var)
		if !ok {
			return false
		}
		list := d.assignments(v)
		return len(list) == 1 && d.fromNothing(strip(list[0]), true)
	}
	return d.fromNothing(e, true)
}

// putsEmpty reports whether a call of Put comes right after what resets its
// argument.
func (d *decl) putsEmpty(call *ast.CallExpr, stack []ast.Node) bool {
	if s, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); ok && d.emptySlice(s) {
		return true
	}
	arg := rootOf(d.info(), strip(call.Args[0]))
	for i := len(stack) - 1; i > 0 && arg != nil; i-- {
		b, ok := stack[i-1].(*ast.BlockStmt)
		if !ok {
			continue
		}
		at := slices.Index(b.List, stack[i].(ast.Stmt))
		if at < 1 {
			return false
		}
		reset := false
		walk(b.List[at-1], func(before []ast.Node) bool {
			if id, ok := before[len(before)-1].(*ast.Ident); ok && d.info().Uses[id] == arg {
				reset = reset || d.isReset(before, true)
			}
			return true
		})
		return reset
	}
	return false
}

// strip takes the address operator from an expression.
func strip(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u.X
	}
	return e
}

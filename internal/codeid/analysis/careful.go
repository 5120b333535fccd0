package analysis

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"log"
	"slices"

	"github.com/larder-data/larder/internal/codeid/std"
)

// Some functions of the standard library are deterministic only if used carefully. This
// file checks their uses.

// A use is a call of such a function.
type use struct {
	of    *types.Func
	call  *ast.CallExpr
	stack []ast.Node // around the call, including it
}

// wantsCare reports whether a function is such a function.
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

// careless finds careless uses in a declaration.
func (d *decl) careless() (list []problem) {
	for _, u := range d.careful {
		if what := d.carelessly(u); what != "" {
			list = append(list, problem{what: what, at: d.at(u.call.Pos()), name: stdName(u.of), of: d.placeOf(u.call).name(), refuse: true, state: true})
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

// A hiddenCall is a call through an interface or a type parameter. Behind it may be a
// library type that reveals its state: earlier operations, or a random seed.
type hiddenCall struct {
	of *types.Func
	at token.Pos
}

// hiddenCalls finds those with types that the program may put there.
func (d *decl) hiddenCalls() (list []problem) {
	p := d.file.pkg.program
	for _, h := range d.hidden {
		for _, name := range std.Revealing(h.of.Name()) {
			if !p.puts(name, h.of) {
				continue
			}
			what := name + "." + h.of.Name()
			list = append(list, problem{what: what + " (by an interface)", at: d.at(h.at), name: what, refuse: true, state: true})
		}
	}
	return list
}

// puts reports whether values of a library type with such a method may be in interfaces or
// type parameters.
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
	for t := range p.converted() {
		if is(t) {
			return true
		}
	}
	return false
}

// carelessly returns what a use depends on, or "".
func (d *decl) carelessly(u use) string {
	const logged = "log output with the time or the source position, which can be read"
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
		return d.carelessOnce(u)
	case "(*sync.Pool).Get":
		return d.carelessPool(u)
	}
	return ""
}

// bareFlags reports whether the arguments of log.New disable time and position.
func (d *decl) bareFlags(args []ast.Expr) bool {
	if len(args) != 3 {
		return false
	}
	flags, ok := constant.Int64Val(constant.ToInt(d.valueOf(args[2])))
	const shown = log.Ldate | log.Ltime | log.Lmicroseconds | log.Llongfile | log.Lshortfile
	return ok && flags&shown == 0
}

// valueOf returns the value of a constant expression.
func (d *decl) valueOf(e ast.Expr) constant.Value {
	if v := d.info().Types[e].Value; v != nil {
		return v
	}
	return constant.MakeUnknown()
}

// setsFlags reports whether the program changes the flags of loggers, also through a
// function value.
func (p *parsedProgram) setsFlags() bool {
	return p.found.setsFlags.get(func() bool { return p.namesAny("log", "SetFlags") })
}

// outward reports whether bytes written to an expression leave the program.
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

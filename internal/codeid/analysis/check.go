package analysis

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/internal/codeid/std"
)

// trouble is a type error.
type trouble struct {
	pos token.Pos
	msg string
}

// errNoTypes is returned for packages with unknown types.
var errNoTypes = errors.New("its types are not known")

// An importer finds the types of imported packages: those of the program and of the
// standard library. Types of modules are unknown, so expressions that use them have invalid
// types.
type importer struct {
	program *parsedProgram
	library *std.Library
	done    map[string]chan struct{} // closed when a package is checked
}

func (i *importer) Import(path string) (*types.Package, error) {
	switch {
	case path == "unsafe":
		return types.Unsafe, nil
	case i.program.packages[path] != nil:
		<-i.done[path]
		return i.program.packages[path].checked, nil
	case std.Has(path):
		return i.library.Import(path)
	}
	return nil, errNoTypes
}

// check type-checks all packages, several concurrently.
func (p *parsedProgram) check() {
	i := &importer{program: p, library: std.New(), done: map[string]chan struct{}{}}
	for path := range p.packages {
		i.done[path] = make(chan struct{})
	}
	// The library grows while it is read, so all needed packages are read first.
	for _, k := range p.order {
		for path := range k.imports {
			if p.packages[path] == nil && std.Has(path) {
				_, _ = i.library.Import(path) // it fails again where it is used
			}
		}
	}
	// While one package is resolved, the packages that import it are checked.
	each(len(p.order), func(n int) {
		k := p.order[n]
		k.checkAfter(i)
		if !k.engine {
			for _, d := range k.decls {
				d.resolved()
			}
		}
	})
}

// checkAfter checks a package after its imports.
func (k *pkg) checkAfter(i *importer) {
	defer close(i.done[k.path])
	for path := range k.imports {
		if k.program.packages[path] != nil {
			<-i.done[path]
		}
	}
	k.check(i)
	for _, d := range k.decls {
		d.define()
	}
}

// check type-checks one package.
func (k *pkg) check(i *importer) {
	bytes := 0 // about 8 per expression, 12 per used name; growing maps would cost twice as much
	for _, f := range k.syntax {
		bytes += len(f.content)
	}
	k.info = &types.Info{
		Defs: make(map[*ast.Ident]types.Object, bytes/70), Uses: make(map[*ast.Ident]types.Object, bytes/12),
		Types: make(map[ast.Expr]types.TypeAndValue, bytes/8), Selections: map[*ast.SelectorExpr]*types.Selection{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
	}
	files := make([]*ast.File, len(k.syntax))
	for n, f := range k.syntax {
		files[n] = f.syntax
		f.nameImports(k.program)
	}
	conf := types.Config{
		Importer: i, IgnoreFuncBodies: k.engine, FakeImportC: true, Sizes: types.SizesFor("gc", k.program.build.context.GOARCH),
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) && !e.Soft {
				k.trouble = append(k.trouble, trouble{e.Pos, e.Msg})
			}
		},
	}
	k.checked, _ = conf.Check(k.path, k.syntax[0].fset, files, k.info) // errors are in trouble
}

// majorVersion matches the end of an import path that is not the package's name.
var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// nameImports gives packages with unknown types the names that the file uses for them,
// because the importer cannot tell.
func (f *file) nameImports(p *parsedProgram) {
	var used map[string]bool
	for _, s := range f.syntax.Imports {
		at, _ := strconv.Unquote(s.Path.Value)
		if s.Name != nil || at == "C" || at == "unsafe" || p.packages[at] != nil || std.Has(at) {
			continue
		}
		if used == nil {
			used = f.qualifiers()
		}
		for _, name := range packageNames(at) {
			if used[name] {
				s.Name = &ast.Ident{NamePos: s.Pos(), Name: name}
				break
			}
		}
	}
}

// qualifiers returns the names before dots.
func (f *file) qualifiers() map[string]bool {
	used := map[string]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	return used
}

// packageNames lists the usual names of a package with that import path.
func packageNames(at string) []string {
	var names []string
	for range 3 {
		last := path.Base(at)
		names = append(names, last)
		for _, cut := range []string{".v", "-", "."} {
			if before, after, ok := strings.Cut(last, cut); ok {
				names = append(names, before, after)
			}
		}
		names = append(names, strings.NewReplacer("-", "", ".", "", "_", "").Replace(last), strings.NewReplacer("-", "_", ".", "_").Replace(last))
		if !majorVersion.MatchString(last) {
			break
		}
		at = path.Dir(at)
	}
	return names
}

// define connects the declaration with the type checker's objects.
func (d *decl) define() {
	info := d.info()
	note := func(id *ast.Ident) {
		if o := info.Defs[id]; o != nil {
			d.file.pkg.declared[o] = d
		}
	}
	switch n := d.node.(type) {
	case *ast.FuncDecl:
		note(n.Name)
		if d.kind == "method" {
			if t := d.file.pkg.scope[d.receiver()]; t != nil && t.kind == "type" {
				d.recv = t
				t.methods = append(t.methods, d)
			}
		}
	case *ast.TypeSpec:
		note(n.Name)
	case *ast.ValueSpec:
		for _, id := range n.Names {
			note(id)
		}
	}
}

// receiver returns the name of the receiver type of a method, without aliases.
func (d *decl) receiver() string {
	f, _ := d.info().Defs[d.function().Name].(*types.Func)
	if f == nil {
		return ""
	}
	t := f.Signature().Recv().Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() == f.Pkg() {
		return n.Obj().Name()
	}
	return ""
}

// trouble returns the type error of the declaration, or nil.
func (d *decl) trouble() *problem {
	for _, t := range d.file.pkg.trouble {
		if t.pos >= d.node.Pos() && t.pos < d.node.End() && !d.foreign(t.pos) {
			return &problem{what: "what has no type that is known (" + t.msg + ")", at: d.at(t.pos)}
		}
	}
	return nil
}

// foreign reports whether the position is a name of a package with unknown types.
func (d *decl) foreign(pos token.Pos) bool {
	found := false
	ast.Inspect(d.node, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Pos() == pos || s.Pos() == pos) {
			found = found || d.unknownPackage(s) != ""
		}
		return !found
	})
	return found
}

// unknownPackage returns the path of the package with unknown types that a name belongs to,
// or "".
func (d *decl) unknownPackage(s *ast.SelectorExpr) string {
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name, ok := d.info().Uses[x].(*types.PkgName)
	if !ok {
		return ""
	}
	at := name.Imported().Path()
	if d.file.pkg.program.packages[at] != nil || std.Has(at) || at == "unsafe" {
		return ""
	}
	return at
}

// walk calls visit for each node below n with the enclosing nodes, outermost first and the
// node itself last.
func walk(n ast.Node, visit func(stack []ast.Node) bool) {
	stack := make([]ast.Node, 0, 32)
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if visit(stack) {
			return true
		}
		stack = stack[:len(stack)-1]
		return false
	})
}

// within reports whether stack contains n.
func within(stack []ast.Node, n ast.Node) bool { return slices.Contains(stack, n) }

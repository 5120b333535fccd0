package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"math"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/internal/values/executable"
	"github.com/larder-data/larder/key"
)

// A parsedProgram is the running program, as far as its sources are known.
type parsedProgram struct {
	build    *buildInfo
	packages map[string]*pkg       // by import path
	order    []*pkg                // in the order of initialization
	unknown  string                // a package of the program itself with unregistered sources, or ""
	unseen   string                // such a package of Larder: it writes no variables of other packages, but may call any function of Larder
	inputs   map[*types.Var]Input  // whose values are part of keys
	roots    map[types.Object]bool // called though nothing names them

	identifying     sync.Mutex
	borrowedMethods map[types.Type][]libraryMethod // see libraryMethodsOf

	broken string // why the analysis cannot be trusted, or ""

	index
	reaches
	found    found
	verdicts verdicts
}

// A pkg is a parsed package.
type pkg struct {
	program  *parsedProgram
	path     string
	main     bool   // a main package
	also     bool   // registered with the package that it tests
	name     string // of its package clause
	engine   bool   // part of Larder: only its types count
	files    fs.FS
	options  codeid.Options
	syntax   []*file
	scope    map[string]*decl // declarations at package level, without methods
	decls    []*decl          // everything
	declared map[types.Object]*decl
	sources  []string // patterns that embed its sources
	assembly bool     // it has functions without a Go body
	imports  map[string]bool
	checked  *types.Package
	info     *types.Info
	trouble  []trouble // type errors

	codeOnce sync.Once
	codeSum  key.Digest
}

// A file is a parsed file.
type file struct {
	pkg     *pkg
	name    string
	syntax  *ast.File
	fset    *token.FileSet
	content []byte
	decls   []*decl // in order
	dots    []string
	pragma  []*ast.Comment // compiler directives
	doubt   *problem       // why no declaration of the file can be understood
	loops   bool           // the semantics of its loop variables is unknown
}

// load parses and type-checks the registered packages that may concern functions of the
// wanted one. After a panic, only the existence of the program is known.
func load(registered []*registration, b *buildInfo, wanted string) (p *parsedProgram, err error) {
	p = &parsedProgram{build: b, packages: map[string]*pkg{}, inputs: map[*types.Var]Input{}, roots: map[types.Object]bool{}}
	defer func() {
		if r := recover(); r != nil {
			p.fails(r)
		}
	}()
	registered = b.withTests(registered)
	parsed := make([]*pkg, len(registered))
	errs := make([]error, len(registered))
	each(len(registered), func(i int) { parsed[i], errs[i] = p.parse(registered[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	parsed = slices.DeleteFunc(parsed, func(k *pkg) bool { return len(k.syntax) == 0 })
	parsed = needed(parsed, wanted)
	for _, k := range parsed {
		if p.packages[k.path] != nil {
			return nil, fmt.Errorf("codeid: package %s is registered twice", k.path)
		}
		p.packages[k.path] = k
	}
	for _, k := range p.packages {
		if k.also {
			k.sources = p.packages[b.tested].sources
		}
		k.linknames()
	}
	p.order = initOrder(p.packages)
	defer fewerCollections(parsed)()
	p.check()
	p.startTests()
	p.unregistered()
	return p, p.declareInputs(registered)
}

// fewerCollections holds untouched memory, which takes no space, until end is called, so
// that the garbage collector runs less often. Parsed sources take a hundred times their
// size, half of it permanently. Marking that at each doubling would cost a quarter of the
// time. If the memory of the process is limited, nothing is held.
func fewerCollections(parsed []*pkg) (end func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	size := 0
	for _, k := range parsed {
		for _, f := range k.syntax {
			size += len(f.content)
		}
	}
	held := make([]byte, min(120*size, 1<<28))
	return func() { runtime.KeepAlive(held) }
}

// unregistered finds a package of the program itself with unregistered sources.
func (p *parsedProgram) unregistered() {
	hasMain := false
	for _, k := range p.order {
		hasMain = hasMain || k.main
		if k.engine {
			continue
		}
		if len(k.sources) == 0 {
			p.unknown = max(p.unknown, k.path)
		}
		for path := range k.imports {
			switch {
			case p.packages[path] != nil || isEngine(path):
			case ofLarder(path):
				p.unseen = max(p.unseen, path)
			case p.build.local(path):
				p.unknown = max(p.unknown, path)
			}
		}
	}
	switch tested := p.build.tested; {
	case p.build.test && p.packages[tested] == nil && ofLarder(tested):
		p.unseen = tested
	case p.build.test && p.packages[tested] == nil:
		p.unknown = cmp.Or(tested, "under test")
	case !p.build.test && !hasMain:
		p.unknown = "main"
	}
}

// callersUnseen returns an unregistered package that may call what k exports, or "".
func (p *parsedProgram) callersUnseen(k *pkg) string {
	if p.unknown == "" && ofLarder(k.path) {
		return p.unseen
	}
	return p.unknown
}

// needed returns the packages that concern functions of the wanted package: the package
// itself, its imports, and all outside of Larder. Other packages of Larder count by their
// contracts.
func needed(all []*pkg, wanted string) []*pkg {
	if ofLarder(wanted) {
		return all
	}
	byPath, need := map[string]*pkg{}, map[*pkg]bool{}
	for _, k := range all {
		byPath[k.path] = k
	}
	var take func(k *pkg)
	take = func(k *pkg) {
		if k == nil || need[k] {
			return
		}
		need[k] = true
		if k.engine {
			return
		}
		for path := range k.imports {
			take(byPath[path])
		}
	}
	for _, k := range all {
		if k.engine || !ofLarder(k.path) {
			take(k)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(k *pkg) bool { return !need[k] })
}

// initOrder returns the order of initialization (Go specification, "Program
// initialization"): sorted by path, each after its imports. It assumes that unregistered
// packages import no registered ones; see program.unknown.
func initOrder(packages map[string]*pkg) []*pkg {
	var paths []string
	for path := range packages {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var order []*pkg
	done := map[string]bool{}
	for len(order) < len(paths) {
		before := len(order)
		for _, path := range paths {
			if done[path] {
				continue
			}
			ready := true
			for in := range packages[path].imports {
				ready = ready && (packages[in] == nil || done[in])
			}
			if ready {
				done[path] = true
				order = append(order, packages[path])
				break
			}
		}
		if len(order) == before {
			break // an import cycle, which does not compile
		}
	}
	return order
}

// declOf returns the declaration of a package-level object, or nil.
func (p *parsedProgram) declOf(o types.Object) *decl {
	if o == nil || o.Pkg() == nil {
		return nil
	}
	k := p.packages[o.Pkg().Path()]
	if k == nil {
		return nil
	}
	return k.declared[o]
}

func (p *parsedProgram) parse(r *registration) (*pkg, error) {
	k := &pkg{
		program: p, path: r.path, main: r.main, also: r.also, engine: isEngine(r.path), files: r.files, options: r.options,
		scope: map[string]*decl{}, declared: map[types.Object]*decl{}, imports: map[string]bool{},
	}
	if err := k.read(r); err != nil {
		return nil, err
	}
	if len(k.syntax) == 0 && !k.also {
		return nil, fmt.Errorf("codeid: package %s registers no .go files: embed them with //go:embed *.go", r.path)
	}
	for _, f := range k.syntax {
		f.directives()
		f.declare()
	}
	k.attach()
	return k, nil
}

// opener opens files for [build.Context].
func opener(files fs.FS) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) { return files.Open(name) }
}

// declare records the declarations of the file.
func (f *file) declare() {
	embeds := f.embeds()
	before := f.syntax.Name.End()
	for _, d := range f.syntax.Decls {
		from := before
		before = d.End()
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.function(d, f.pragmas(from, d))
		case *ast.GenDecl:
			var inherit ast.Node
			for i, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					f.add(&decl{kind: "type", names: []string{s.Name.Name}, node: s})
				case *ast.ValueSpec:
					v := &decl{kind: d.Tok.String(), node: s, embeds: embeds[s]}
					for _, n := range s.Names {
						v.names = append(v.names, n.Name)
					}
					if d.Tok == token.CONST {
						if v.iota = i; len(s.Values) > 0 {
							inherit = s
						} else {
							v.inherit = inherit
						}
					}
					f.add(v)
				}
			}
		}
	}
}

func (f *file) function(d *ast.FuncDecl, pragmas []string) {
	v := &decl{kind: "func", names: []string{d.Name.Name}, node: d, version: boundary(d.Doc), pragmas: pragmas}
	f.pkg.assembly = f.pkg.assembly || d.Body == nil
	switch {
	case d.Recv != nil:
		v.kind = "method"
	case d.Name.Name == "init":
		f.initFunction(d)
		return
	}
	f.add(v)
}

// initFunction records an init function. Statements that share only package variables are
// separate declarations, so that their effects are independent.
func (f *file) initFunction(d *ast.FuncDecl) {
	if d.Body == nil || slices.ContainsFunc(d.Body.List, ties) {
		f.add(&decl{kind: "init", names: []string{"init"}, node: d})
		return
	}
	for _, s := range d.Body.List {
		f.add(&decl{kind: "init", names: []string{"init"}, node: s})
	}
}

// ties reports whether a statement affects those after it.
func ties(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok == token.DEFINE
	case *ast.ExprStmt, *ast.IncDecStmt:
		return false
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
		leaves := false
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				leaves = true
			case *ast.FuncLit:
				return false
			}
			return true
		})
		return leaves
	}
	return true
}

func (f *file) add(d *decl) {
	d.file = f
	f.decls = append(f.decls, d)
	f.pkg.decls = append(f.pkg.decls, d)
	if d.kind == "method" || d.kind == "init" {
		return
	}
	for _, n := range d.names {
		if n != "_" {
			f.pkg.scope[n] = d
		}
	}
}

// attach determines how the sources are embedded: by the registered variable, if it can be
// distinguished from others.
func (k *pkg) attach() {
	var all []*decl
	for _, d := range k.decls {
		if len(d.embeds) > 0 {
			all = append(all, d)
		}
	}
	if given := k.given(); len(all) > 1 && len(given) > 0 {
		all = slices.DeleteFunc(all, func(d *decl) bool {
			return !slices.ContainsFunc(d.names, func(n string) bool { return given[n] })
		})
	}
	for _, d := range all {
		if slices.ContainsFunc(d.embeds, matchesSources) {
			k.sources = append(k.sources, d.embeds...)
		}
	}
}

// given returns the names that the package passes to functions called Register.
func (k *pkg) given() map[string]bool {
	given := map[string]bool{}
	for _, d := range k.decls {
		if d.kind != "var" && d.kind != "init" {
			continue
		}
		ast.Inspect(d.node, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name, _ := ast.Unparen(call.Fun).(*ast.Ident)
			if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				name = s.Sel
			}
			if of, ok := ast.Unparen(call.Args[0]).(*ast.Ident); ok && name != nil && name.Name == "Register" {
				given[of.Name] = true
			}
			return true
		})
	}
	return given
}

// matchesSources reports whether a pattern matches the names of all Go files.
func matchesSources(pattern string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(pattern, wholly), "*")
	return ok && (strings.HasSuffix(".go", rest) || rest == ".*")
}

// wholly is the prefix of a pattern that also matches hidden files of directories.
const wholly = "all:"

// directives records imports and directives.
func (f *file) directives() {
	for _, s := range f.syntax.Imports {
		path, _ := strconv.Unquote(s.Path.Value)
		f.pkg.imports[path] = true
		switch {
		case path == "C":
			f.doubt = &problem{what: "code that is not Go (import \"C\")", at: f.at(s.Pos()), refuse: true, opaque: true}
		case s.Name != nil && s.Name.Name == ".":
			f.dots = append(f.dots, path)
		}
	}
	for _, g := range f.syntax.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:") && !strings.HasPrefix(c.Text, "//go:generate ") && !strings.HasPrefix(c.Text, "//go:embed") {
				f.pragma = append(f.pragma, c)
			}
			if strings.HasPrefix(c.Text, "//line ") && f.fset.PositionFor(c.Pos(), false).Column == 1 || strings.HasPrefix(c.Text, "/*line ") {
				f.doubt = &problem{what: "lines that claim another place (//line)", at: f.at(c.Pos()), fix: "remove them"}
			}
		}
	}
	f.loops = !f.pkg.languageKnown()
}

// linknames marks the declarations that //go:linkname lines name, in this and other
// packages.
func (k *pkg) linknames() {
	for _, f := range k.syntax {
		for _, g := range f.syntax.Comments {
			for _, c := range g.List {
				words := strings.Fields(c.Text)
				if len(words) < 2 || words[0] != "//go:linkname" {
					continue
				}
				if d := k.scope[words[1]]; d != nil {
					d.linked = true
				}
				if len(words) > 2 {
					path, name := executable.Split(words[2])
					if other := k.program.packages[path]; other != nil && other.scope[name] != nil {
						other.scope[name].linked = true
					}
				}
			}
		}
	}
}

// pragmas returns the compiler directives between the previous declaration and a function.
// They affect inlining, and so allocation and capacities.
func (f *file) pragmas(from token.Pos, d *ast.FuncDecl) (all []string) {
	for _, c := range f.pragma {
		if from <= c.Pos() && c.Pos() < d.Type.Func {
			all = append(all, strings.Join(strings.Fields(c.Text), " "))
		}
	}
	return all
}

// languageKnown reports whether the language version of a package is recorded: for the
// program's own module in its default settings, except in a workspace, and for a module
// with a version by that version.
func (k *pkg) languageKnown() bool {
	b := k.program.build
	m, ok := b.module(k.path)
	switch {
	case ofLarder(k.path):
		return true
	case k.main || m.main:
		return !b.workspace
	}
	return !ok || m.version != ""
}

// embeds returns the patterns of //go:embed lines by variable: the next one declared, with
// only blank lines and comments between.
func (f *file) embeds() map[*ast.ValueSpec][]string {
	var specs []*ast.ValueSpec
	for _, d := range f.syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				specs = append(specs, s.(*ast.ValueSpec))
			}
		}
	}
	patterns := map[*ast.ValueSpec][]string{}
	for _, g := range f.syntax.Comments {
		for _, c := range g.List {
			rest, ok := strings.CutPrefix(c.Text, "//go:embed")
			if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			for _, s := range specs {
				if s.Pos() > c.Pos() {
					patterns[s] = append(patterns[s], words(rest)...)
					break
				}
			}
		}
	}
	return patterns
}

// words splits the patterns of a //go:embed line, some of which may be quoted.
func words(line string) []string {
	var list []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if q, err := strconv.QuotedPrefix(line); err == nil {
			text, _ := strconv.Unquote(q)
			list, line = append(list, text), line[len(q):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		list, line = append(list, word), rest
	}
	return list
}

// boundary returns the version in a //larder:version line.
func boundary(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	for _, c := range doc.List {
		if rest, ok := strings.CutPrefix(c.Text, "//larder:version "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// registers reports whether the files of an embedding are registered: the pattern is one of
// the sources' patterns, or names a file that one of those matches.
func (k *pkg) registers(pattern string) bool {
	name, hidden := strings.CutPrefix(pattern, wholly)
	return slices.ContainsFunc(k.sources, func(p string) bool {
		of, all := strings.CutPrefix(p, wholly)
		ok, err := path.Match(of, name)
		return p == pattern || err == nil && ok && (all || !hidden) && !strings.ContainsAny(name, `*?[\`)
	})
}

// embeddedFiles lists the embedded files that match patterns.
func (k *pkg) embeddedFiles(patterns []string) (files []Part, err error) {
	seen := map[string]bool{}
	add := func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		b, err := fs.ReadFile(k.files, name)
		files = append(files, Part{Name: "embedded file " + k.path + "/" + name, Digest: key.DigestOf(b)})
		return err
	}
	for _, pattern := range patterns {
		names, err := fs.Glob(k.files, strings.TrimPrefix(pattern, wholly))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			err := fs.WalkDir(k.files, name, func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				return add(name)
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/larder-data/larder/key"
)

// program is all that is known of the running program.
type program struct {
	build    *buildInfo
	packages map[string]*pkg // by import path
	types    []*decl         // all that have methods
	methods  map[string]bool // names of methods
	mutators map[string]bool // names of methods that write to what they are called on
	unknown  string          // a package that is not registered and may do anything to those that are, or ""
	order    []*pkg          // in which packages are initialized
	all      []*decl

	mentionsOnce sync.Once
	mentionedBy  map[*decl][]*decl
	selectedBy   map[string][]*decl
	registrars   map[string][]*decl      // what calls Register functions of other packages, by their paths
	leafWriters  map[string][]leafWriter // by the name of a variable of another package
}

// leafWriter is a declaration that writes to a variable of a package whose
// sources are not here.
type leafWriter struct {
	by  *decl
	use use
}

// pkg is a parsed package.
type pkg struct {
	program  *program
	path     string
	name     string // of its package clause
	files    fs.FS
	pure     []string
	scope    map[string]*decl // what is declared at package level, but methods
	decls    []*decl          // everything
	sources  []string         // patterns by which it embeds its sources
	assembly bool             // it has functions without a Go body
}

// file is a parsed file.
type file struct {
	pkg     *pkg
	name    string
	syntax  *ast.File
	fset    *token.FileSet
	content []byte
	imports map[string][]string // import paths by the name they have in the file
	guessed []string            // imports whose names are not known for certain
	dots    []string            // imports without a name
	problem *problem            // why no declaration of the file can be known
}

// decl is one declaration at package level: a function, a method, a type, or
// the constants or variables of one specification.
type decl struct {
	file    *file
	kind    string // "func", "method", "type", "const", "var", "init"
	names   []string
	node    ast.Node
	inherit ast.Node // of a constant that repeats the expression before it
	iota    int      // place of a constant in its group
	embeds  []string // patterns of a //go:embed line
	version string   // of a boundary
	methods []*decl  // of a type
	recv    *decl    // of a method
	linked  bool     // named in a //go:linkname line

	once sync.Once
	refs // filled by resolve
}

// name is what people call the declaration: "calc.helper", "shape.Circle.Area".
func (d *decl) name() string {
	n := strings.Join(d.names, ", ")
	if d.recv != nil {
		n = d.recv.names[0] + "." + n
	}
	return d.file.pkg.path + "." + n
}

// label is the name with the kind in front.
func (d *decl) label() string { return d.kind + " " + d.name() }

func (d *decl) at(p token.Pos) string {
	pos := d.file.fset.Position(p)
	return fmt.Sprintf("%s:%d", d.place(), pos.Line)
}

// place is the file as people know it.
func (d *decl) place() string {
	if d.file.pkg.path == "main" {
		return d.file.name
	}
	return d.file.pkg.path + "/" + d.file.name
}

// load parses the registered packages, several at once.
func load(registered []*Package, b *buildInfo) (*program, error) {
	p := &program{build: b, packages: map[string]*pkg{}}
	parsed := make([]*pkg, len(registered))
	errs := make([]error, len(registered))
	var wg sync.WaitGroup
	for i, r := range registered {
		wg.Go(func() { parsed[i], errs[i] = p.parse(r) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, k := range parsed {
		if p.packages[k.path] != nil {
			return nil, fmt.Errorf("source: package %s is registered twice", k.path)
		}
		p.packages[k.path] = k
		p.all = append(p.all, k.decls...)
		for _, d := range k.decls {
			if len(d.methods) > 0 {
				p.types = append(p.types, d)
			}
		}
	}
	p.link()
	p.survey()
	return p, nil
}

// survey notes what concerns all packages.
func (p *program) survey() {
	p.methods, p.mutators = map[string]bool{}, map[string]bool{}
	for _, t := range p.types {
		for _, m := range t.methods {
			p.methods[m.names[0]] = true
			if mutates(m.node.(*ast.FuncDecl)) {
				p.mutators[m.names[0]] = true
			}
		}
	}
	if p.packages["main"] == nil && !p.build.test {
		p.unknown = "main"
	}
	for _, k := range p.packages {
		for path := range k.imported() {
			if p.packages[path] == nil && p.build.local(path) && !trusted[path] {
				p.unknown = path
			}
		}
	}
	p.order = initOrder(p.packages)
}

// languageKnown reports whether the version of the language of a package is on
// record: that of the program's own module shows in its default settings, and
// that of a module with a version in the version.
func (k *pkg) languageKnown() bool {
	m, ok := k.program.build.module(k.path)
	return k.path == "main" || !ok || m.main || m.version != ""
}

func (p *program) isMethod(name string) bool { return p.methods[name] }

// imported lists what the files of a package import.
func (k *pkg) imported() map[string]bool {
	all := map[string]bool{}
	for _, d := range k.decls {
		for _, s := range d.file.syntax.Imports {
			path, _ := strconv.Unquote(s.Path.Value)
			all[path] = true
		}
	}
	return all
}

// initOrder is the order in which packages are initialized (Go specification,
// "Program initialization"): sorted by path, each after those it imports.
// Packages that are not registered are taken to import none that are; see
// program.unknown.
func initOrder(packages map[string]*pkg) []*pkg {
	paths := slices.Sorted(maps.Keys(packages))
	var order []*pkg
	done := map[string]bool{}
	for len(order) < len(paths) {
		before := len(order)
		for _, path := range paths {
			if done[path] {
				continue
			}
			ready := true
			for in := range packages[path].imported() {
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

func (p *program) parse(r *Package) (*pkg, error) {
	k := &pkg{program: p, path: r.path, files: r.files, pure: r.pure, scope: map[string]*decl{}}
	names, err := fs.Glob(r.files, "*.go")
	if err != nil {
		return nil, fmt.Errorf("source: package %s: %w", r.path, err)
	}
	fset := token.NewFileSet()
	var files []*file
	for _, name := range names {
		if ok, err := p.build.match(r, name); err != nil {
			return nil, fmt.Errorf("source: package %s: %w", r.path, err)
		} else if !ok {
			continue
		}
		content, err := fs.ReadFile(r.files, name)
		if err != nil {
			return nil, fmt.Errorf("source: package %s: %w", r.path, err)
		}
		f := &file{pkg: k, name: name, fset: fset, content: content}
		// The parser's own resolution of names within a file is what is
		// wanted here: types are not at hand at run time.
		if f.syntax, err = parser.ParseFile(fset, name, content, parser.ParseComments); err != nil {
			return nil, fmt.Errorf("source: package %s: %w", r.path, err)
		}
		if strings.HasSuffix(f.syntax.Name.Name, "_test") == strings.HasSuffix(r.path, "_test") {
			files = append(files, f)
			k.name = f.syntax.Name.Name
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("source: package %s registers no .go files: embed them with //go:embed *.go", r.path)
	}
	for _, f := range files {
		f.declare()
	}
	for _, f := range files {
		f.directives()
	}
	k.attach()
	return k, nil
}

// opener opens files for [build.Context].
func opener(files fs.FS) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) { return files.Open(name) }
}

// declare notes what the file declares.
func (f *file) declare() {
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.function(d)
		case *ast.GenDecl:
			var inherit ast.Node
			for i, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					f.add(&decl{kind: "type", names: []string{s.Name.Name}, node: s})
				case *ast.ValueSpec:
					v := &decl{kind: d.Tok.String(), node: s, embeds: embeds(s.Doc)}
					if len(d.Specs) == 1 {
						v.embeds = append(v.embeds, embeds(d.Doc)...)
					}
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

func (f *file) function(d *ast.FuncDecl) {
	v := &decl{kind: "func", names: []string{d.Name.Name}, node: d, version: boundary(d.Doc)}
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

// initFunction notes an init function: statement by statement where these have
// nothing in common but package variables, so that what one of them sets does
// not depend on the others.
func (f *file) initFunction(d *ast.FuncDecl) {
	if d.Body == nil || slices.ContainsFunc(d.Body.List, ties) {
		f.add(&decl{kind: "init", names: []string{"init"}, node: d})
		return
	}
	for _, s := range d.Body.List {
		f.add(&decl{kind: "init", names: []string{"init"}, node: s})
	}
}

// ties reports whether a statement concerns those after it.
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

// attach gives types their methods, and notes how the sources are embedded.
func (k *pkg) attach() {
	for _, d := range k.decls {
		if d.kind == "method" {
			if t := k.scope[receiver(d.node.(*ast.FuncDecl))]; t != nil && t.kind == "type" {
				d.recv = t
				t.methods = append(t.methods, d)
			}
		}
		for _, e := range d.embeds {
			if e == "*.go" {
				k.sources = append(k.sources, d.embeds...)
				break
			}
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// directives notes imports and the comments that mean something.
func (f *file) directives() {
	f.imports = map[string][]string{}
	for _, s := range f.syntax.Imports {
		path, _ := strconv.Unquote(s.Path.Value)
		switch {
		case path == "C":
			f.problem = &problem{what: "code that is not Go (import \"C\")", opaque: true, at: f.at(s.Pos())}
		case s.Name == nil:
			name, sure := f.importName(path)
			f.imports[name] = append(f.imports[name], path)
			if !sure {
				f.guessed = append(f.guessed, path)
			}
		case s.Name.Name == ".":
			f.dots = append(f.dots, path)
		case s.Name.Name != "_":
			f.imports[s.Name.Name] = append(f.imports[s.Name.Name], path)
		}
	}
	for _, g := range f.syntax.Comments {
		for _, c := range g.List {
			switch {
			case strings.HasPrefix(c.Text, "//line ") || strings.HasPrefix(c.Text, "/*line "):
				f.problem = &problem{what: "lines that claim another place (//line)", opaque: true, at: f.at(c.Pos())}
			case strings.HasPrefix(c.Text, "//go:linkname "):
				words := strings.Fields(c.Text)
				if d := f.pkg.scope[words[1]]; d != nil {
					d.linked = true
				}
			}
		}
	}
}

func (f *file) at(p token.Pos) string {
	return (&decl{file: f}).at(p)
}

// importName is the name by which a package is known where it is imported
// without one.
func (f *file) importName(path string) (name string, sure bool) {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if _, std := standard[path]; std {
		if path == "math/rand/v2" || path == "encoding/json/v2" {
			last = strings.Split(path, "/")[1]
		}
		return last, true
	}
	return last, trusted[path]
}

// link marks the declarations that //go:linkname lines of other packages name,
// and corrects the names of imported packages that are known.
func (p *program) link() {
	for _, k := range p.packages {
		seen := map[*file]bool{}
		for _, d := range k.decls {
			f := d.file
			if seen[f] {
				continue
			}
			seen[f] = true
			p.linkFile(f)
		}
	}
}

func (p *program) linkFile(f *file) {
	guessed := f.guessed
	f.guessed = nil
	for _, path := range guessed {
		k := p.packages[path]
		if k == nil {
			f.guessed = append(f.guessed, path)
			continue
		}
		guess, _ := f.importName(path) // which may be wrong
		if f.imports[guess] = slices.DeleteFunc(f.imports[guess], func(p string) bool { return p == path }); len(f.imports[guess]) == 0 {
			delete(f.imports, guess)
		}
		f.imports[k.name] = append(f.imports[k.name], path)
	}
	for _, g := range f.syntax.Comments {
		for _, c := range g.List {
			words := strings.Fields(c.Text)
			if len(words) < 3 || words[0] != "//go:linkname" {
				continue
			}
			path, name := splitSymbol(words[2])
			if k := p.packages[path]; k != nil && k.scope[name] != nil {
				k.scope[name].linked = true
			}
		}
	}
}

// embeds returns the patterns of the //go:embed lines in a comment.
func embeds(doc *ast.CommentGroup) []string {
	var patterns []string
	if doc == nil {
		return nil
	}
	for _, c := range doc.List {
		if rest, ok := strings.CutPrefix(c.Text, "//go:embed "); ok {
			patterns = append(patterns, strings.Fields(rest)...)
		}
	}
	return patterns
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

// registers reports whether the files of an embedding are among the
// registered ones: the pattern is one of the sources', or names a file that
// one of those matches.
func (k *pkg) registers(pattern string) bool {
	return slices.ContainsFunc(k.sources, func(p string) bool {
		ok, err := path.Match(p, pattern)
		return p == pattern || err == nil && ok && !strings.ContainsAny(pattern, `*?[\`)
	})
}

// embeddedFiles lists the embedded files that patterns name.
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
		names, err := fs.Glob(k.files, strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:"))
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

package source

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/larder-data/larder/key"
)

// refs is what one declaration refers to by itself.
type refs struct {
	targets  []*decl        // declarations named, each once
	selected []string       // methods or fields selected, x.Name
	leaves   []leaf         // packages whose sources are not here
	uses     []use          // what it does to package variables
	values   map[*decl]bool // functions named without being called at once
	onces    map[*decl]bool // functions given to a sync.Once
	digest   key.Digest
	problems []problem

	leafWrites []use  // to variables of packages whose sources are not here
	files      []Part // that are embedded
}

// A leaf is a name of a package that is known by its version only.
type leaf struct{ path, name, at string }

// problem is a reason why a function cannot be known by its source.
type problem struct {
	what   string
	at     string
	name   string // by which Options.Pure can declare it
	opaque bool   // it cannot be seen, as against impure
}

// use is one thing that a declaration does to a package variable.
type use struct {
	variable *decl
	kind     useKind
	at       string
	later    bool // within a function literal that may be called at any time
	once     bool // within one that is called once
}

type useKind int

const (
	reads useKind = iota
	writes
	aliases // gives it another name, by which it can be written
)

// resolved fills the references of d on first use.
func (d *decl) resolved() *refs {
	d.once.Do(func() {
		r := &resolver{decl: d, seen: map[*decl]bool{}, words: []string{d.name(), d.kind}}
		r.values, r.onces = map[*decl]bool{}, map[*decl]bool{}
		r.declaration()
		d.refs = r.refs
	})
	return &d.refs
}

type resolver struct {
	refs
	decl  *decl
	seen  map[*decl]bool
	stack []ast.Node
	words []string // what each name stands for, in order
}

func (r *resolver) declaration() {
	d := r.decl
	r.walk(d.node)
	if d.inherit != nil {
		r.walk(d.inherit)
	}
	if len(d.embeds) > 0 {
		r.embedded()
	}
	if f, ok := d.node.(*ast.FuncDecl); ok && f.Body == nil {
		r.problem(problem{what: "a body that is not Go (assembly or linkname)", opaque: true, at: d.at(f.Pos()), name: d.name()})
	}
	if !d.file.pkg.languageKnown() && outlives(d.node) {
		r.problem(problem{what: "a loop variable that is used after its turn, in a module of which the version of the language is not known", opaque: true, at: d.at(d.node.Pos()), name: d.name()})
	}
	if d.linked {
		r.problem(problem{what: "a linkname", opaque: true, at: d.at(d.node.Pos()), name: d.name()})
	}
	if len(d.file.pkg.sources) == 0 {
		r.problem(problem{what: "a package that does not embed all its sources: use //go:embed *.go", opaque: true, at: d.at(d.node.Pos()), name: d.name()})
	}
	for _, path := range d.file.dots {
		if d.file.pkg.program.packages[path] == nil {
			r.problem(problem{what: "names from a dot import of a package that does not register its sources", opaque: true, at: d.at(d.file.syntax.Pos()), name: path})
		}
	}
	if d.file.problem != nil {
		r.problem(*d.file.problem)
	}
	if d.kind == "var" && d.file.pkg.program.build.trimmed && r.settable() {
		r.problem(problem{what: "a string that the linker can set, which -trimpath leaves no trace of", opaque: true, at: d.at(d.node.Pos()), name: d.name()})
	}
	r.sum()
}

// settable reports whether the linker's -X can set the variable.
func (r *resolver) settable() bool {
	s, ok := r.decl.node.(*ast.ValueSpec)
	if !ok {
		return false
	}
	if len(s.Values) == 0 {
		t, ok := s.Type.(*ast.Ident)
		return ok && t.Name == "string"
	}
	return slices.ContainsFunc(s.Values, constantText)
}

// constantText reports whether an expression may be a constant string.
func constantText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.ParenExpr:
		return constantText(e.X)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && constantText(e.X) && constantText(e.Y)
	case *ast.Ident:
		return e.Name != "true" && e.Name != "false" && e.Name != "nil"
	case *ast.SelectorExpr:
		return true
	}
	return false
}

// sum digests the declaration: its words without comments and layout, and what
// each name stands for.
func (r *resolver) sum() {
	d := r.decl
	tokens := d.tokens(d.signature())
	if d.inherit != nil {
		tokens = append(tokens, d.tokens(d.inherit)...)
	}
	r.words = append(r.words, fmt.Sprint(d.iota), d.version, d.file.syntax.GoVersion)
	for _, name := range d.names {
		r.words = append(r.words, d.file.pkg.program.build.linked[d.file.pkg.path+"."+name])
	}
	r.digest, _ = key.Of([]any{tokens, r.words}) // strings can be keyed
}

// signature is what counts of a declaration: without the body for a boundary.
func (d *decl) signature() ast.Node {
	if f, ok := d.node.(*ast.FuncDecl); ok && d.version != "" {
		return f.Type
	}
	return d.node
}

// tokens are the words of a part of the source. A comma or semicolon before a
// closing bracket, which depends on layout, is left out.
func (d *decl) tokens(n ast.Node) []byte {
	f := d.file.fset.File(n.Pos())
	from, to := f.Offset(n.Pos()), f.Offset(n.End())
	if g, ok := n.(*ast.FuncDecl); ok {
		from = f.Offset(g.Type.Func) // the doc comment is not the function
	}
	content := d.file.content[from:to]
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(content)), content, nil, 0)
	var words []byte
	comma, semicolon := false, false
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return words
		}
		closing := tok == token.RPAREN || tok == token.RBRACE || tok == token.RBRACK
		if comma && !closing {
			words = append(words, ",\x00"...)
		}
		if semicolon && !closing {
			words = append(words, ";\x00"...)
		}
		comma, semicolon = tok == token.COMMA, tok == token.SEMICOLON
		switch {
		case comma, semicolon:
		case lit != "":
			words = append(append(words, lit...), 0)
		default:
			words = append(append(words, tok.String()...), 0)
		}
	}
}

func (r *resolver) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			r.stack = r.stack[:len(r.stack)-1]
			return true
		}
		r.stack = append(r.stack, n)
		if r.node(n) {
			return true
		}
		r.stack = r.stack[:len(r.stack)-1]
		return false
	})
}

// node handles one node and reports whether to go on below it.
func (r *resolver) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CommentGroup, *ast.BranchStmt:
		return false
	case *ast.FuncDecl:
		if n.Recv != nil {
			r.walk(n.Recv)
		}
		r.walk(n.Type)
		if n.Body != nil && r.decl.version == "" {
			r.walk(n.Body)
		}
		return false
	case *ast.Field:
		if n.Type != nil {
			r.walk(n.Type)
		}
		return false
	case *ast.TypeSpec:
		if n.TypeParams != nil {
			r.walk(n.TypeParams)
		}
		r.walk(n.Type)
		return false
	case *ast.KeyValueExpr:
		if _, ok := n.Key.(*ast.Ident); ok && r.structLiteral() {
			r.walk(n.Value)
			return false
		}
	case *ast.SelectorExpr:
		if id, ok := n.X.(*ast.Ident); ok && r.qualified(id, n) {
			return false
		}
		if n.Sel.Name == "Local" && len(r.decl.file.imports["time"]) > 0 {
			r.problem(problem{what: "a Local of package time (the time zone)", at: r.decl.at(n.Pos()), name: "time.Time.Local"})
		}
		if isContext(n) {
			r.problem(problem{what: "a Value of its context", at: r.decl.at(n.Pos()), name: "context.Context.Value"})
		}
		r.selected = append(r.selected, n.Sel.Name)
		r.walk(n.X)
		return false
	case *ast.Ident:
		r.ident(n)
	}
	return true
}

// isContext reports whether a selector is Value of a parameter that is a
// context.
func isContext(n *ast.SelectorExpr) bool {
	x, ok := n.X.(*ast.Ident)
	if !ok || n.Sel.Name != "Value" || x.Obj == nil {
		return false
	}
	f, ok := x.Obj.Decl.(*ast.Field)
	if !ok {
		return false
	}
	t, ok := f.Type.(*ast.SelectorExpr)
	return ok && qualifiedName(t) == "context.Context"
}

// structLiteral reports whether the composite literal around is one of a
// struct, for all that can be seen, so that its keys are fields.
func (r *resolver) structLiteral() bool {
	if len(r.stack) < 2 {
		return false
	}
	lit, ok := r.stack[len(r.stack)-2].(*ast.CompositeLit)
	return ok && r.isStruct(r.literalType(lit, len(r.stack)-2))
}

// literalType is the type of a composite literal: its own, or where it is left
// out that of the elements of the literal around.
func (r *resolver) literalType(lit *ast.CompositeLit, at int) ast.Expr {
	if lit.Type != nil {
		return lit.Type
	}
	isKey := false
	for i := at - 1; i >= 0; i-- {
		switch outer := r.stack[i].(type) {
		case *ast.KeyValueExpr:
			isKey = r.stack[i+1] == ast.Node(outer.Key)
			continue
		case *ast.CompositeLit:
			switch t := r.literalType(outer, i).(type) {
			case *ast.ArrayType:
				return t.Elt
			case *ast.MapType:
				if isKey {
					return t.Key
				}
				return t.Value
			}
		}
		return nil
	}
	return nil
}

func (r *resolver) isStruct(t ast.Expr) bool {
	f := r.decl.file
	var d *decl
	switch t := t.(type) {
	case *ast.StructType:
		return true
	case *ast.StarExpr:
		return r.isStruct(t.X)
	case *ast.IndexExpr:
		return r.isStruct(t.X)
	case *ast.IndexListExpr:
		return r.isStruct(t.X)
	case *ast.Ident:
		if t.Obj != nil && f.syntax.Scope.Lookup(t.Name) != t.Obj {
			return false // a type of the function
		}
		d = f.pkg.scope[t.Name]
	case *ast.SelectorExpr:
		if x, ok := t.X.(*ast.Ident); ok && len(f.imports[x.Name]) == 1 {
			if k := f.pkg.program.packages[f.imports[x.Name][0]]; k != nil {
				d = k.scope[t.Sel.Name]
			}
		}
	}
	if d == nil || d.kind != "type" {
		return false
	}
	_, ok := d.node.(*ast.TypeSpec).Type.(*ast.StructType)
	return ok
}

// qualified handles package.Name, and reports whether it is that.
func (r *resolver) qualified(x *ast.Ident, sel *ast.SelectorExpr) bool {
	f := r.decl.file
	if x.Obj != nil || f.pkg.scope[x.Name] != nil {
		return false
	}
	paths, ok := f.imports[x.Name]
	if !ok {
		if paths = f.guessed; len(paths) == 0 {
			return false
		}
	}
	for _, path := range paths {
		if k := f.pkg.program.packages[path]; k != nil {
			if d := k.scope[sel.Sel.Name]; d != nil {
				r.refer(d, sel)
				continue
			}
			// A name it does not declare: a method set of another file, or
			// a file that is not part of this build. The compiler knows better.
		}
		r.words = append(r.words, path)
		r.leafUse(path, sel)
		r.leaves = append(r.leaves, leaf{path, sel.Sel.Name, r.decl.at(sel.Pos())})
	}
	return true
}

// leafUse notes what is written to variables of other packages.
func (r *resolver) leafUse(path string, sel *ast.SelectorExpr) {
	foreign := &decl{file: r.decl.file, kind: "var", names: []string{path + "." + sel.Sel.Name}, node: &ast.ValueSpec{}}
	if u := r.use(foreign, sel); u.kind == writes && r.assigned() {
		r.leafWrites = append(r.leafWrites, use{variable: foreign, kind: writes, at: u.at, later: u.later, once: u.once})
	}
}

// assigned reports whether pkg.Name, or a part of it, is on the left side of an
// assignment. Elsewhere it may be a function or a type as well.
func (r *resolver) assigned() bool {
	for i := len(r.stack) - 1; i > 0; i-- {
		switch p := r.stack[i-1].(type) {
		case *ast.AssignStmt:
			left, ok := r.stack[i].(ast.Expr)
			return ok && slices.Contains(p.Lhs, left)
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr, *ast.ParenExpr:
		default:
			return false
		}
	}
	return false
}

func (r *resolver) ident(id *ast.Ident) {
	if id.Name == "_" {
		return
	}
	f := r.decl.file
	if id.Obj != nil && f.syntax.Scope.Lookup(id.Name) != id.Obj {
		return // local
	}
	d := f.pkg.scope[id.Name]
	for _, path := range f.dots {
		if d == nil && f.pkg.program.packages[path] != nil {
			d = f.pkg.program.packages[path].scope[id.Name]
		}
	}
	if d == nil || d == r.decl && d.kind != "var" {
		return
	}
	r.refer(d, id)
}

// refer notes that the expression names declaration d.
func (r *resolver) refer(d *decl, n ast.Expr) {
	r.words = append(r.words, d.name())
	if d.kind == "var" && !r.declares(n) {
		r.uses = append(r.uses, r.use(d, n))
	}
	if d.kind == "func" {
		called, once := r.called(n)
		r.values[d] = r.values[d] || !called
		r.onces[d] = once
	}
	if d != r.decl && !r.seen[d] {
		r.seen[d] = true
		r.targets = append(r.targets, d)
	}
}

// declares reports whether n is the name in the variable's own declaration.
func (r *resolver) declares(n ast.Expr) bool {
	s, ok := r.decl.node.(*ast.ValueSpec)
	id, isIdent := n.(*ast.Ident)
	return ok && isIdent && slices.Contains(s.Names, id)
}

func (r *resolver) problem(p problem) { r.problems = append(r.problems, p) }

// embedded takes in the files of a //go:embed line.
func (r *resolver) embedded() {
	d := r.decl
	for _, pattern := range d.embeds {
		if !d.file.pkg.registers(pattern) {
			r.problem(problem{
				what: fmt.Sprintf("embedded files that are not known (%s): add the pattern to the //go:embed line of the sources", pattern),
				at:   d.at(d.node.Pos()), opaque: true, name: d.name(),
			})
			return
		}
	}
	files, err := d.file.pkg.embeddedFiles(d.embeds)
	r.files = files
	if err != nil {
		r.problem(problem{what: "embedded files that cannot be read: " + err.Error(), at: d.at(d.node.Pos()), opaque: true, name: d.name()})
	}
	r.words = append(r.words, strings.Join(d.embeds, " "))
}

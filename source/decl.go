package source

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"github.com/larder-data/larder/key"
)

// A decl is one declaration at package level: a function, a method, a type, or
// the constants or variables of one specification. A statement of an init
// function counts as one of its own where it has nothing in common with the
// others but package variables.
type decl struct {
	file    *file
	kind    string // "func", "method", "type", "const", "var", "init", "literal"
	names   []string
	node    ast.Node
	inherit ast.Node // of a constant that repeats the expression before it
	iota    int      // place of a constant in its group
	embeds  []string // patterns of a //go:embed line
	version string   // of a boundary
	pragmas []string // what is said to the compiler before a function
	methods []*decl  // of a type
	recv    *decl    // of a method
	linked  bool     // named in a //go:linkname line

	refs // what it refers to
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

func (d *decl) at(p token.Pos) string { return d.file.at(p) }

// body is the function that the declaration is, or nil.
func (d *decl) function() *ast.FuncDecl {
	f, _ := d.node.(*ast.FuncDecl)
	return f
}

func (d *decl) info() *types.Info { return d.file.pkg.info }

func (f *file) at(p token.Pos) string {
	return fmt.Sprintf("%s:%d", f.place(), f.fset.PositionFor(p, false).Line)
}

// place is the file as people know it.
func (f *file) place() string {
	if f.pkg.main {
		return f.name
	}
	return f.pkg.path + "/" + f.name
}

// signature is what counts of a declaration: without the body for a boundary.
func (d *decl) signature() ast.Node {
	if f := d.function(); f != nil && d.version != "" {
		return f.Type
	}
	return d.node
}

// sum digests the declaration: its words without comments and layout, and what
// each name in it stands for. The name of the package, which need not be the end
// of its path, is in the text of types and panics.
func (d *decl) sum(words []string) key.Digest {
	tokens := d.tokens(d.signature())
	if d.inherit != nil {
		tokens = append(tokens, d.tokens(d.inherit)...)
	}
	words = append(words, d.file.pkg.name, d.name(), d.kind, fmt.Sprint(d.iota), d.version, d.file.syntax.GoVersion, strings.Join(d.embeds, " "), strings.Join(d.pragmas, " "))
	for _, name := range d.names {
		words = append(words, d.file.pkg.program.build.linked[d.file.pkg.symbolPath()+"."+name])
	}
	digest, _ := key.Of([]any{tokens, words}) // strings can be keyed
	return digest
}

// face digests what others can see of a method that they do not call: its name
// and its type, which has the names of packages in it where it is printed.
func (d *decl) face() key.Digest {
	f := d.function()
	printed := ""
	if o := d.object(); o != nil {
		printed = types.TypeString(o.Type(), func(p *types.Package) string { return p.Path() + " " + p.Name() })
	}
	digest, _ := key.Of([]any{"face", d.name(), printed, d.tokens(f.Recv), d.tokens(f.Type)})
	return digest
}

// symbolPath is how the linker knows the package.
func (k *pkg) symbolPath() string {
	if k.main {
		return "main"
	}
	return k.path
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
	words := make([]byte, 0, len(content))
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

package analysis

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"github.com/larder-data/larder/key"
)

// A decl is one declaration at package level: a function, a method, a type, or the
// constants or variables of one specification. A statement of an init function is a
// separate declaration if it shares only package variables with the others.
type decl struct {
	file    *file
	kind    string // "func", "method", "type", "const", "var", "init", "literal"
	names   []string
	node    ast.Node
	inherit ast.Node // of a constant that repeats the previous expression
	iota    int      // position of a constant in its group
	embeds  []string // patterns of a //go:embed line
	version string   // of a boundary
	pragmas []string // compiler directives before a function
	methods []*decl  // of a type
	recv    *decl    // of a method
	linked  bool     // named in a //go:linkname line

	refs // its references
}

// name returns the readable name of the declaration: "calc.helper", "shape.Circle.Area".
func (d *decl) name() string {
	n := strings.Join(d.names, ", ")
	if d.recv != nil {
		n = d.recv.names[0] + "." + n
	}
	return d.file.pkg.path + "." + n
}

// label returns the kind and the name.
func (d *decl) label() string { return d.kind + " " + d.name() }

func (d *decl) at(p token.Pos) string { return d.file.at(p) }

// function returns the function that d declares, or nil.
func (d *decl) function() *ast.FuncDecl {
	f, _ := d.node.(*ast.FuncDecl)
	return f
}

func (d *decl) info() *types.Info { return d.file.pkg.info }

func (f *file) at(p token.Pos) string {
	return fmt.Sprintf("%s:%d", f.place(), f.fset.PositionFor(p, false).Line)
}

// place returns the readable name of the file.
func (f *file) place() string {
	if f.pkg.main {
		return f.name
	}
	return f.pkg.path + "/" + f.name
}

// signature returns the part of a declaration that counts: for a boundary, all but the
// body.
func (d *decl) signature() ast.Node {
	if f := d.function(); f != nil && d.version != "" {
		return f.Type
	}
	return d.node
}

// sum digests the declaration: its words without comments and layout, and the meaning of
// each name in it. The name of the package counts, because it is in the text of types and
// panics and may differ from the path.
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

// face digests what code can observe of a method without calling it: its name and its type,
// which shows the names of packages when printed.
func (d *decl) face() key.Digest {
	f := d.function()
	printed := ""
	if o := d.object(); o != nil {
		printed = types.TypeString(o.Type(), func(p *types.Package) string { return p.Path() + " " + p.Name() })
	}
	digest, _ := key.Of([]any{"face", d.name(), printed, d.tokens(f.Recv), d.tokens(f.Type)})
	return digest
}

// symbolPath returns the linker's name of the package.
func (k *pkg) symbolPath() string {
	if k.main {
		return "main"
	}
	return k.path
}

// tokens returns the words of a part of the source, without a comma or semicolon before a
// closing bracket, which depends on layout.
func (d *decl) tokens(n ast.Node) []byte {
	f := d.file.fset.File(n.Pos())
	from, to := f.Offset(n.Pos()), f.Offset(n.End())
	if g, ok := n.(*ast.FuncDecl); ok {
		from = f.Offset(g.Type.Func) // without the doc comment
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

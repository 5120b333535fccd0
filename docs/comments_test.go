package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// TestCommentsNameWhatTheyDescribe checks that the comment on a function, a type or an exported field starts with its
// name, and that links in comments lead to something.
func TestCommentsNameWhatTheyDescribe(t *testing.T) {
	x := indexGo(t)
	walk(t, ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../bench/") {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		report := func(at token.Pos, format string, args ...any) {
			t.Errorf("%s: "+format, append([]any{fset.Position(at)}, args...)...)
		}
		named := func(doc *ast.CommentGroup, name string) {
			if first := firstWord(doc); first != "" && first != name {
				report(doc.Pos(), "the comment on %s starts with %q", name, first)
			}
		}
		for _, c := range f.Comments {
			for _, link := range docLink.FindAllStringSubmatch(c.Text(), -1) {
				if !x.leads(f.Name.Name, link[1]) {
					report(c.Pos(), "there is no %s", link[1])
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				named(n.Doc, n.Name.Name)
			case *ast.GenDecl:
				for _, s := range n.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						doc := s.Doc
						if doc == nil && len(n.Specs) == 1 {
							doc = n.Doc
						}
						named(doc, s.Name.Name)
					}
				}
			case *ast.Field:
				if len(n.Names) == 1 && n.Names[0].IsExported() {
					named(n.Doc, n.Names[0].Name)
				}
			}
			return true
		})
	})
}

// firstWord returns the word with which a comment starts, without an article, or "".
func firstWord(doc *ast.CommentGroup) string {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return strings.TrimRight(words[0], ",:;.")
}

var docLink = regexp.MustCompile(`(?:^|[\s(])\[\*?([A-Za-z_][\w./-]*)\](?:[\s,.;)']|$)`)

// leads reports whether a link in a comment of a package leads to a declaration.
func (x *goIndex) leads(pkg, link string) bool {
	chain := strings.Split(link[strings.LastIndexByte(link, '/')+1:], ".")
	if x.packages[pkg][chain[0]] {
		return x.missing(pkg, chain) == ""
	}
	if len(chain) == 1 {
		return x.packages[chain[0]] != nil || x.foreign(link) || types.Universe.Lookup(link) != nil
	}
	return x.missing(chain[0], chain[1:]) == ""
}

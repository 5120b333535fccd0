package analysis

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOwnPackagesWriteNothing checks that unregistered packages of Larder write no variable of another package and
// register nothing with the standard library. Registered code can then be analyzed without them.
func TestOwnPackagesWriteNothing(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../../..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bench" || d.Name() == "gen" || d.Name() == "examples" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		files++
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, at := range writesElsewhere(t, file, b) {
			t.Errorf("%s: it may write to a variable of another package, or register something there", at)
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Fatalf("checked %d files: %v", files, err)
	}
	if n := len(writesElsewhere(t, "a.go", []byte(`package a
import ("image"; c "image/color"; "net/http")
var p = &c.Black
func init() { image.Black = nil; http.DefaultClient.Timeout++; image.RegisterFormat("", "", nil, nil) }`))); n != 4 {
		t.Errorf("%d of 4 such places are found", n)
	}
}

// writesElsewhere lists the places in a file where it assigns to a name of another package, takes its address, or calls
// a registration function.
func writesElsewhere(t *testing.T, file string, content []byte) (places []string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string]bool{}
	library := map[string]bool{}
	for _, s := range f.Imports {
		at, _ := strconv.Unquote(s.Path.Value)
		name := path.Base(at)
		if s.Name != nil {
			name = s.Name.Name
		}
		imports[name], library[name] = true, !strings.Contains(at, ".")
	}
	of := func(e ast.Expr) string { // the package of the written variable, or ""
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.SelectorExpr:
				if id, ok := x.X.(*ast.Ident); ok && imports[id.Name] && ast.IsExported(x.Sel.Name) {
					return id.Name
				}
				e = x.X
			default:
				return ""
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		var written []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			written = n.Lhs
		case *ast.IncDecStmt:
			written = []ast.Expr{n.X}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				written = []ast.Expr{n.X}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Register") && library[of(s)] {
				places = append(places, fset.Position(n.Pos()).String())
			}
		}
		for _, e := range written {
			if of(e) != "" {
				places = append(places, fset.Position(e.Pos()).String())
			}
		}
		return true
	})
	return places
}

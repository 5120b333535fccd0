package analysis

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDeclaredNamesExist checks that code of Larder which is named in text, such as a variable that is declared to be
// pure, exists: no compiler does. Code would otherwise be computed again although nothing had changed.
func TestDeclaredNamesExist(t *testing.T) {
	const module = "github.com/larder-data/larder"
	root := "../../.."
	named := map[string]string{} // place by name
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, _ := strconv.Unquote(l.Value); strings.HasPrefix(s, module+"/") && strings.Contains(filepath.Base(s), ".") && !strings.ContainsAny(s, " \n") {
					named[s] = fset.Position(l.Pos()).String()
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(named) < 8 {
		t.Fatalf("%d names: %v", len(named), err)
	}
	for name, place := range named {
		dir, _, _ := strings.Cut(filepath.Base(name), ".")
		known := identifiersIn(t, filepath.Join(root, strings.TrimPrefix(filepath.Dir(name), module), dir))
		for part := range strings.SplitSeq(name[strings.LastIndexByte(name, '/')+len(dir)+2:], ".") {
			if !known[part] {
				t.Errorf("%s: there is no %s of %s", place, part, name)
			}
		}
	}
}

// identifiersIn returns the identifiers in a package; a declaration may also name a variable that a function captures.
func identifiersIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names[id.Name] = true
			}
			return true
		})
	}
	return names
}

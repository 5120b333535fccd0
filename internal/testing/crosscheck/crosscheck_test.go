// Package crosscheck provides a test that type-checks the module for systems on which no
// tests run.
package crosscheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestOtherSystems type-checks the module for other systems, including a 32-bit one. It
// finds missing functions and constants that overflow. Compiling all imports would take
// minutes.
func TestOtherSystems(t *testing.T) {
	testrand.Long(t)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"darwin/arm64", "windows/amd64", "windows/386"} {
		t.Run(system, func(t *testing.T) {
			goos, goarch, _ := strings.Cut(system, "/")
			found, err := packages.Load(&packages.Config{
				Mode:      packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
				Env:       append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
				Dir:       root,
				ParseFile: declared(root),
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			if len(found) < 100 {
				t.Errorf("only %d packages were found", len(found))
			}
			for _, pkg := range found {
				for _, problem := range pkg.Errors {
					t.Error(problem)
				}
			}
		})
	}
}

// declared returns a parser that omits function bodies of other modules, as only their
// declarations count.
func declared(root string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err == nil && !strings.HasPrefix(name, root) {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					f.Body = nil
				}
			}
		}
		return file, err
	}
}

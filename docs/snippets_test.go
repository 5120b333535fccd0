package docs_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// declared has what blocks without a comment before them need.
var declared = []struct{ page, contains, decls string }{
	{"README.md", "model.Embed", `
		type embedder struct{ Name string }
		func (embedder) Embed(context.Context, string) ([]float32, error) { panic(0) }
		var model embedder
		var text string`},
}

// imports maps names of packages to their paths.
var imports = map[string]string{}

func init() {
	for _, path := range []string{"context", "embed", "encoding/json", "errors", "fmt", "image", "io", "iter", "os", "strconv", "strings", "testing", "time"} {
		imports[filepath.Base(path)] = path
	}
	for _, path := range []string{
		"array", "cache", "cli", "codec", "codeid", "component", "dataset", "flow", "format/output", "format/underfolder", "key", "lazy", "loader", "mapper", "op", "order", "store", "store/disk", "store/memory", "store/redis", "store/storetest", "store/tier", "stream", "stream/content", "flow/rewrite",
	} {
		imports[filepath.Base(path)] = "github.com/larder-data/larder/" + path
	}
	imports["larder"] = "github.com/larder-data/larder"
}

// TestSnippetsCompile builds every Go block, each as a package of this repository that is
// not on disk.
func TestSnippetsCompile(t *testing.T) {
	testrand.Long(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	args := []string{"build", "-o", os.DevNull, "-overlay", filepath.Join(tmp, "overlay.json")}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.lang != "go" {
				continue
			}
			where := fmt.Sprintf("%s:%d", p.name, b.line)
			code, err := complete(filepath.ToSlash(p.name), b)
			if err != nil {
				t.Errorf("%s: %v", where, err)
				continue
			}
			name := fmt.Sprintf("snippet%d", len(overlay["Replace"]))
			file := filepath.Join(tmp, name+".go")
			write(t, file, []byte(code))
			overlay["Replace"][filepath.Join(root, "docs", name, "snippet.go")] = file
			args = append(args, "./docs/"+name)
		}
	}
	if len(overlay["Replace"]) < 10 {
		t.Fatalf("%d blocks of Go", len(overlay["Replace"]))
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tmp, "overlay.json"), b)
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
		for _, file := range overlay["Replace"] {
			if code, err := os.ReadFile(file); err == nil && strings.Contains(string(out), filepath.Base(file)) {
				t.Logf("%s:\n%s", file, code)
			}
		}
	}
}

var (
	// leftOut matches a function body that is left out, perhaps except for its essential
	// part.
	leftOut = regexp.MustCompile(`\{ \.\.\. .*\}`)
	skipped = regexp.MustCompile(`(?m)^\t*\.\.\.$`)
)

// complete makes a file of a block.
func complete(page string, b block) (string, error) {
	if strings.HasPrefix(b.text, "package ") {
		return b.text, nil
	}
	decls := strings.TrimPrefix(strings.TrimSpace(b.comment), "go:")
	for _, d := range declared {
		if d.page == page && strings.Contains(b.text, d.contains) {
			decls += d.decls
		}
	}
	code := leftOut.ReplaceAllString(b.text, "{ panic(0) }")
	code = skipped.ReplaceAllString(code, "if err != nil { return err }")
	if strings.HasSuffix(strings.TrimSpace(code), "{") {
		code += "panic(0)\n}\n"
	}
	code = fmt.Sprintf("//line %s:%d\n", page, b.line) + code // positions of errors
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+code, parser.SkipObjectResolution); err != nil {
		if code, err = function(code); err != nil {
			return "", err
		}
	}
	code = decls + "\n" + code
	var header strings.Builder
	header.WriteString("package snippet\n")
	for _, name := range used(code) {
		fmt.Fprintf(&header, "import %q\n", imports[name])
	}
	file, err := format.Source([]byte(header.String() + code))
	return string(file), err
}

// function wraps statements, and uses the variables that they declare.
func function(code string) (string, error) {
	wrap := func(end string) string {
		return "func _(ctx context.Context, l *larder.Larder) error {\n" + code + end + "return nil\n}\n"
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+wrap(""), parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var uses strings.Builder
	for _, name := range names(f.Decls[0].(*ast.FuncDecl).Body.List) {
		fmt.Fprintf(&uses, "_ = %s\n", name)
	}
	return wrap(uses.String()), nil
}

// names lists the variables that statements declare.
func names(statements []ast.Stmt) (all []string) {
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for _, e := range s.Lhs {
				if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" {
					all = append(all, id.Name)
				}
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						all = append(all, id.Name)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)

// used lists the packages that code names.
func used(code string) (all []string) {
	for _, m := range qualifier.FindAllStringSubmatch(code, -1) {
		if imports[m[1]] != "" && !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return all
}

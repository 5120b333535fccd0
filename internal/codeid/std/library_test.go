package std_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder/internal/codeid/std"
)

// importable lists the packages of the installed standard library.
func importable(t *testing.T) (paths []string) {
	t.Helper()
	if !strings.HasPrefix(runtime.Version()+".", std.Go+".") {
		t.Skipf("the tests are built by %s, what is known is %s", runtime.Version(), std.Go)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "std")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the sources of the standard library are not at hand: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(path, "vendor/") && !slices.Contains(strings.Split(path, "/"), "internal") {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestEveryPackageIsKnown(t *testing.T) {
	lib := std.New()
	for _, path := range importable(t) {
		if !std.Has(path) {
			t.Errorf("package %s is not known", path)
		}
		p, err := lib.Import(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Path() != path || !p.Complete() {
			t.Errorf("imported %s: got %s, complete: %v", path, p.Path(), p.Complete())
		}
	}
}

// TestTypesAreThoseOfTheSources checks that the exports have the same types as in the sources.
func TestTypesAreThoseOfTheSources(t *testing.T) {
	importable(t)
	lib := std.New()
	fromSource := importer.ForCompiler(token.NewFileSet(), "source", nil)
	for _, path := range []string{"errors", "strings", "slices", "sort", "strconv", "iter", "math/big", "container/list"} {
		want, err := fromSource.Import(path)
		if err != nil {
			t.Skipf("the sources of package %s are not at hand: %v", path, err)
		}
		got, err := lib.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range want.Scope().Names() {
			if !ast.IsExported(name) {
				continue
			}
			o := got.Scope().Lookup(name)
			if o == nil {
				t.Errorf("%s.%s is missing", path, name)
			} else if g, w := describe(o), describe(want.Scope().Lookup(name)); g != w {
				t.Errorf("%s.%s:\ngot  %s\nwant %s", path, name, g, w)
			}
		}
	}
}

// describe writes an object with all that can be selected from it.
func describe(o types.Object) string {
	var b strings.Builder
	fmt.Fprintln(&b, o)
	if _, isType := o.(*types.TypeName); isType {
		set := types.NewMethodSet(types.NewPointer(o.Type()))
		for s := range set.Methods() {
			fmt.Fprintln(&b, s)
		}
	}
	return b.String()
}

func TestImportsShareTheirTypes(t *testing.T) {
	for _, order := range [][]string{{"io", "bytes", "net/http"}, {"net/http", "bytes", "io"}} {
		lib := std.New()
		for _, path := range order {
			if _, err := lib.Import(path); err != nil {
				t.Fatal(err)
			}
		}
		check(t, lib, `package p
			import ("bytes"; "io"; "net/http"; "time"; "crypto/tls")
			var r io.Reader = &bytes.Buffer{}
			var body io.Reader = (&http.Response{}).Body
			var d time.Duration = http.DefaultClient.Timeout
			var c *tls.Config = (&http.Server{}).TLSConfig
			var v uint16 = c.MinVersion`)
	}
}

func TestImportTwiceIsOnePackage(t *testing.T) {
	lib := std.New()
	a, err := lib.Import("fmt")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := lib.Import("fmt"); a != b {
		t.Error("two imports gave two packages")
	}
	if b, _ := std.New().Import("fmt"); a == b {
		t.Error("two libraries share a package")
	}
	if u, err := lib.Import("unsafe"); u != types.Unsafe || err != nil {
		t.Errorf("unsafe: got %v, %v", u, err)
	}
}

func TestImportOfWhatIsNotKnown(t *testing.T) {
	for _, path := range []string{"", ".", "C", "internal/poll", "vendor/golang.org/x/net/idna", "golang.org/x/tools", "fmt/", "../fmt", "cmd/go", "Fmt", "runtime/cgo"} {
		if std.Has(path) {
			t.Errorf("%q is said to be known", path)
		}
		if p, err := std.New().Import(path); err == nil || p != nil || !strings.Contains(err.Error(), "not known") {
			t.Errorf("%q: got %v, %v", path, p, err)
		}
	}
}

// TestImportAtOnce is for the race detector: many goroutines may import and check concurrently.
func TestImportAtOnce(t *testing.T) {
	lib := std.New()
	var wg sync.WaitGroup
	for _, src := range []string{
		`import ("net/http"; "time"); var d time.Duration = http.DefaultClient.Timeout`,
		`import ("time"; "crypto/tls"); var d = func(c *tls.Config) time.Time { return c.Time() }`,
		`import ("crypto/tls"; "net/http"); var c *tls.Config = (&http.Server{}).TLSConfig`,
		`import ("encoding/json"; "net/http"; "io"); var d = func(r *http.Response) *json.Decoder { var b io.Reader = r.Body; return json.NewDecoder(b) }`,
	} {
		wg.Go(func() { check(t, lib, "package p; "+src) })
	}
	wg.Wait()
}

// check type-checks a file.
func check(t *testing.T, imp types.Importer, src string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Error(err)
		return
	}
	config := types.Config{Importer: imp, Error: func(err error) { t.Error(err) }}
	_, _ = config.Check("p", fset, []*ast.File{f}, nil)
}

func BenchmarkImport(b *testing.B) {
	for b.Loop() {
		lib := std.New()
		for _, path := range []string{"fmt", "strings", "net/http", "encoding/json", "image/png"} {
			if _, err := lib.Import(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

package analysis

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestLibraryMethodsByInterfaces checks that the reads of a library type's method count where an interface may call it,
// and nowhere else.
func TestLibraryMethodsByInterfaces(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    string // words of the refusal; "" for none
	}{
		{"a command", `IMPORT "os/exec"; type opener interface{ Output() ([]byte, error) }; func Area() int { var o opener = &exec.Cmd{Path: "/bin/date"}; b, _ := o.Output(); return len(b) }`, "os/exec.Cmd.Output (another program), by an interface"},
		{"a directory", `IMPORT "net/http"; func open(f http.FileSystem) error { _, err := f.Open("a"); return err }; func Area() error { return open(http.Dir("/")) }`, "net/http.Dir.Open (the file system), by an interface"},
		{"a directory that is embedded", `IMPORT "net/http"; type dir struct{ http.Dir; n int }; type opener interface{ Open(string) (http.File, error) }; func Area() error { var o opener = dir{}; _, err := o.Open("a"); return err }`, "net/http.Dir.Open"},
		{"a directory as a type argument, behind an interface", `IMPORT "net/http"; func open[F http.FileSystem](f F) error { var s http.FileSystem = f; _, err := s.Open("a"); return err }; func Area() error { return open(http.Dir("/")) }`, "net/http.Dir.Open"},
		{"by a name in data", `IMPORT "net/http"; IMPORT "reflect"; func Area(s string) int { return reflect.ValueOf(http.Dir("/")).MethodByName(s).Type().NumIn() }`, "net/http.Dir.Open"},
		{"of which nothing is called", `IMPORT "fmt"; IMPORT "os/user"; func Area() string { return fmt.Sprint(&user.User{Name: "a"}) }`, ""},
		{"a file to write to", `IMPORT "bytes"; IMPORT "fmt"; func Area() string { var b bytes.Buffer; fmt.Fprint(&b, "a"); return b.String() }`, ""},
		{"a time and a number", `IMPORT "fmt"; IMPORT "math/big"; IMPORT "time"; func Area() string { return fmt.Sprint(time.Second, big.NewInt(1)) }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { testVariable(t, c.text, c.refused) })
	}
}

// TestBarredLibraryTypes checks that library types with a method that reads external state are refused where values
// arrive through interfaces.
func TestBarredLibraryTypes(t *testing.T) {
	c := Closure{Opens: true}
	for _, v := range []any{http.Dir("/"), os.DirFS("/"), []any{http.Dir("/")}, struct{ F any }{&exec.Cmd{}}} {
		if err := c.CheckValue(v); err == nil || !strings.Contains(err.Error(), "no code identity covers") {
			t.Errorf("%T: %v", v, err)
		}
	}
	for _, v := range []any{time.Second, time.Unix(1, 0), []any{1, "a"}, &strings.Builder{}} {
		if err := c.CheckValue(v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
	if err := (&Closure{}).CheckValue(http.Dir("/")); err != nil {
		t.Errorf("where nothing comes in: %v", err)
	}
	if err := (&Closure{Opens: true, Trusted: []string{"net/http/..."}}).CheckValue(http.Dir("/")); err != nil {
		t.Errorf("declared as Pure: %v", err)
	}
}

// TestHolder checks that a literal belongs to the package in whose directory its file is, whatever the compiler calls
// it.
func TestHolder(t *testing.T) {
	registry.Lock()
	was := registry.packages
	registry.packages = []*registration{{path: "x/main", dir: "/src/main"}, {path: "x/calc", dir: "/src/calc"}, {path: "x/calc" + testOf, dir: "/src/calc"}, {path: "x/other", dir: "/src/other"}}
	registry.Unlock()
	defer func() {
		registry.Lock()
		defer registry.Unlock()
		registry.packages = was
	}()
	for _, c := range []struct{ named, file, want string }{
		{"x/main", "/src/main/main.go", "x/main"},
		{"x/main", "/src/calc/main.go", "x/calc"},
		{"x/main", "/src/unknown/main.go", "/src/unknown"},
		{"x/unknown", "/src/calc/main.go", "x/calc"},
		{"x/unknown", "/src/unknown/main.go", "x/unknown"},
		{"x/calc", "/src/calc/calc_test.go", "x/calc"},
		{"x/calc" + testOf, "/src/calc/more_test.go", "x/calc" + testOf},
		{"x/calc" + testOf, "/src/calc/calc.go", "x/calc"},
		{"x/other" + testOf, "/src/other/other_test.go", "x/other" + testOf},
		{"x/other" + testOf, "/src/other/other.go", "x/other"},
	} {
		if got := holder(c.named, c.file); got != c.want {
			t.Errorf("a literal of %s that is called after %s is of %s, want %s", c.file, c.named, got, c.want)
		}
	}
}

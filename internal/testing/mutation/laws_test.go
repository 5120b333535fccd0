// Package mutation provides mutation tests of the invariants. For each place that upholds
// one, it has a small edit that breaks it and the tests that must fail. The tables also
// generate docs/internals/guarantees.md.
package mutation

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A law is an invariant of ARCHITECTURE.md, in its order.
type law struct {
	// shows maps the tests of the law to what they show. A key is the directory from the
	// root, a dot and the test's name.
	shows     map[string]string
	mutations []mutation
}

// A mutation is an edit that breaks a law.
type mutation struct {
	change string // what the edit does to the code, as an imperative
	file   string // from the root
	old    string // occurs once in the file
	new    string
	tests  []string // of law.shows, all in one directory: each must fail
}

var laws = []law{rightHits, onceComputed, neverHalf, bounded, onlyAsked, ordered, explained, safeData}

const (
	root = "../../.."
	page = root + "/docs/internals/guarantees.md"
)

var update = flag.Bool("update", false, "write docs/internals/guarantees.md again")

// directory splits the name of a test.
func directory(test string) (dir, name string) {
	at := strings.LastIndex(test, ".")
	return test[:at], test[at+1:]
}

// named returns the displayed name of a test, with its package instead of the directory.
func named(test string) string {
	dir, name := directory(test)
	if dir == "" {
		dir = "larder"
	}
	return filepath.Base(dir) + "." + name
}

// mutate returns the content of the file with the edit.
func (m mutation) mutate() (content []byte, at int, err error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, 0, err
	}
	if n := bytes.Count(b, []byte(m.old)); n != 1 || m.old == m.new {
		return nil, 0, fmt.Errorf("%s: the text to be edited (%s) comes %d times; adapt the table:\n%s", m.file, m.change, n, m.old)
	}
	return bytes.Replace(b, []byte(m.old), []byte(m.new), 1), bytes.Index(b, []byte(m.old)), nil
}

// place returns the name of the edited function: "store/disk/get.go: (*Store).read".
func (m mutation) place() (string, error) {
	_, at, err := m.mutate()
	if err != nil {
		return "", err
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, filepath.Join(root, m.file), nil, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	at += len(m.old) - len(strings.TrimLeft(m.old, " \t\n"))
	for _, d := range f.Decls {
		if files.Position(d.Pos()).Offset <= at && at < files.Position(d.End()).Offset {
			return m.file + ": " + declared(d), nil
		}
	}
	return "", fmt.Errorf("%s: the text to be edited (%s) is in no declaration", m.file, m.change)
}

// declared returns the name of a declaration.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
	case *ast.GenDecl:
		switch s := d.Specs[0].(type) {
		case *ast.ValueSpec:
			return s.Names[0].Name
		case *ast.TypeSpec:
			return s.Name.Name
		}
	}
	return "?"
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return "(*" + receiver(t.X) + ")"
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// statements reads the laws from ARCHITECTURE.md.
func statements(t *testing.T) (all []string) {
	t.Helper()
	b, err := os.ReadFile(root + "/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## The invariants\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^\d+\. (.*)$`).FindAllStringSubmatch(section, -1) {
		all = append(all, m[1])
	}
	if len(all) != len(laws) {
		t.Fatalf("ARCHITECTURE.md has %d invariants, and the tables are of %d", len(all), len(laws))
	}
	return all
}

// declaredTests returns all tests, by directory and name.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if dir == "." {
			dir = ""
		}
		content, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(content), -1) {
			all[filepath.ToSlash(dir)+"."+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTables checks that every named test exists and is described, that every law has at
// least three, and that every edit has its position and its tests.
func TestTables(t *testing.T) {
	have := declaredTests(t)
	mutations := 0
	for i, l := range laws {
		mutations += len(l.mutations)
		if len(l.shows) < 3 {
			t.Errorf("law %d is held by %d tests, and needs three", i+1, len(l.shows))
		}
		for test := range l.shows {
			if !have[test] {
				t.Errorf("law %d: there is no test %s", i+1, test)
			}
		}
		for _, m := range l.mutations {
			if _, err := m.place(); err != nil {
				t.Errorf("law %d: %v", i+1, err)
			}
			if len(m.tests) == 0 {
				t.Errorf("law %d: the edit %q has no test", i+1, m.change)
				continue
			}
			dir, _ := directory(m.tests[0])
			for _, test := range m.tests {
				if other, _ := directory(test); l.shows[test] == "" || other != dir {
					t.Errorf("law %d: %s is not described, or not in %q (%s)", i+1, test, dir, m.change)
				}
			}
		}
	}
	if mutations < 40 {
		t.Errorf("there are %d edits, and should be 40", mutations)
	}
}

// TestPage compares docs/internals/guarantees.md with the tables; -update writes it.
func TestPage(t *testing.T) {
	want := render(t)
	if *update {
		if err := os.WriteFile(page, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/internals/guarantees.md is not what the tables say; go test ./internal/testing/mutation -update writes it")
	}
}

const intro = `# Guarantees and their tests

[ARCHITECTURE.md](../../ARCHITECTURE.md) states eight invariants. This page lists for each the tests that check it, and edits of the code that these tests notice.

The tests are tested, too. Each row under "Edits that break it" is a deliberate mistake: a small edit of the code at that place. With the edit, every test of the row fails; without it, they pass. These rows therefore say what Larder does *not* do. This applies all edits, in a few minutes:

    LARDER_LAWS=1 go test -run TestMutations -v ./internal/testing/mutation

The tables are in [internal/testing/mutation](../../internal/testing/mutation), and this page is written from them: ` + "`go test ./internal/testing/mutation -update`" + `.
`

// render writes the page.
func render(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(intro)
	for i, statement := range statements(t) {
		l := laws[i]
		title, _, _ := strings.Cut(strings.TrimPrefix(statement, "**"), ".**")
		fmt.Fprintf(&b, "\n## %d. %s\n\n%s\n", i+1, title, strings.TrimSpace(strings.TrimPrefix(statement, "**"+title+".**")))
		b.WriteString("\n### Tests\n\n| Test | What it shows |\n| --- | --- |\n")
		for _, test := range slices.SortedFunc(maps.Keys(l.shows), func(a, b string) int { return strings.Compare(named(a), named(b)) }) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", named(test), l.shows[test])
		}
		b.WriteString("\n### Edits that break it\n\n| Place | Edit | Then fails |\n| --- | --- | --- |\n")
		for _, m := range l.mutations {
			place, err := m.place()
			if err != nil {
				t.Fatal(err)
			}
			file, function, _ := strings.Cut(place, ": ")
			tests := make([]string, len(m.tests))
			for i, test := range m.tests {
				tests[i] = "`" + named(test) + "`"
			}
			fmt.Fprintf(&b, "| [`%s`](../../%s) `%s` | %s | %s |\n", file, file, function, m.change, strings.Join(tests, ", "))
		}
	}
	return b.Bytes()
}

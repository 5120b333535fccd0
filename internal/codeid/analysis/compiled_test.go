package analysis

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

const embedAll = "\n\nimport \"embed\"\n\n//go:embed *.go\nvar files embed.FS\n\n"

// dirs registers packages of several files each, by path and by the names of the files, in a test binary of one of
// them.
func dirs(t *testing.T, tested string, files map[string]map[string]string) *parsedProgram {
	t.Helper()
	var registered []*registration
	for path, texts := range files {
		dir := fstest.MapFS{}
		for name, text := range texts {
			dir[name] = &fstest.MapFile{Data: []byte(text)}
		}
		registered = append(registered, &registration{path: path, files: dir})
	}
	b := thisBuild()
	b.modules, b.tested = []module{{path: "x", main: true}}, tested
	p, err := load(registered, b, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPackageUnderTest checks that the go command reports which package a test binary tests.
func TestPackageUnderTest(t *testing.T) {
	if got := thisBuild().tested; got != engine+"/internal/codeid/analysis" {
		t.Errorf("this binary tests %q", got)
	}
}

// TestTestFiles checks that tests of x/calc count in the binary that tests it, and in no other.
func TestTestFiles(t *testing.T) {
	calc := "package calc" + embedAll + "var V = 1\n\nvar W = 2\n\nfunc Area() int { return V }\n"
	const stray = "package hull\n"
	for _, c := range []struct {
		name, tested string
		test         string // calc/a_test.go
		refused      string // "" if the function is identified by its source
		writer       bool   // the writes of the test file are part of the identity
	}{
		{name: "no tests", tested: "x/calc"},
		{name: "an init of the package's own", tested: "x/calc", test: "package calc\n\nfunc init() { V = 5 }\n", writer: true},
		{name: "an init in another package's tests", tested: "x/hull", test: "package calc\n\nfunc init() { V = 5 }\n"},
		{name: "a test of the package's own", tested: "x/calc", test: "package calc\n\nfunc TestA() { V = 5 }\n", refused: "x/calc.TestA writes"},
		{name: "a test in another package's tests", tested: "x/hull", test: "package calc\n\nfunc TestA() { V = 5 }\n"},
		{name: "an external init", tested: "x/calc", test: "package calc_test\n\nimport \"x/calc\"\n\nfunc init() { calc.V = 5 }\n", writer: true},
		{name: "an external test", tested: "x/calc", test: "package calc_test\n\nimport \"x/calc\"\n\nfunc BenchmarkA() { calc.V = 5 }\n", refused: "x/calc_test.BenchmarkA writes"},
		{name: "an external test that writes something else", tested: "x/calc", test: "package calc_test\n\nimport \"x/calc\"\n\nfunc TestA() { calc.W = 5 }\n"},
		{name: "an external test in another package's tests", tested: "x/hull", test: "package calc_test\n\nimport \"x/calc\"\n\nfunc TestA() { calc.V = 5 }\n"},
		{name: "external tests that use what is not registered", tested: "x/calc", test: "package calc_test\n\nimport _ \"x/hidden\"\n", refused: "which package x/hidden may write"},
		{name: "tests of what is not registered", tested: "x/other", refused: "which package x/other may write"},
		{name: "tests of what is not known", tested: "", refused: "which package under test may write"},
	} {
		texts := map[string]string{"calc.go": calc}
		if c.test != "" {
			texts["a_test.go"] = c.test
		}
		p := dirs(t, c.tested, map[string]map[string]string{"x/calc": texts, "x/hull": {"hull.go": "package hull" + embedAll, "stray_test.go": stray}})
		got, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: refused without the words %q: %v", c.name, c.refused, err)
			}
			continue
		case err != nil || got.Kind != Precise:
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		writer := false
		for _, part := range got.Parts {
			writer = writer || strings.HasPrefix(part.Name, "init ")
		}
		if writer != c.writer {
			t.Errorf("%s: identified by what the tests do: %v", c.name, writer)
		}
	}
}

// TestExternalTestsAreNotRegistered checks that functions of external tests are identified only if the tests register.
func TestExternalTestsAreNotRegistered(t *testing.T) {
	files := map[string]string{"calc.go": "package calc" + embedAll, "a_test.go": "package calc_test\n\nfunc Area() int { return 1 }\n"}
	p := dirs(t, "x/calc", map[string]map[string]string{"x/calc": files})
	if _, err := p.identify(Function{Package: "x/calc_test", Symbol: "Area"}, Declared{}); !errors.Is(err, ErrNotRegistered) {
		t.Error(err)
	}
	files["a_test.go"] = "package calc_test" + embedAll + "func Area() int { return 1 }\n"
	p = dirs(t, "x/calc", map[string]map[string]string{"x/calc": files, "x/calc_test": files})
	if c, err := p.identify(Function{Package: "x/calc_test", Symbol: "Area"}, Declared{}); err != nil || c.Kind != Precise {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestPackagesNamedLikeTests checks that package names that look like those of tests mean nothing.
func TestPackagesNamedLikeTests(t *testing.T) {
	const area = "func Area() int { return 1 }\n"
	for tested, files := range map[string]map[string]map[string]string{
		"x/own": {"x/calc": {"calc.go": "package calc_test" + embedAll + area}, "x/own": {"own.go": "package own" + embedAll}},
		"x/calc": {"x/calc": {
			"calc.go": "package calc_test" + embedAll, "a_test.go": "package calc_test\n\n" + area, "doc.go": "package documentation\n",
		}},
		"x/ca": {"x/calc": {"calc.go": "package calc" + embedAll + area}, "x/ca": {"ca.go": "package ca" + embedAll}, "x/ca_test": {"ca.go": "package ca" + embedAll}},
	} {
		if c, err := dirs(t, tested, files).identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{}); err != nil || c.Kind != Precise {
			t.Errorf("tests of %s: %+v, %v", tested, c, err)
		}
	}
}

// TestPackagesInParts checks that a package that does not embed all its sources may do anything in the others.
func TestPackagesInParts(t *testing.T) {
	for pattern, refused := range map[string]bool{
		"*.go": false, "hull.go": true, "hull.go\nvar some embed.FS\n\nvar _ = codeid.Register(some)\n\n//go:embed *": true,
		"text.txt\nvar some embed.FS\n\nvar _ = codeid.Register(files)\n\n//go:embed *": false,
	} {
		p := dirs(t, "x/calc", map[string]map[string]string{
			"x/calc": {"calc.go": "package calc" + embedAll + "var V = 1\n\nfunc Area() int { return V }\n"},
			"x/hull": {"hull.go": "package hull\n\nimport \"embed\"\n\nimport \"github.com/larder-data/larder/codeid\"\n\n//go:embed " + pattern + "\nvar files embed.FS\n"},
		})
		_, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if got := err != nil && strings.Contains(err.Error(), "which package x/hull may write"); got != refused || !refused && err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestPackageClauses checks that the name in the package clause is printed with its types, whatever its directory.
func TestPackageClauses(t *testing.T) {
	id := func(clause, area string) string {
		p := dirs(t, "x/calc", map[string]map[string]string{
			"x/calc": {"calc.go": "package calc\n\nimport \"embed\"\n\nimport \"fmt\"\n\nimport q \"x/q\"\n\n//go:embed *.go\nvar files embed.FS\n\ntype own struct{}\n\nfunc (own) Q() (t q.T) { return }\n\n" + area},
			"x/q":    {"q.go": "package " + clause + embedAll + "type T struct{}\n\ntype Box[E any] struct{}\n\nfunc F(n int) any { type local struct{}; return local{} }\n"},
		})
		c, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if err != nil || c.Kind != Precise {
			t.Fatalf("%+v, %v", c, err)
		}
		return c.ID.String()
	}
	for _, c := range []struct {
		area    string
		changes bool
	}{
		{"func Area() string { return fmt.Sprintf(\"%T\", q.T{}) }\n", true},
		{"func Area() string { return fmt.Sprintf(\"%T\", q.Box[int]{}) }\n", true},
		{"func Area() string { return fmt.Sprintf(\"%T\", q.F(1)) }\n", true},
		{"func Area() string { return fmt.Sprint(own{}) }\n", true}, // a method's type
		{"func Area() string { return fmt.Sprint(1) }\n", false},
	} {
		if (id("q", c.area) != id("q2", c.area)) != c.changes {
			t.Errorf("%s: changed %v", c.area, !c.changes)
		}
	}
}

// TestPatternsOfAllSources checks that patterns other than *.go may embed all Go files of a directory, too.
func TestPatternsOfAllSources(t *testing.T) {
	for pattern, all := range map[string]bool{
		"*.go": true, "*": true, "all:*": true, "*.*": true, "*o": true, `"*.go"`: true, "text.txt *.go": true, "calc.go": false, "c*.go": false, "*.txt": false, "?*.go": false,
	} {
		text := "package calc\n\nimport \"embed\"\n\n//go:embed " + pattern + "\nvar files embed.FS\n\nfunc Area() int { return 1 }\n"
		p := dirs(t, "x/calc", map[string]map[string]string{"x/calc": {"calc.go": text}})
		c, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Kind == Precise; got != all {
			t.Errorf("%s: %q", pattern, c.Doubts)
		}
	}
}

// TestHiddenFilesAreEmbeddedByName checks that a registered pattern without all: does not cover hidden files.
func TestHiddenFilesAreEmbeddedByName(t *testing.T) {
	for sources, registers := range map[string]bool{"*": false, "all:*": true} {
		k := &pkg{sources: []string{sources}}
		if k.registers("all:data") != registers || !k.registers("data") || k.registers("data/more") {
			t.Errorf("%s: all:data %v, data %v, data/more %v", sources, k.registers("all:data"), k.registers("data"), k.registers("data/more"))
		}
	}
}

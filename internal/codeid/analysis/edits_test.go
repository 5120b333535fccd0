package analysis_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// An edit is made to the program in testdata/suite.
type edit struct {
	name   string
	change changes
	flags  []string // of the build, in addition to the usual ones
	env    []string // of the run
	// from, fromFlags and fromEnv first make another program of the unedited one.
	from      changes
	fromFlags []string
	fromEnv   []string

	reaches   string   // the functions that depend on the edited text; * is all
	why       string   // what a function that is computed again must name: one of the words between bars
	same      bool     // no value changes, and a cached value is right
	types     bool     // a function has other types, which every key covers
	mayRefuse bool     // the functions that are reached may be refused instead
	refuses   string   // the functions that must be refused
	path      []string // words of each refusal

	alone bool   // affects functions that it does not reach: an edit joined with it would, too
	parts []edit // the edits it consists of, if several
}

// mayRefuse are functions that an identity by sources cannot follow. They are refused or right.
var mayRefuse = set("smooth total left right each")

// coarse are functions that use code whose sources are not registered. Any edit may compute them again.
var coarse = set("smooth each")

var edits = []edit{
	// Edits that reach nothing.
	{name: "nothing at all"},
	{name: "a comment in a body", change: in("calc/helpers.go", "\ttotal := origin\n", "\t// Begin.\n\ttotal := origin // here\n")},
	{name: "a doc comment", change: in("calc/helpers.go", "// add weighs b.", "// add adds a\n// and a weighed b.")},
	{name: "a comment in an expression", change: in("calc/helpers.go", "a + b*gain", "a + /* twice */ b*gain")},
	{name: "a package comment", change: in("tables/tables.go", "package tables", "// Package tables has tables.\npackage tables")},
	{name: "spaces and empty lines", change: in("calc/helpers.go", "\tfor _, x := range xs {\n\t\ttotal = add(total, x)\n", "\n\tfor  _,x:=range xs {\n\n\t\ttotal   = add( total, x )\n\n")},
	{name: "a body on several lines", change: in("calc/helpers.go", "float64 { return a + b*gain }", "float64 {\n\treturn a + b*gain\n}")},
	{name: "arguments on several lines", change: in("calc/helpers.go", "add(total, x)", "add(\n\t\t\ttotal,\n\t\t\tx,\n\t\t)")},
	{name: "lines that end as on Windows", change: edited("calc/helpers.go", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })},
	{name: "a byte order mark", change: edited("calc/helpers.go", func(s string) string { return "\ufeff" + s })},
	{name: "no newline at the end", change: edited("calc/helpers.go", strings.TrimSpace)},
	{name: "a helper moves to another file", change: both(in("calc/helpers.go", "// add weighs b.\nfunc add(a, b float64) float64 { return a + b*gain }\n", ""), in("calc/loops.go", "// Loops keeps", "func add(a, b float64) float64 { return a + b*gain }\n\n// Loops keeps"))},
	{name: "a helper moves within its file", change: both(in("calc/helpers.go", "func cents(x float64) float64 { return math.Round(x*100) / 100 }\n", ""), in("calc/helpers.go", "func unused()", "func cents(x float64) float64 { return math.Round(x*100) / 100 }\n\nfunc unused()"))},
	{name: "constants move to a new file", change: renamed("calc/consts.go", "calc/levels.go")},
	{name: "a method moves to another file", change: both(in("shape.v2/solid.go", "// Edge is the whole way round.\nfunc (s Square) Edge() float64 { return 4 * s.side }\n", ""), added("shape.v2/edge.go", "package shape\n\nfunc (s Square) Edge() float64 { return 4 * s.side }\n"))},
	{name: "a variable moves to another file", change: both(in("tables/tables.go", "var prices = map[string]int{\"apple\": 3, \"pear\": 4}\n", ""), added("tables/prices.go", "package tables\n\nvar prices = map[string]int{\"apple\": 3, \"pear\": 4}\n"))},
	{name: "a lazy function moves to another file", change: both(in("tables/tables.go", "// Banner says a version.\nfunc Banner(_ context.Context, name string) (string, error) { return name + \" \" + Version, nil }\n", ""), added("tables/banner.go", "package tables\n\nimport \"context\"\n\nfunc Banner(_ context.Context, name string) (string, error) { return name + \" \" + Version, nil }\n"))},
	{name: "a file with init is renamed in place", change: renamed("tables/setup.go", "tables/settle.go")},
	{name: "a group of constants is split", change: in("calc/consts.go", "\tbase   = 1 << 3\n", ")\n\nconst base = 1 << 3\n\nconst (\n")},
	{name: "a group of variables is made", change: both(in("tables/setup.go", "var tax int\n\nvar order []string\n", "var (\n\ttax   int\n\torder []string\n)\n"))},
	{name: "a function without callers is renamed", change: in("calc/helpers.go", "func unused()", "func unneeded()")},
	{name: "a function without callers is edited", change: in("calc/helpers.go", "nobody calls this", "nobody ever calls this")},
	{name: "a function without callers is removed", change: in("calc/helpers.go", "func unused() string { return \"nobody calls this\" }\n", "")},
	{name: "a function is added", change: in("calc/helpers.go", "func unused()", "func sorted(a, b int) bool { return a < b }\n\nfunc unused()")},
	{name: "a file is added", change: added("calc/more.go", "package calc\n\nimport \"strings\"\n\n// A Name is of something.\ntype Name string\n\n// Upper is louder.\nfunc (n Name) Upper() string { return strings.ToUpper(string(n)) }\n")},
	{name: "a function is named like a local variable", change: added("calc/more.go", "package calc\n\nfunc found() int { return 1 }\n\nfunc total() int { return found() }\n")},
	{name: "a function is named like a field", change: added("shape.v2/more.go", "package shape\n\nfunc side() int { return 1 }\n\nfunc height() int { return side() }\n")},
	{name: "a function is named like a field of a literal", change: added("tables/more.go", "package tables\n\nfunc depth() int { return 1 }\n\nfunc name() int { return depth() }\n")},
	{name: "a function is named like a label", change: added("calc/more.go", "package calc\n\nfunc outer() int { return 1 }\n")},
	{name: "a type without values has a method named like one that is called", change: added("shape.v2/more.go", "package shape\n\n// A Point is small.\ntype Point struct{}\n\n// Area is none.\nfunc (Point) Area() float64 { return 0 }\n")},
	{name: "a type of another package has a method named like one that is called", change: added("text/more.go", "package text\n\n// A Job is to be done.\ntype Job struct{}\n\n// Do does nothing.\nfunc (Job) Do(int) int { return 0 }\n\n// String is none.\nfunc (Job) String() string { return \"\" }\n")},
	{name: "a method of a type without values is edited", change: in("calc/generic.go", "return 1609", "return 1852")},
	{name: "a constant without uses, in a group with others", change: in("calc/consts.go", "spare  = 7", "spare  = 9")},
	{name: "a constant is added to a group", change: in("calc/consts.go", "spare  = 7", "spare  = 7\n\tother  = 8")},
	{name: "a test is edited", change: in("calc/calc_test.go", "only in tests", "in tests only")},
	{name: "a test of the package from outside has a helper's name", change: added("calc/out_test.go", "package calc_test\n\nfunc add(a, b float64) float64 { return 0 }\n")},
	{name: "a test's init writes a variable", change: added("tables/init_test.go", "package tables\n\nfunc init() { tax = 100 }\n")},
	{name: "a file for another system is edited", change: in("text/flavour_windows.go", "return `\\`", "return `/`")},
	{name: "a file for another system redefines a helper", change: both(added("text/digits_windows.go", "package text\n\nfunc digits(n int) string { return \"\" }\n"), in("text/text.go", "func digits(n int) string { return strings.Repeat(\"i\", n) }\n", ""), added("text/digits.go", "//go:build !windows\n\npackage text\n\nimport \"strings\"\n\nfunc digits(n int) string { return strings.Repeat(\"i\", n) }\n"))},
	{name: "a file that is left out of the build is edited", change: in("text/fancy.go", `"fancy"`, `"very fancy"`)},
	{name: "a file that is ignored has a helper's name", change: added("calc/gen.go", "//go:build ignore\n\npackage main\n\nfunc add(a, b float64) float64 { return 0 }\n\nfunc main() {}\n")},
	{name: "a file with an underscore has a helper's name", change: added("calc/_old.go", "package calc\n\nfunc add(a, b float64) float64 { return 0 }\n")},
	{name: "a file with a dot has a helper's name", change: added("calc/.old.go", "package calc\n\nfunc add(a, b float64) float64 { return 0 }\n")},
	{name: "a package without importers is edited", change: in("extra/extra.go", "n + 1", "n + 2")},
	{name: "a package is imported for nothing", change: both(in("main.go", `_ "suite/plugins"`, "_ \"suite/idle\"\n\t_ \"suite/plugins\""), added("idle/idle.go", "package idle\n\nimport (\n\t\"embed\"\n\n\t\"github.com/larder-data/larder/codeid\"\n)\n\n//go:embed *.go\nvar files embed.FS\n\nvar _ = codeid.Register(files)\n\nvar seen []int\n\nfunc init() { seen = append(seen, 1) }\n"))},
	{name: "a package that is not registered is imported for nothing", alone: true, change: both(in("main.go", `_ "suite/plugins"`, "_ \"suite/idle\"\n\t_ \"suite/plugins\""), added("idle/idle.go", "package idle\n\nvar seen []int\n\nfunc init() { seen = append(seen, 1) }\n"))},
	{name: "the command is edited", change: in("main.go", "log.Fatal(err)", "log.Fatal(\"suite: \", err)")},
	{name: "imports change places", change: in("shape.v2/shape.go", "\t\"fmt\"\n\t\"sort\"\n\t\"strings\"\n", "\t\"strings\"\n\n\t\"sort\"\n\t\"fmt\"\n")},
	{name: "a function of the language must not be inlined", change: in("calc/helpers.go", "// add weighs b.\n", "//go:noinline\n"), reaches: "sum", why: "add", same: true},
	{name: "lines move under the literals", change: in("report.go", "// Functions of package main", "var lines = 1\n\n\n// Functions of package main")},
	{name: "a literal before the others", change: in("report.go", "// Functions of package main", "var literal = func(n int) int { return n }\n\n// Functions of package main")},
	{name: "a file of literals before the others", change: added("aaa.go", "package main\n\nvar early = func(n int) int { return n + 9 }\n\nfunc init() { _ = func() int { return early(1) } }\n")},
	{name: "a line directive", change: in("report.go", "// Functions of package main", "//line nowhere.go:7\n\n// Functions of package main")},
	{name: "a literal on several lines", change: in("report.go", "{ return s + s + ending, nil }", "{\n\t\treturn s + s + ending, nil\n\t}")},
	{name: "a file that no variable embeds", change: added("text/notes.md", "notes\n")},
	{name: "a hidden file in an embedded directory", change: added("text/phrases/.hidden", "hidden\n")},
	{name: "a tag that no file has", flags: []string{"-tags=unheard"}},
	{name: "symbols for a debugger", flags: []string{"-ldflags="}},
	{name: "a compiler that takes its time", flags: []string{"-gcflags="}, reaches: "*", why: "gcflags", same: true},
	{name: "a file is renamed", change: renamed("flat/flat.go", "flat/level.go")},

	// Functions, one and more calls deep.
	{name: "a helper", change: in("calc/helpers.go", "a + b*gain", "a + b*gain + 1"), reaches: "sum", why: "add"},
	{name: "a helper three deep", change: in("calc/helpers.go", "x*100) / 100", "x*10) / 20"), reaches: "sum", why: "cents"},
	{name: "the function itself", change: in("calc/calc.go", `return "even", nil`, `return "level", nil`), reaches: "parity", why: "Parity"},
	{name: "a parameter's name", change: in("calc/helpers.go", "func times(by int) func(int) int {\n\treturn func(n int) int { return n * by }", "func times(x int) func(int) int {\n\treturn func(n int) int { return n * x }"), reaches: "compose", why: "times", same: true},
	{name: "a recursion's end", change: in("calc/calc.go", "if n < 2 {", "if n < 3 {"), reaches: "fib", why: "Fib"},
	{name: "a mutual recursion", change: in("calc/calc.go", "return even(n - 1)", "return !even(n - 1)"), reaches: "parity", why: "odd"},
	{name: "what a deferred function calls", change: in("calc/calc.go", `"rescued: %v"`, `"saved: %v"`), reaches: "safe", why: "rescue"},
	{name: "a label", change: in("calc/calc.go", "continue outer", "break outer"), reaches: "search", why: "Search", same: true},
	{name: "a closure that a helper returns", change: in("calc/helpers.go", "return n + by", "return n - by"), reaches: "compose", why: "adder"},
	{name: "a generic helper", change: in("calc/generic.go", "if b > a {\n\t\treturn b", "if b < a {\n\t\treturn b"), reaches: "largest", why: "later"},
	{name: "two functions exchange bodies", change: both(in("tables/tables.go", "return strings.ToUpper(s) }", "return `\"` + s + `\"` }"), in("tables/tables.go", "func quote(s string) string   { return `\"` + s + `\"` }", "func quote(s string) string   { return strings.ToUpper(s + \"x\") }")), reaches: "pipeline", why: "upper|quote"},
	{name: "two functions exchange names", change: both(in("calc/helpers.go", "func adder(by", "func timesX(by"), in("calc/helpers.go", "func times(by", "func adder(by"), in("calc/helpers.go", "func timesX(by", "func times(by")), reaches: "compose", why: "adder|times"},
	{name: "two packages exchange functions",
		from: both(in("shape.v2/shape.go", "geometry.Distance(a, 4), nil", "10*geometry.Distance(a, 4) + round.Distance(a, 4), nil"), in("shape.v2/shape.go", "\tgeometry \"suite/flat\"\n", "\tgeometry \"suite/flat\"\n\t\"suite/round\"\n")),
		change: both(in("flat/flat.go", "return a + b }", "return math.Hypot(a, b) }"), in("flat/flat.go", `import "strconv"`, "import (\n\t\"math\"\n\t\"strconv\"\n)"),
			in("round/round.go", "return math.Hypot(a, b) }", "return a + b }"), in("round/round.go", "import \"math\"\n", "")),
		reaches: "distance", why: "Distance"},
	{name: "spaces in a string", from: in("tables/tables.go", "`\"` + s", "`\"  x` + s"), change: in("tables/tables.go", "`\"  x` + s", "`\" x` + s"), reaches: "pipeline", why: "quote"},
	{name: "a comment in a string", from: in("tables/tables.go", "`\"` + s", "\"// a\" + s"), change: in("tables/tables.go", "\"// a\" + s", "\"// b\" + s"), reaches: "pipeline", why: "quote"},
	{name: "a function that returns nothing new", change: in("calc/helpers.go", "return a + b*gain }", "return b*gain + a }"), reaches: "sum", why: "add", same: true},

	// Constants and types.
	{name: "a constant of a constant", change: in("calc/consts.go", "1 << 3", "1 << 4"), reaches: "sum", why: "base"},
	{name: "a constant becomes an integer", change: both(in("calc/consts.go", "1 << 3", "7"), in("calc/consts.go", "base / 4.0", "base / 4")), reaches: "sum", why: "gain|base"},
	{name: "a constant is put into an iota group", change: in("calc/consts.go", "\tgood\n", "\tpassable\n\tgood\n"), reaches: "grade", why: "good|best|passable|Level"},
	{name: "an empty name is put into an iota group", change: in("calc/consts.go", "\tgood\n", "\t_\n\tgood\n"), reaches: "grade", why: "good|best|low|Level"},
	{name: "the first of an iota group", change: in("calc/consts.go", "iota * 25", "iota * 20"), reaches: "grade", why: "low|fair|good|best"},
	{name: "a line is put before an iota group", change: in("calc/consts.go", "\tlow Level", "\t_ = iota\n\tlow Level"), reaches: "grade", why: "low|fair|good|best"},
	{name: "two of an iota group change places", change: in("calc/consts.go", "\tfair\n\tgood\n", "\tgood\n\tfair\n"), reaches: "grade", why: "fair|good"},
	{name: "a constant in a helper", change: in("calc/consts.go", "bonus  = 5", "bonus  = 40"), reaches: "grade", why: "bonus"},
	{name: "an underlying type", change: in("calc/consts.go", "type Level int", "type Level int16"), reaches: "grade", why: "Level", same: true},
	{name: "an underlying type that overflows", change: in("calc/consts.go", "type Level int", "type Level int8"), reaches: "grade", why: "Level", same: true},
	{name: "a package's function takes the name of one of the language", change: added("calc/more.go", "package calc\n\nfunc min(a, b int) int { return a + b }\n"), reaches: "search", why: "min"},
	{name: "a package's function takes the name len", change: added("calc/more.go", "package calc\n\nfunc len(string) int { return 1 }\n"), reaches: "search", why: "len"},
	{name: "a package's type takes the name of one of the language", change: added("calc/more.go", "package calc\n\ntype uint8 = uint16\n"), reaches: "narrow", why: "uint8"},
	{name: "a package's constant takes the name true", change: added("calc/more.go", "package calc\n\nconst true = 1 > 2\n"), reaches: "parity", why: "true"},
	{name: "a package's constant takes the name iota", change: added("calc/more.go", "package calc\n\nconst iota = 2\n"), reaches: "grade", why: "iota"},
	{name: "a package's function takes the name panic", change: added("calc/more.go", "package calc\n\nfunc panic(any) {}\n"), reaches: "safe", why: "panic"},
	{name: "the version of the language of a file", change: edited("calc/loops.go", func(s string) string { return "//go:build go1.21\n\n" + s }), reaches: "loops", why: "go1.21|loops.go|Loops|language"},
	{name: "the version of the language of a module", change: in("units/go.mod", "go 1.26.0", "go 1.21"), reaches: "each convert", why: "go|language|units|modules"},
	{name: "a type argument in the signature", change: both(in("calc/generic.go", "Largest[int])", "Largest[float64])"), in("calc/try.go", "Largest[int], []int{3, 9, 4}", "Largest[float64], []float64{3, 9.5, 4}")), reaches: "largest", why: "float64|Largest|argument|type", types: true},
	{name: "a type argument that is not in the signature", change: in("calc/generic.go", "Total[Metre])", "Total[Mile])"), reaches: "total", why: "Mile"},
	{name: "a method of a type argument", change: in("calc/generic.go", "float64 { return 1 }", "float64 { return 2 }"), reaches: "total", why: "Factor"},

	// Methods.
	{name: "a method through an interface", change: in("shape.v2/solid.go", "s.side * s.side", "s.side*s.side + 1"), reaches: "areas apply", why: "Area"},
	{name: "a method through an interface, of a pointer", change: in("shape.v2/solid.go", "3 * c.radius", "3.5 * c.radius"), reaches: "areas", why: "Area"},
	{name: "a promoted method is hidden", change: added("shape.v2/more.go", "package shape\n\nfunc (b Box) Area() float64 { return b.height }\n"), reaches: "areas", why: "Area"},
	{name: "a field hides a promoted field", change: both(in("shape.v2/solid.go", "\tSquare\n\theight float64\n", "\tSquare\n\theight float64\n\tside   float64\n"), in("shape.v2/solid.go", "// A tag is", "// Area is nothing.\nfunc (b Box) Area() float64 { return b.side }\n\n// A tag is")), reaches: "areas", why: "Area|Box"},
	{name: "a method expression", change: in("shape.v2/solid.go", "4 * s.side }", "5 * s.side }"), reaches: "apply", why: "Edge"},
	{name: "a method expression of a pointer", change: in("shape.v2/solid.go", "c.radius += 2", "c.radius += 3"), reaches: "apply", why: "Grow"},
	{name: "a method value", change: in("shape.v2/solid.go", "c.radius -= 0.5", "c.radius -= 0.25"), reaches: "apply", why: "Shrink"},
	{name: "a method that is ranged over", change: in("shape.v2/solid.go", "yield(float64(i) * s.side)", "yield(float64(i) + s.side)"), reaches: "walk", why: "Corners"},
	{name: "a method that fmt calls", change: in("shape.v2/solid.go", `"<" + string(t) + ">"`, `"[" + string(t) + "]"`), reaches: "describe", why: "String"},
	{name: "a promoted method that fmt calls", change: in("shape.v2/solid.go", `"inner %s"`, `"within %s"`), reaches: "describe", why: "String"},
	{name: "a promoted method that fmt calls is hidden", change: added("shape.v2/more.go", "package shape\n\nfunc (c chest) String() string { return \"chest of \" + c.name }\n"), reaches: "describe", why: "String"},
	{name: "a method that fmt prefers", change: added("shape.v2/more.go", "package shape\n\nimport \"fmt\"\n\n// Format is called by fmt.\nfunc (t tag) Format(f fmt.State, verb rune) { fmt.Fprint(f, \"formatted\") }\n"), reaches: "describe", why: "Format"},
	{name: "a method that fmt calls is removed", change: in("shape.v2/solid.go", `func (t tag) String() string { return "<" + string(t) + ">" }`, ""), reaches: "describe", why: "String|tag"},
	{name: "a method gets another receiver", change: both(in("shape.v2/solid.go", "func (t tag) String() string { return \"<\" + string(t) + \">\" }", "func (t tag2) String() string { return \"<\" + string(t) + \">\" }\n\ntype tag2 string")), reaches: "describe", why: "String|tag"},
	{name: "a method that sort calls", change: in("shape.v2/solid.go", "len(b[i]) < len(b[j])", "len(b[i]) > len(b[j])"), reaches: "ordered", why: "Less"},
	{name: "another method that sort calls", change: in("shape.v2/solid.go", "b[i], b[j] = b[j], b[i]", "b[i], b[j] = b[j], \"z\""), reaches: "ordered", why: "Swap"},
	{name: "a type is made that was not", change: in("shape.v2/shape.go", "return []Shape{Square{size}, ", "return []Shape{Square{size}, Square{1}, "), reaches: "areas", why: "all"},
	{name: "a method that json calls", change: in("text/text.go", `"no. "`, `"number "`), reaches: "encode", why: "MarshalJSON"},
	{name: "a helper of a method that json calls", change: in("text/text.go", `strings.Repeat("i", n)`, `strings.Repeat("x", n)`), reaches: "encode", why: "digits"},
	{name: "a method that json calls is added", change: added("text/more.go", "package text\n\n// MarshalText is called by json.\nfunc (s size) MarshalText() ([]byte, error) { return []byte(\"big\"), nil }\n"), reaches: "encode", why: "MarshalText"},
	{name: "a struct tag", change: in("text/text.go", `json:"title"`, `json:"heading"`), reaches: "encode", why: "page"},
	{name: "an option of a struct tag", change: in("text/text.go", `json:"note,omitempty"`, `json:"note"`), reaches: "encode", why: "page"},
	{name: "an alias of another's type", change: in("shape.v2/solid.go", "type step = flat.Step", "type step = flat.Leap"), reaches: "measure", why: "step"},
	{name: "a method of a type that has an alias", change: in("flat/flat.go", `"steps: "`, `"paces: "`), reaches: "measure", why: "String"},
	{name: "an import of the same name", change: in("shape.v2/shape.go", `geometry "suite/flat"`, `geometry "suite/round"`), reaches: "distance", why: "Distance|round"},
	{name: "a function of an import under another name", change: in("flat/flat.go", "return a + b }", "return a - b }"), reaches: "distance", why: "Distance"},
	{name: "an import without a name", from: both(in("calc/calc.go", "\t\"github.com", "\t. \"suite/flat\"\n\n\t\"github.com"), in("calc/calc.go", "\tn += 100\n", "\tn += uint8(Distance(60, 40))\n")), change: in("flat/flat.go", "return a + b }", "return a - b }"), reaches: "narrow distance", why: "Distance", mayRefuse: true},
	{name: "a variable that is named like an import", from: in("text/text.go", "return units.Kilometres(miles), nil", "units := metric{units.Kilometres(1)}\n\treturn units.Kilometres(miles), nil\n}\n\ntype metric struct{ one string }\n\n// Kilometres are many.\nfunc (m metric) Kilometres(miles float64) string {\n\treturn m.one + \" each\""), change: in("text/text.go", `" each"`, `" apiece"`), reaches: "convert", why: "Kilometres"},

	// Variables, and the code that writes them.
	{name: "a table", change: in("tables/tables.go", `"apple": 3`, `"apple": 30`), reaches: "price report", why: "prices"},
	{name: "init writes through a copy of a map", change: in("tables/setup.go", `p["pear"] = 5`, `p["pear"] = 6`), reaches: "price report", why: "init"},
	{name: "what init calls", change: in("tables/setup.go", "return 1 }", "return 2 }"), reaches: "price report", why: "rate"},
	{name: "a slice of functions", change: in("tables/tables.go", "upper, quote}", "quote, upper}"), reaches: "pipeline", why: "stages", same: true},
	{name: "a function in a slice", change: in("tables/tables.go", "return strings.ToUpper(s)", "return strings.ToTitle(s) + s"), reaches: "pipeline", why: "upper"},
	{name: "a function in a map", change: in("tables/tables.go", `return s + "!"`, `return s + "."`), reaches: "pipeline", why: "exclaim"},
	{name: "another entry of a map of functions", change: in("tables/tables.go", `"other": strings.ToLower`, `"other": strings.ToTitle`), reaches: "pipeline", why: "named", same: true},
	{name: "a variable behind another", change: in("tables/tables.go", "{10, 20, 30}", "{10, 20, 40}"), reaches: "row", why: "rows"},
	{name: "a variable points elsewhere", change: in("tables/tables.go", "alias = &rows", "alias = &[3]int{1, 2, 3}"), reaches: "row", why: "alias"},
	{name: "a function that init lets fill a slice", change: in("tables/setup.go", "row[i] = 2 * i", "row[i] = 3 * i"), reaches: "row", why: "double"},
	{name: "variables that a call fills", change: in("tables/tables.go", "return 2, 8", "return 3, 8"), reaches: "bounds", why: "bounds"},
	{name: "init writes through a pointer of a function", change: in("tables/setup.go", "current().depth = 3", "current().depth = 4"), reaches: "shared", why: "init"},
	{name: "a structure", change: in("tables/tables.go", `name: "shared"`, `name: "common"`), reaches: "shared", why: "settings"},
	{name: "a function returns another structure", change: in("tables/tables.go", "{ return &settings }", "{ return &spare }\n\nvar spare options"), reaches: "shared", why: "current"},
	{name: "one of two files with init", change: in("tables/steps_a.go", "measure", "weigh"), reaches: "steps", why: "init|order"},
	{name: "files with init change their order", change: renamed("tables/steps_a.go", "tables/steps_z.go"), reaches: "steps", why: "init|order|steps"},
	{name: "a table that is filled once", change: in("text/text.go", `m["three"] = 3`, `m["three"] = 33`), reaches: "lookup", why: "extend"},
	{name: "a literal of a table that is filled once", change: in("text/text.go", `"one": 1`, `"three": 1`), reaches: "lookup", why: "fill", same: true},
	{name: "init of package main", change: in("report.go", `var currency = "€"`, "var currency = \"€\"\n\nfunc init() { currency = \"$\" }"), reaches: "report", why: "init|currency"},
	writer("a new init", "func init() { tax = 9 }"),
	writer("the initial value of a nameless variable", "var _ = func() int { prices[\"apple\"] = 9; return 0 }()"),
	writer("a range", "func init() {\n\tfor tax = range 9 {\n\t}\n}"),
	writer("an increment", "func init() { tax++ }"),
	writer("a parallel assignment", "func init() { _, tax = 1, 9 }"),
	writer("a receive in a select", "func init() {\n\tc := make(chan int, 1)\n\tc <- 9\n\tselect {\n\tcase tax = <-c:\n\t}\n}"),
	writer("a pointer as an argument", "func init() { set(&tax) }\n\nfunc set(n *int) { *n = 9 }"),
	writer("a pointer in a variable", "var pointer = &tax\n\nfunc init() { *pointer = 9 }"),
	writer("a pointer in a structure", "var holder = struct{ n *int }{&tax}\n\nfunc init() { *holder.n = 9 }"),
	writer("a pointer in a map", "var held = map[string]*int{\"tax\": &tax}\n\nfunc init() { *held[\"tax\"] = 9 }"),
	writer("a pointer through a channel", "func init() {\n\tc := make(chan *int, 1)\n\tc <- &tax\n\t*<-c = 9\n}"),
	writer("a pointer of a function", "func pointer() *int { return &tax }\n\nfunc init() { *pointer() = 9 }"),
	writer("a variable of a function", "var setTax = func(n int) { tax = n }\n\nfunc init() { setTax(9) }"),
	writer("a function in a slice", "func setTax() { tax = 9 }\n\nvar setters = []func(){setTax}\n\nfunc init() {\n\tfor _, f := range setters {\n\t\tf()\n\t}\n}"),
	writer("a method through an interface", "type setter interface{ set() }\n\ntype nine struct{}\n\nfunc (nine) set() { tax = 9 }\n\nvar any9 setter = nine{}\n\nfunc init() { any9.set() }"),
	writer("a method that fmt calls", "type nine struct{}\n\nfunc (nine) String() string { tax = 9; return \"\" }\n\nfunc init() { _ = fmt.Sprint(nine{}) }", "fmt"),
	writer("fmt.Sscan", "func init() { fmt.Sscan(\"9\", &tax) }", "fmt"),
	writer("json.Unmarshal", "func init() { json.Unmarshal([]byte(\"9\"), &tax) }", "encoding/json"),
	writer("reflection", "func init() { reflect.ValueOf(&tax).Elem().SetInt(9) }", "reflect"),
	writer("a goroutine", "func init() {\n\tdone := make(chan bool)\n\tgo func() { tax = 9; close(done) }()\n\t<-done\n}"),
	writer("a deferred function", "func init() { defer func() { tax = 9 }() }"),
	writer("sync.Once", "var once sync.Once\n\nfunc init() { once.Do(func() { tax = 9 }) }", "sync"),
	writer("clear", "func init() { clear(prices) }"),
	writer("delete", "func init() { delete(prices, \"apple\"); delete(prices, \"pear\") }"),
	writer("a generic function", "func put[T any](p *T, v T) { *p = v }\n\nfunc init() { put(&tax, 9) }"),
	writer("an alias of a map, twice removed", "var again = prices\n\nvar third = again\n\nfunc init() { third[\"pear\"], third[\"apple\"] = 9, 9 }"),
	writer("maps.Copy", "func init() { maps.Copy(prices, map[string]int{\"pear\": 9, \"apple\": 9}) }", "maps"),
	{name: "written by copy", change: added("tables/writer.go", "package tables\n\nfunc init() { copy(first, []int{7, 7, 7}) }\n"), reaches: "row", why: "init|first"},
	{name: "written by slices.Reverse", change: added("tables/steps_c.go", "package tables\n\nimport \"slices\"\n\nfunc init() { slices.Reverse(order) }\n"), reaches: "steps", why: "init|order"},
	{name: "written through a slice of an array", change: added("tables/writer.go", "package tables\n\nfunc init() {\n\tpart := rows[1:]\n\tpart[1] = 99\n}\n"), reaches: "row", why: "init|rows"},
	{name: "written by a method of the variable", change: added("tables/writer.go", "package tables\n\nfunc (o *options) deepen() { o.depth = 11 }\n\nfunc init() { settings.deepen() }\n"), reaches: "shared", why: "init|deepen|settings"},
	{name: "written by a method value", change: added("tables/writer.go", "package tables\n\nfunc (o *options) deepen() { o.depth = 11 }\n\nvar deepen = settings.deepen\n\nfunc init() { deepen() }\n"), reaches: "shared", why: "init|deepen|settings", mayRefuse: true},
	{name: "written from another package", change: in("plugins/plugins.go", "func init() {\n", "func init() {\n\ttables.Version = \"plugged\"\n").and(imports("plugins/plugins.go", "suite/tables")), reaches: "banner run names all", why: "Version|init"},
	{name: "written from another package by a method", change: in("plugins/plugins.go", "func init() {\n", "func init() {\n\ttables.Settings().Deepen()\n").and(imports("plugins/plugins.go", "suite/tables")).and(added("tables/writer.go", "package tables\n\n// Settings are the settings.\nfunc Settings() *options { return &settings }\n\n// Deepen makes them deeper.\nfunc (o *options) Deepen() { o.depth = 11 }\n")), reaches: "shared run names all", why: "init|Deepen|settings"},
	{name: "written from a package that is not registered", from: withLegacy, change: both(in("legacy/legacy.go", "// Score is", "func init() { tables.Version = \"legacy\" }\n\n// Score is"), imports("legacy/legacy.go", "suite/tables")), reaches: "banner", why: "", mayRefuse: true},
	{name: "a variable of the standard library is written", change: both(in("plugins/plugins.go", "func mark", "func init() { base64.StdEncoding = base64.URLEncoding }\n\nfunc mark"), imports("plugins/plugins.go", "encoding/base64")), reaches: "binary", why: "StdEncoding|init", mayRefuse: true},
	{name: "a variable of the standard library is written from a package that is not registered", from: withLegacy, change: both(in("legacy/legacy.go", "// Score is", "func init() { base64.StdEncoding = base64.URLEncoding }\n\n// Score is"), imports("legacy/legacy.go", "encoding/base64")), reaches: "binary", why: "StdEncoding|init|legacy", mayRefuse: true},
	{name: "a variable can be written while the program runs", change: both(setTax, in("main.go", "\tcalc.Try(b)", "\ttables.SetTax(90)\n\tcalc.Try(b)")), reaches: "price report", why: "SetTax|tax", mayRefuse: true},

	// Effects that names do not show.
	{name: "written through a part of a structure", from: held("var state = struct{ list []int }{[]int{1, 2, 3}}", "state.list[2]"), change: late("func init() {\n\tl := state.list\n\tl[2] = 9\n}"), reaches: "row", why: "init|state", mayRefuse: true},
	{name: "written through a part of a structure that is an argument", from: held("var state = struct{ list []int }{[]int{3, 2, 1}}", "state.list[2]"), change: late("func init() { sort.Ints(state.list) }", "sort"), reaches: "row", why: "init|state", mayRefuse: true},
	{name: "written through a row of a table", from: held("var grid = [][]int{{1}, {2}}", "grid[1][0]"), change: late("func init() {\n\tr := grid[1]\n\tr[0] = 9\n}"), reaches: "row", why: "init|grid", mayRefuse: true},
	{name: "written by ranging over rows", from: held("var grid = [][]int{{1}, {2}}", "grid[1][0]"), change: late("func init() {\n\tfor _, r := range grid {\n\t\tr[0] = 9\n\t}\n}"), reaches: "row", why: "init|grid", mayRefuse: true},
	{name: "written by a method of a part", from: held(cell+"var board = struct{ cell cell }{}", "board.cell.n"), change: late("func init() { board.cell.set(9) }"), reaches: "row", why: "init|board|set", mayRefuse: true},
	{name: "written through a pointer in a map", from: held(cell+"var cells = map[string]*cell{\"x\": {1}}", "cells[\"x\"].n"), change: late("func init() {\n\tc := cells[\"x\"]\n\tc.n = 9\n}"), reaches: "row", why: "init|cells", mayRefuse: true},
	{name: "written by a method of a pointer in a map", from: held(cell+"var cells = map[string]*cell{\"x\": {1}}", "cells[\"x\"].n"), change: late("func init() { cells[\"x\"].set(9) }"), reaches: "row", why: "init|cells", mayRefuse: true},
	{name: "written through a type assertion", from: held("var anything any = []int{1}", "anything.([]int)[0]"), change: late("func init() {\n\ts := anything.([]int)\n\ts[0] = 9\n}"), reaches: "row", why: "init|anything", mayRefuse: true},
	{name: "written by a method after a type assertion", from: held(cell+"var anything any = &cell{1}", "anything.(*cell).n"), change: late("func init() { anything.(interface{ set(int) }).set(9) }"), reaches: "row", why: "init|anything", mayRefuse: true},
	{name: "written in a type switch", from: held("var anything any = []int{1}", "anything.([]int)[0]"), change: late("func init() {\n\tswitch s := anything.(type) {\n\tcase []int:\n\t\ts[0] = 9\n\t}\n}"), reaches: "row", why: "init|anything", mayRefuse: true},
	{name: "written behind a pointer to a slice", from: held("var list = []int{1}\n\nvar listed = &list", "(*listed)[0]"), change: late("func init() {\n\tl := *listed\n\tl[0] = 9\n}"), reaches: "row", why: "init|listed", mayRefuse: true},
	{name: "written by a method that fmt calls, from elsewhere", from: held("var shade = 1\n\ntype painter struct{}\n\nfunc (painter) String() string { shade = 9; return \"\" }", "shade"), change: late("func init() { _ = fmt.Sprint(painter{}) }", "fmt"), reaches: "row", why: "init|painter|shade", mayRefuse: true},
	{name: "written by a function that only a package which is not registered calls", from: both(withLegacy, setTax, in("legacy/legacy.go", "// Score is", "func init() { tables.SetTax(50) }\n\n// Score is"), imports("legacy/legacy.go", "suite/tables")), change: in("legacy/legacy.go", "SetTax(50)", "SetTax(60)"), reaches: "price report", why: "SetTax|legacy", mayRefuse: true},
	{name: "written by a function that only main calls", from: both(setTax, in("main.go", "\tcalc.Try(b)", "\ttables.SetTax(90)\n\tcalc.Try(b)")), change: in("main.go", "SetTax(90)", "SetTax(91)"), reaches: "price report", why: "SetTax|tax", mayRefuse: true},
	{name: "written through a pointer that only main uses", from: both(added("tables/more.go", "package tables\n\n// Tax is for any time.\nfunc Tax() *int { return &tax }\n"), in("main.go", "\tcalc.Try(b)", "\t*tables.Tax() = 90\n\tcalc.Try(b)")), change: in("main.go", "Tax() = 90", "Tax() = 91"), reaches: "price report", why: "Tax|tax", mayRefuse: true},
	{name: "an exported variable that only main writes", from: in("main.go", "\tcalc.Try(b)", "\ttables.Version = \"1\"\n\tcalc.Try(b)"), change: in("main.go", "Version = \"1\"", "Version = \"2\""), reaches: "banner", why: "Version", mayRefuse: true},
	{name: "an exported variable that a flag writes", from: in("main.go", "\tversions := flag", "\tflag.StringVar(&tables.Version, \"v\", \"1\", \"\")\n\tversions := flag"), change: in("main.go", "\"v\", \"1\"", "\"v\", \"2\""), reaches: "banner", why: "Version", mayRefuse: true},
	{name: "written by a function that is stored for later", from: both(added("tables/more.go", "package tables\n\ntype queue []func()\n\n// Do keeps f.\nfunc (q *queue) Do(f func()) { *q = append(*q, f) }\n\n// Later holds what is to be done.\nvar Later queue\n\nfunc init() { Later.Do(func() { tax = 90 }) }\n")), change: in("main.go", "\tcalc.Try(b)", "\tfor _, f := range tables.Later {\n\t\tf()\n\t}\n\tcalc.Try(b)"), reaches: "price report", why: "Later|tax", mayRefuse: true},
	{name: "written after an import without a name", change: added("plugins/dot.go", "package plugins\n\nimport . \"suite/tables\"\n\nfunc init() { Version = \"dotted\" }\n"), reaches: "banner", why: "init|Version", mayRefuse: true},
	{name: "written by assembly", change: both(late("func poke()\n\nfunc init() { poke() }"), added("tables/poke_amd64.s", "TEXT ·poke(SB), 4, $0-0\n\tMOVQ $90, ·tax(SB)\n\tRET\n")), reaches: "price report", why: "poke|tax", mayRefuse: true},
	{name: "written under another name, by linkname", change: added("plugins/link.go", "package plugins\n\nimport _ \"unsafe\"\n\n//go:linkname secret suite/tables.tax\nvar secret int\n\nfunc init() { secret = 90 }\n"), reaches: "price report", why: "secret|tax", mayRefuse: true},
	{name: "a registry of the standard library", from: both(in("text/text.go", "return base64.StdEncoding.EncodeToString([]byte(s)), nil", "return base64.StdEncoding.EncodeToString(crypto.MD4.New().Sum([]byte(s))), nil"), imports("text/text.go", "crypto"), hasher), change: both(in("plugins/hash.go", "hash/crc32", "hash/adler32"), in("plugins/hash.go", "crc32.NewIEEE", "adler32.New")), reaches: "binary", why: "init|plugins|crypto", mayRefuse: true},
	{name: "the order of variables that count", from: held("var counter int\n\nfunc next() int { counter++; return counter }\n\nvar ticket = next()\n\nvar other = next()", "ticket"), change: both(in("tables/held.go", "var ticket =", "var x ="), in("tables/held.go", "var other =", "var ticket ="), in("tables/held.go", "var x =", "var other =")), reaches: "row", why: "ticket|counter|order", mayRefuse: true},
	{name: "a key of a local type that is named like a structure", from: held("const pear = 1\n\nfunc basket() int {\n\ttype options map[int]int\n\treturn options{pear: 5}[1]\n}", "basket()"), change: in("tables/held.go", "pear = 1", "pear = 2"), reaches: "row", why: "pear"},
	{name: "a key within a key of a map of structures", from: held("const two = 2\n\ntype point struct{ x int }\n\nvar places = map[[3]int]point{{two: 5}: {x: 7}}", "places[[3]int{0, 0, 5}].x"), change: in("tables/held.go", "two = 2", "two = 1"), reaches: "row", why: "two"},
	{name: "a method of a generic type", from: held("type pile[T any] struct{ all []T }\n\nfunc (p *pile[T]) size() int { return len(p.all) }\n\nfunc piled() int {\n\tp := pile[string]{[]string{\"a\", \"b\"}}\n\treturn p.size()\n}", "piled()"), change: in("tables/held.go", "return len(p.all)", "return cap(p.all) + 1"), reaches: "row", why: "size"},
	{name: "one of two types that a generic function is made for",
		from: both(added("shape.v2/show.go", "package shape\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\n\t\"github.com/larder-data/larder/lazy\"\n\n\t\"suite/flat\"\n)\n\nfunc show[T any](_ context.Context, v T) (string, error) { return fmt.Sprint(v), nil }\n\nvar lazySteps, lazyLeaps = lazy.Func1(\"show\", show[flat.Step]), lazy.Func1(\"show\", show[flat.Leap])\n"),
			in("shape.v2/try.go", "\tbench.Try(b, \"walk\"", "\tbench.Try(b, \"steps2\", lazySteps, show[flat.Step], 3)\n\tbench.Try(b, \"leaps\", lazyLeaps, show[flat.Leap], 3)\n\tbench.Try(b, \"walk\""), imports("shape.v2/try.go", "suite/flat")),
		change: in("flat/flat.go", `"leaps: "`, `"bounds: "`), types: true, reaches: "leaps", why: "String", mayRefuse: true},
	{name: "a method by a name that is data", from: held(cell+"// Twice is found by name.\nfunc (c cell) Twice() int { return 2 * c.n }\n\nfunc called() int { return int(reflect.ValueOf(cell{3}).MethodByName(\"Tw\" + \"ice\").Call(nil)[0].Int()) }", "called()", "reflect"), change: in("tables/held.go", "2 * c.n", "3 * c.n"), reaches: "row", why: "Twice"},
	{name: "a method that a package of ciphers prefers", from: held("type block struct{}\n\nfunc (block) BlockSize() int { return 16 }\nfunc (block) Encrypt(dst, src []byte) {}\nfunc (block) Decrypt(dst, src []byte) {}\nfunc (block) NewCTR([]byte) cipher.Stream { return xor(1) }\n\ntype xor byte\n\nfunc (x xor) XORKeyStream(dst, src []byte) {\n\tfor i := range src {\n\t\tdst[i] = src[i] ^ byte(x)\n\t}\n}\n\nfunc encrypted() int {\n\tb := []byte{7}\n\tcipher.NewCTR(block{}, make([]byte, 16)).XORKeyStream(b, b)\n\treturn int(b[0])\n}", "encrypted()", "crypto/cipher"), change: in("tables/held.go", "xor(1)", "xor(2)"), reaches: "row", why: "NewCTR"},
	{name: "a method that a package declared as pure calls", from: both(pureLegacy, in("report.go", "legacy.Score(len(s))", "legacy.Weigh(load(len(s)))"), in("report.go", "func score(", "type load int\n\n// Weight is called by legacy.\nfunc (l load) Weight() int { return 2 * int(l) }\n\nfunc score("), in("legacy/legacy.go", "// Score is", "// Weigh asks.\nfunc Weigh(x interface{ Weight() int }) int { return x.Weight() }\n\n// Score is")), change: in("report.go", "2 * int(l)", "3 * int(l)"), reaches: "score", why: "Weight"},
	{name: "a package declared as pure", from: pureLegacy, change: in("legacy/legacy.go", "return 1 }", "return 2 }"), reaches: "score", why: "legacy", mayRefuse: true},
	{name: "a method as a lazy function", change: in("shape.v2/shape.go", "float64(m) * 3.28", "float64(m) * 3"), reaches: "feet", why: "Feet"},
	{name: "a tag that the environment seems to set", from: both(in("text/plain.go", "!fancy", "!amd64.v4"), in("text/fancy.go", "build fancy", "build amd64.v4")), fromEnv: []string{"GOAMD64=v4"}, env: []string{"GOAMD64=v4"}, change: in("text/plain.go", `"plain"`, `"simple"`), reaches: "system", why: "flavour"},
	{name: "the time zone that a time is in", from: sum("float64(len(zone()))", "time").and(in("calc/helpers.go", "// add weighs", "func zone() string {\n\tt, _ := time.Parse(time.RFC3339, \"2020-01-01T00:00:00+09:00\")\n\treturn t.Location().String()\n}\n\n// add weighs")), env: []string{"TZ=Asia/Tokyo"}, reaches: "sum", why: "TZ|time", mayRefuse: true},
	{name: "a string in two parts that the linker sets, and the build does not say", from: in("tables/tables.go", `"dev"`, `"d" + "ev"`), fromFlags: []string{"-trimpath", "-ldflags=-s -w -X suite/tables.Version=1.0"}, flags: []string{"-trimpath", "-ldflags=-s -w -X suite/tables.Version=1.1"}, reaches: "banner", why: "Version|ldflags|linker|build", mayRefuse: true},
	{name: "a variable that the linker sets, by a pattern", flags: []string{"-ldflags=suite=-s -w -X suite/tables.Version=1.0"}, reaches: "banner", why: "Version|ldflags|linker", mayRefuse: true},
	{name: "a file that the build takes from elsewhere", flags: []string{"-overlay=overlay.json"}, change: both(added("overlay.json", `{"Replace": {"calc/helpers.go": "overlay/helpers.txt"}}`), changes{func(_ *testing.T, p tree) {
		p["overlay/helpers.txt"] = strings.Replace(p["calc/helpers.go"], "b*gain", "b*gain + 1", 1)
	}}), reaches: "sum", why: "add", mayRefuse: true},
	{name: "the version of the language, by a flag", flags: []string{"-gcflags=suite/calc=-lang=go1.21"}, reaches: "loops", why: "gcflags|lang", mayRefuse: true},

	// Registries.
	{name: "a helper of a method in a registry", change: in("plugins/plugins.go", "n * n }", "n * n * n }"), reaches: "run", why: "power"},
	{name: "a value in a registry", change: in("plugins/plugins.go", "bias: 1", "bias: 2"), reaches: "run names all", why: "init"},
	{name: "a function that was appended", change: in("plugins/plugins.go", `"*" + s`, `"#" + s`), reaches: "all", why: "mark"},
	{name: "a literal that was appended", change: in("plugins/plugins.go", `s + "?"`, `s + "??"`), reaches: "run names all", why: "init"},
	{name: "two entries change places", change: both(in("plugins/plugins.go", "\tregistry.Default.Add(\"half\", half{})\n", ""), in("plugins/plugins.go", "\tregistry.Hooks =", "\tregistry.Default.Add(\"half\", half{})\n\tregistry.Hooks =")), reaches: "run names all", why: "init|order"},
	{name: "the method that enters", change: in("registry/registry.go", "append(r.names, name)", `append(r.names, "-"+name)`), reaches: "run names", why: "Add"},
	{name: "the method that finds", change: in("registry/registry.go", "p, ok = r.plugins[name]", "p, ok = r.plugins[\"half\"], name != \"\""), reaches: "run", why: "Get"},
	{name: "a package that enters something is imported", change: in("main.go", `_ "suite/plugins"`, "_ \"suite/extra\"\n\t_ \"suite/plugins\""), reaches: "run names", why: "extra|init"},
	{name: "a package that enters something is imported deep down", change: in("flat/flat.go", `import "strconv"`, "import (\n\t\"strconv\"\n\n\t_ \"suite/extra\"\n)"), reaches: "run names", why: "extra|init"},
	{name: "a package that enters something is imported no more", change: in("main.go", "\t_ \"suite/plugins\"\n", ""), reaches: "run names all", why: "plugins|init"},
	{name: "a package that enters something comes earlier", from: in("main.go", `_ "suite/plugins"`, "_ \"suite/extra\"\n\t_ \"suite/plugins\""), change: both(in("extra/extra.go", "import \"suite/registry\"", "import (\n\t_ \"suite/plugins\"\n\t\"suite/registry\"\n)")), reaches: "run names", why: "extra|init|plugins|order"},
	{name: "a package that is not registered enters something", from: withLegacy, change: both(in("legacy/legacy.go", "// Score is", "func init() { registry.Default.Add(\"legacy\", nil) }\n\n// Score is"), imports("legacy/legacy.go", "suite/registry")), reaches: "run names", why: "legacy|init", mayRefuse: true},
	{name: "another package appends", change: both(in("tables/setup.go", "func rate()", "func init() { registry.Hooks = append(registry.Hooks, func(s string) string { return \"[\" + s + \"]\" }) }\n\nfunc rate()"), imports("tables/setup.go", "suite/registry")), reaches: "all", why: "init|Hooks"},

	// Files besides the sources, tags, flags and modules.
	{name: "an embedded file", change: in("text/words.txt", "beta", "delta"), reaches: "words", why: "words.txt"},
	{name: "an embedded directory's file", change: in("text/phrases/b.txt", "night", "day"), reaches: "phrases", why: "b.txt|phrases"},
	{name: "a file is added to an embedded directory", change: added("text/phrases/c.txt", "good bye\n"), reaches: "phrases", why: "c.txt|phrases"},
	{name: "a file of an embedded directory is renamed", change: renamed("text/phrases/b.txt", "text/phrases/0.txt"), reaches: "phrases", why: "0.txt|phrases"},
	{name: "another file is embedded", change: both(in("text/text.go", "//go:embed words.txt", "//go:embed more.txt"), added("text/more.txt", "eins zwei drei\n"), in("text/files.go", "*.go words.txt", "*.go more.txt")), reaches: "words", why: "more.txt|words"},
	{name: "another file is embedded, by a wider pattern", change: both(in("text/text.go", "//go:embed words.txt", "//go:embed more.txt"), added("text/more.txt", "eins zwei drei\n"), in("text/files.go", "*.go words.txt", "*.go *.txt")), reaches: "words", why: "more.txt|words"},
	{name: "another file is embedded, and not registered", change: both(in("text/text.go", "//go:embed words.txt", "//go:embed more.txt"), added("text/more.txt", "eins zwei drei\n")), reaches: "words", why: "words|more.txt", mayRefuse: true},
	{name: "a file that is embedded and not registered", from: both(in("text/text.go", "//go:embed words.txt", "//go:embed more.txt"), added("text/more.txt", "eins zwei drei\n")), change: in("text/more.txt", "zwei", "deux"), reaches: "words", why: "words|more.txt", mayRefuse: true},
	{name: "two embedded files exchange contents", from: both(added("text/more.txt", "eins zwei drei\n"), in("text/files.go", "*.go words.txt", "*.go words.txt more.txt"), in("text/text.go", "return strings.Fields(words)[n], nil", "return strings.Fields(words)[n] + more[:2], nil"), in("text/text.go", "// Words reads", "//go:embed more.txt\nvar more string\n\n// Words reads")),
		change: both(added("text/more.txt", "alpha beta gamma\n"), added("text/words.txt", "eins zwei drei\n")), reaches: "words", why: "words.txt|more.txt"},
	{name: "a tag", flags: []string{"-tags=fancy"}, reaches: "system", why: "flavour|fancy"},
	{name: "a file that a tag leaves in", change: in("text/plain.go", `"plain"`, `"simple"`), reaches: "system", why: "flavour"},
	{name: "a file's tag", change: both(in("text/plain.go", "!fancy", "fancy"), in("text/fancy.go", "build fancy", "build !fancy")), reaches: "system", why: "flavour"},
	{name: "a variable that the linker sets", flags: []string{"-ldflags=-s -w -X suite/tables.Version=1.0"}, reaches: "banner", why: "Version|ldflags|linker"},
	{name: "a variable that the linker sets, twice", fromFlags: []string{"-ldflags=-s -w -X suite/tables.Version=1.0"}, flags: []string{"-ldflags=-s -w -X suite/tables.Version=1.1"}, reaches: "banner", why: "Version|ldflags|linker"},
	{name: "a variable that the linker sets, and the build does not say", fromFlags: []string{"-trimpath", "-ldflags=-s -w -X suite/tables.Version=1.0"}, flags: []string{"-trimpath", "-ldflags=-s -w -X suite/tables.Version=1.1"}, reaches: "banner", why: "Version|ldflags|linker|build"},
	{name: "a variable that the linker may set", change: in("tables/tables.go", `Version = "dev"`, `Version = "next"`), reaches: "banner", why: "Version"},
	{name: "a variable of package main that the linker sets", flags: []string{"-ldflags=-s -w -X main.currency=EUR"}, reaches: "report", why: "currency|ldflags|linker"},
	{name: "a module that a directory replaces", change: in("units/units.go", "1.609344", "1.852"), reaches: "convert", why: "perMile"},
	{name: "a helper in a module that a directory replaces", change: in("units/units.go", `" km"`, `" kilometres"`), reaches: "convert", why: "unit"},
	{name: "a module is replaced by an edited directory", alone: true, change: both(module("github.com/VividCortex/ewma", "ewma"), in("go.mod", "replace example.com", "replace github.com/VividCortex/ewma => ./ewma\n\nreplace example.com"), in("ewma/ewma.go", "(value * DECAY)", "(value * DECAY * 2)")), reaches: "smooth", why: "ewma"},
	{name: "an edited directory replaces a module twice", from: both(module("github.com/VividCortex/ewma", "ewma"), in("go.mod", "replace example.com", "replace github.com/VividCortex/ewma => ./ewma\n\nreplace example.com")), change: in("ewma/ewma.go", "(value * DECAY)", "(value * DECAY * 2)"), reaches: "smooth", why: "ewma"},
	{name: "a package that is not registered", from: withLegacy, change: in("legacy/legacy.go", "return 1 }", "return 2 }"), reaches: "score", why: "legacy", mayRefuse: true},
	{name: "a package that is not registered is used", change: withLegacy, reaches: "*", why: "legacy|score", mayRefuse: true},
	{name: "a helper next to sources that are embedded with all else", change: in("partial/hidden.go", "n + 7", "n + 8"), reaches: "part", why: "hidden"},
	{name: "a file that is not registered", from: somePartial, change: in("partial/hidden.go", "n + 7", "n + 8"), reaches: "part", why: "executable"},
	{name: "written from a file that is not registered", from: somePartial, change: both(in("partial/hidden.go", "func hidden", "func init() { tables.Version = \"partial\" }\n\nfunc hidden"), imports("partial/hidden.go", "suite/tables")), reaches: "banner part", why: "executable", mayRefuse: true},
	{name: "a debug setting in a file", change: edited("main.go", func(s string) string {
		return strings.Replace(s, "package main", "//go:debug panicnil=1\npackage main", 1)
	}), reaches: "*", why: "panicnil|GODEBUG|debug"},
	{name: "a debug setting in go.mod", change: in("go.mod", "go 1.26.0\n", "go 1.26.0\n\ngodebug panicnil=1\n"), reaches: "*", why: "panicnil|GODEBUG|debug"},
	{name: "a debug setting in the environment", env: []string{"GODEBUG=panicnil=1"}, reaches: "*", why: "panicnil|GODEBUG|debug"},

	// Literals.
	{name: "a literal on one line", change: in("report.go", "s + s + ending", "s + ending + s"), reaches: "double", why: "double|literal|func"},
	{name: "a constant that a literal uses", change: in("report.go", `const ending = "."`, `const ending = ";"`), reaches: "double", why: "ending"},
	{name: "a literal on three lines", change: in("report.go", `s + "-" + s + "-" + s`, `s + "+" + s + "+" + s`), reaches: "triple", why: "triple|literal|func"},
	{name: "the second of two literals on one line", change: in("report.go", `return s + ">"`, `return s + "}"`), reaches: "right", why: "right|literal|func"},
	{name: "two literals on one line change places", change: both(in("report.go", `return s + ">"`, `return s+ ">"`), in("report.go", `return "<" + s`, `return s + ">"`), in("report.go", `return s+ ">"`, `return "<" + s`)), reaches: "left right", why: "right|left|literal|func"},
	{name: "literals exchange names", change: both(in("report.go", "lazyDouble = lazy.Func1(\"double\"", "lazyDouble = lazy.Func1(\"x\""), in("report.go", "lazy.Func1(\"triple\"", "lazy.Func1(\"double\""), in("report.go", "lazy.Func1(\"x\"", "lazy.Func1(\"triple\""), in("main.go", `"double", lazyDouble`, `"triple", lazyDouble`), in("main.go", `"triple", lazyTriple`, `"double", lazyTriple`)), reaches: "double triple", why: "double|triple|literal|func"},
	{name: "a literal under a line directive", from: in("report.go", "\tlazyTriple =", "//line report.go:27\n\tlazyTriple ="), change: in("report.go", `s + "-" + s + "-" + s`, `s + "+" + s + "+" + s`), reaches: "triple", why: "triple|literal|func", mayRefuse: true},
	{name: "a literal under a line directive that points at another file", from: in("report.go", "\tlazyTriple =", "//line main.go:27\n\tlazyTriple ="), change: in("report.go", `s + "-" + s + "-" + s`, `s + "+" + s + "+" + s`), reaches: "triple", why: "triple|literal|func", mayRefuse: true},
	{name: "a helper under a line directive", from: in("calc/helpers.go", "// add weighs b.\n", "//line calc.go:40\n"), change: in("calc/helpers.go", "a + b*gain", "a + b*gain + 1"), reaches: "sum", why: "add|suite/calc|executable", mayRefuse: true},

	// Refused code.
	{name: "the clock", change: sum("float64(time.Now().Year())", "time"), refuses: "sum", path: []string{"add", "time.Now"}},
	{name: "the clock, three deep", change: both(in("calc/helpers.go", "return math.Round(x*100) / 100 }", "return deep(x) }\n\nfunc deep(x float64) float64 { return deeper(x) }\n\nfunc deeper(x float64) float64 { return x + float64(time.Now().Year()) }"), in("calc/helpers.go", `import "math"`, `import "time"`)), refuses: "sum", path: []string{"accumulate", "cents", "deep", "deeper", "time.Now"}},
	{name: "the clock as a value", change: sum("float64(now().Year())", "time").and(in("calc/helpers.go", "// add weighs", "var now = time.Now\n\n// add weighs")), refuses: "sum", path: []string{"now", "time.Now"}},
	{name: "the clock through an interface", change: sum("float64(theClock.now().Year())", "time").and(in("calc/helpers.go", "// add weighs", "type clock interface{ now() time.Time }\n\ntype wall struct{}\n\nfunc (wall) now() time.Time { return time.Now() }\n\nvar theClock clock = wall{}\n\n// add weighs")), refuses: "sum", path: []string{"now", "time.Now"}},
	{name: "the clock, as time since", change: sum("time.Since(time.Time{}).Hours()", "time"), refuses: "sum", path: []string{"time.Since"}},
	{name: "the clock in another package", change: both(in("flat/flat.go", "return a + b }", "return a + b + float64(time.Now().Year()) }"), imports("flat/flat.go", "time")), refuses: "distance", path: []string{"Distance", "time.Now"}},
	{name: "the time zone of the machine", change: sum("float64(time.Unix(0, 0).Hour())", "time"), reaches: "sum", why: "time zone|add", same: true},
	{name: "the time zone of the machine, by a method", change: sum("float64(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Local().Hour())", "time"), reaches: "sum", why: "time zone|add", same: true},
	{name: "the clock, as a deadline", change: sum("late()", "context").and(in("calc/helpers.go", "// add weighs", "func late() float64 {\n\tctx, cancel := context.WithTimeout(context.Background(), 1)\n\tdefer cancel()\n\tif ctx.Err() != nil {\n\t\treturn 1\n\t}\n\treturn 0\n}\n\n// add weighs")), refuses: "sum", path: []string{"WithTimeout"}},
	{name: "random numbers in a cipher", change: sum("secret()", "crypto/aes", "crypto/cipher").and(in("calc/helpers.go", "// add weighs", "func secret() float64 {\n\tb, _ := aes.NewCipher(make([]byte, 16))\n\tg, _ := cipher.NewGCMWithRandomNonce(b)\n\treturn float64(g.Seal(nil, nil, nil, nil)[0])\n}\n\n// add weighs")), refuses: "sum", path: []string{"NewGCMWithRandomNonce"}},
	{name: "random numbers", change: both(in("plugins/plugins.go", "return n * n }", "return n * rand.Int() }"), imports("plugins/plugins.go", "math/rand")), refuses: "run", path: []string{"power", "rand.Int"}},
	{name: "random numbers, version 2", change: sum("rand.Float64()", "math/rand/v2"), refuses: "sum", path: []string{"add", "rand"}},
	{name: "random numbers for secrets", change: sum("secret()", "crypto/rand").and(in("calc/helpers.go", "// add weighs", "func secret() float64 {\n\tb := make([]byte, 1)\n\trand.Read(b)\n\treturn float64(b[0])\n}\n\n// add weighs")), refuses: "sum", path: []string{"secret", "rand.Read"}},
	{name: "random numbers of a source of one's own", change: sum("dice.Float64()", "math/rand").and(in("calc/helpers.go", "// add weighs", "var dice = rand.New(rand.NewSource(1))\n\n// add weighs")), refuses: "sum", path: []string{"dice"}},
	{name: "random numbers in a hash", change: sum("float64(maphash.String(seed, \"x\"))", "hash/maphash").and(in("calc/helpers.go", "// add weighs", "var seed = maphash.MakeSeed()\n\n// add weighs")), refuses: "sum", path: []string{"maphash"}},
	{name: "the environment, in a method that fmt calls", change: both(in("shape.v2/solid.go", `"<" + string(t)`, `os.Getenv("HOME") + string(t)`), imports("shape.v2/solid.go", "os")), refuses: "describe", path: []string{"String", "os.Getenv"}},
	{name: "the environment, as a variable's first value", change: sum("home", "os").and(in("calc/helpers.go", "// add weighs", "var home = float64(len(os.Getenv(\"HOME\")))\n\n// add weighs")), refuses: "sum", path: []string{"home", "os.Getenv"}},
	{name: "the environment, in init", change: both(in("tables/setup.go", "tax = rate() * 2", "tax = len(os.Getenv(\"HOME\"))"), imports("tables/setup.go", "os")), refuses: "price report", path: []string{"init", "os.Getenv"}},
	{name: "the environment, through syscall", change: sum("home()", "syscall").and(in("calc/helpers.go", "// add weighs", "func home() float64 {\n\ts, _ := syscall.Getenv(\"HOME\")\n\treturn float64(len(s))\n}\n\n// add weighs")), refuses: "sum", path: []string{"home", "syscall.Getenv"}},
	{name: "the directory of temporary files", change: sum("float64(len(os.TempDir()))", "os"), refuses: "sum", path: []string{"os.TempDir"}},
	{name: "the working directory", change: sum("float64(len(here()))", "path/filepath").and(in("calc/helpers.go", "// add weighs", "func here() string {\n\ts, _ := filepath.Abs(\".\")\n\treturn s\n}\n\n// add weighs")), refuses: "sum", path: []string{"here", "filepath.Abs"}},
	{name: "arguments of the command", change: sum("float64(len(os.Args))", "os"), refuses: "sum", path: []string{"os.Args"}},
	{name: "flags of the command", change: sum("float64(*limit)", "flag").and(in("calc/helpers.go", "// add weighs", "var limit = flag.Int(\"limit\", 3, \"\")\n\n// add weighs")), refuses: "sum", path: []string{"limit"}},
	{name: "a file, in a method that json calls", change: both(in("text/text.go", "return json.Marshal(\"no. \" + digits(int(n)))", "return os.ReadFile(\"/dev/null\")"), imports("text/text.go", "os")), refuses: "encode", path: []string{"MarshalJSON", "os.ReadFile"}},
	{name: "a file, as a file system", change: sum("size(os.DirFS(\"/\"))", "os", "io/fs").and(in("calc/helpers.go", "// add weighs", "func size(f fs.FS) float64 {\n\tb, _ := fs.ReadFile(f, \"dev/null\")\n\treturn float64(len(b))\n}\n\n// add weighs")), refuses: "sum", path: []string{"os.DirFS"}},
	{name: "the standard input", change: sum("size(os.Stdin)", "os", "io").and(in("calc/helpers.go", "// add weighs", "func size(r io.Reader) float64 {\n\tb, _ := io.ReadAll(r)\n\treturn float64(len(b))\n}\n\n// add weighs")), refuses: "sum", path: []string{"os.Stdin"}},
	{name: "the network, in a function in a slice", change: both(in("tables/tables.go", "return strings.ToUpper(s) }", "a, _ := net.LookupHost(s + \".invalid\"); return strings.Join(a, s) }"), imports("tables/tables.go", "net")), refuses: "pipeline", path: []string{"upper", "net.LookupHost"}},
	{name: "another program", change: sum("size()", "os/exec").and(in("calc/helpers.go", "// add weighs", "func size() float64 {\n\tb, _ := exec.Command(\"true\").Output()\n\treturn float64(len(b))\n}\n\n// add weighs")), refuses: "sum", path: []string{"size", "exec.Command"}},
	{name: "the machine", change: sum("float64(runtime.NumCPU())", "runtime"), refuses: "sum", path: []string{"runtime.NumCPU"}},
	{name: "the line of the source", change: sum("line()", "runtime").and(in("calc/helpers.go", "// add weighs", "func line() float64 {\n\t_, _, n, _ := runtime.Caller(0)\n\treturn float64(n)\n}\n\n// add weighs")), refuses: "sum", path: []string{"line", "runtime.Caller"}},
	{name: "the build", change: sum("size()", "runtime/debug").and(in("calc/helpers.go", "// add weighs", "func size() float64 {\n\tinfo, _ := debug.ReadBuildInfo()\n\treturn float64(len(info.String()))\n}\n\n// add weighs")), refuses: "sum", path: []string{"size", "debug.ReadBuildInfo"}},
	{name: "memory", change: sum("*(*float64)(unsafe.Pointer(&b))", "unsafe"), reaches: "sum", why: "add"},
	{name: "a linkname", change: both(sum("float64(nanotime())"), in("calc/helpers.go", `import "math"`, "import (\n\t\"math\"\n\t_ \"unsafe\"\n)"), in("calc/helpers.go", "// add weighs", "//go:linkname nanotime runtime.nanotime\nfunc nanotime() int64\n\n// add weighs"), added("calc/empty.s", "")), refuses: "sum", path: []string{"nanotime"}},
	{name: "a linkname pushes a body", from: withLegacy, change: both(sum("pushed()"), in("calc/helpers.go", "// add weighs", "func pushed() float64\n\n// add weighs"), added("calc/empty.s", ""), in("legacy/legacy.go", "// Score is", "//go:linkname pushed suite/calc.pushed\nfunc pushed() float64 { return 7 }\n\n// Score is"), in("legacy/legacy.go", "package legacy\n", "package legacy\n\nimport _ \"unsafe\"\n")), reaches: "sum", why: "package suite/calc|executable"},
	{name: "assembly", change: both(in("calc/helpers.go", "func add(a, b float64) float64 { return a + b*gain }", "func add(a, b float64) float64\n\nvar _ = gain"), added("calc/add_amd64.s", "TEXT ·add(SB), $0-24\n\tMOVSD a+0(FP), X0\n\tADDSD b+8(FP), X0\n\tMOVSD X0, ret+16(FP)\n\tRET\n")), reaches: "sum", why: "package suite/calc|executable"},
	{name: "a written variable", change: both(in("calc/calc.go", "\treturn accumulate(xs), nil\n", "\tcalls++\n\treturn accumulate(xs) + calls, nil\n"), in("calc/helpers.go", "// add weighs", "var calls float64\n\n// add weighs")), refuses: "sum", path: []string{"calls"}},
	{name: "a written variable, three deep", change: both(in("calc/helpers.go", "return math.Round(x*100) / 100 }", "calls++; return math.Round(x*100) + calls }\n\nvar calls float64")), refuses: "sum", path: []string{"cents", "calls"}},
	{name: "a written variable, by a method through an interface", change: both(in("shape.v2/solid.go", "return s.side * s.side }", "seen[s.side]++; return s.side + seen[s.side] }\n\nvar seen = map[float64]float64{}")), refuses: "areas apply", path: []string{"seen"}},
	{name: "a written variable of the standard library", change: both(in("tables/tables.go", "return strings.ToUpper(s) }", "time.Local = nil; return s }"), imports("tables/tables.go", "time")), refuses: "pipeline", path: []string{"upper", "time.Local"}},
	{name: "a counter", change: sum("float64(calls.Add(1))", "sync/atomic").and(in("calc/helpers.go", "// add weighs", "var calls atomic.Int64\n\n// add weighs")), refuses: "sum", path: []string{"calls"}},
	{name: "a written variable, through a pointer", change: sum("float64(bump(&calls))").and(in("calc/helpers.go", "// add weighs", "var calls int\n\nfunc bump(n *int) int { *n++; return *n }\n\n// add weighs")), refuses: "sum", path: []string{"calls"}},
	{name: "a written map, under another name", change: sum("count()").and(in("calc/helpers.go", "// add weighs", "var seen = map[string]float64{}\n\nfunc count() float64 {\n\tm := seen\n\tm[\"x\"]++\n\treturn m[\"x\"]\n}\n\n// add weighs")), refuses: "sum", path: []string{"seen"}},
	{name: "a written part, by a method", change: sum("state.count.add()").and(in("calc/helpers.go", "// add weighs", "type counter struct{ n float64 }\n\nfunc (c *counter) add() float64 { c.n++; return c.n }\n\nvar state struct{ count counter }\n\n// add weighs")), refuses: "sum", path: []string{"state"}},
	{name: "a captured variable", change: both(in("report.go", "func(_ context.Context, s string) (string, error) { return s + s + ending, nil })", "by(`3`))"), in("report.go", "const ending", "func by(k string) func(context.Context, string) (string, error) {\n\treturn func(_ context.Context, s string) (string, error) { return k + s + ending, nil }\n}\n\nconst ending")), refuses: "double", path: []string{"captur"}},
	{name: "a receiver that is captured", change: both(in("report.go", "func(_ context.Context, s string) (string, error) { return s + s + ending, nil })", "factor{`3`}.times)"), in("report.go", "const ending", "type factor struct{ k string }\n\nfunc (f factor) times(_ context.Context, s string) (string, error) { return f.k + s, nil }\n\nconst ending")), refuses: "double", path: []string{"times"}},
	{name: "a value of the context", change: in("calc/calc.go", "func Sum(_ context.Context, xs []float64) (float64, error) {\n\treturn", "func Sum(ctx context.Context, xs []float64) (float64, error) {\n\tif ctx.Value(\"rate\") != nil {\n\t\treturn 0, nil\n\t}\n\treturn"), refuses: "sum", path: []string{"context"}},
	{name: "C", change: both(sum("float64(C.seven())"), in("calc/helpers.go", "import \"math\"\n", "import \"math\"\n\n// static int seven(void) { return 7; }\nimport \"C\"\n")), refuses: "sum", path: []string{"C"}},
}

// writer adds to package tables a file that changes the variable tax, or the table prices, on which price and report
// depend.
func writer(name, text string, imports ...string) edit {
	file := "package tables\n\n"
	for _, path := range imports {
		file += fmt.Sprintf("import %q\n\n", path)
	}
	return edit{name: "written by " + name, change: added("tables/writer.go", file+text+"\n"), reaches: "price report", why: "init|tax|prices|writer.go", mayRefuse: true}
}

// cell is a type that can be written.
const cell = "type cell struct{ n int }\n\nfunc (c *cell) set(n int) { c.n = n }\n\n"

// held makes Row, which runs long after init, add an expression over the declarations of a new file of package tables.
func held(declarations, expression string, paths ...string) changes {
	return both(added("tables/held.go", "package tables\n\n"+declarations+"\n"), imports("tables/held.go", paths...),
		in("tables/tables.go", "(*alias)[i] + first[i], nil", "(*alias)[i] + first[i] + "+expression+", nil"))
}

// late adds a file to package tables whose init comes last.
func late(text string, paths ...string) changes {
	return added("tables/writer.go", "package tables\n\n"+text+"\n").and(imports("tables/writer.go", paths...))
}

// setTax gives package tables a function that writes a variable.
var setTax = added("tables/more.go", "package tables\n\n// SetTax is for any time.\nfunc SetTax(n int) { tax = n }\n")

// withLegacy makes the program use a package that does not register its sources.
var withLegacy = both(in("report.go", "\t\"suite/tables\"\n", "\t\"suite/legacy\"\n\t\"suite/tables\"\n"), in("report.go", "fmt.Sprint(len(s) * len(s))", "fmt.Sprint(legacy.Score(len(s)))"))

// somePartial omits a file of a package from its registered sources.
var somePartial = in("partial/files.go", "//go:embed *\n", "//go:embed files.go partial.go\n")

// pureLegacy declares that package as pure.
var pureLegacy = both(withLegacy, in("report.go", "codeid.Register(files)", "codeid.Register(files, codeid.Options{Pure: []string{\"suite/legacy\"}})"))

// hasher makes package plugins provide a hash function to the standard library.
var hasher = added("plugins/hash.go", "package plugins\n\nimport (\n\t\"crypto\"\n\t\"hash\"\n\t\"hash/crc32\"\n)\n\nfunc init() { crypto.RegisterHash(crypto.MD4, func() hash.Hash { return crc32.NewIEEE() }) }\n")

// sum adds an expression to the result of the function add, which Sum calls.
func sum(expression string, paths ...string) changes {
	return in("calc/helpers.go", "a + b*gain }", "a + b*gain + "+expression+" }").and(imports("calc/helpers.go", paths...))
}

// changes are made to a program one after another.
type changes []func(*testing.T, tree)

func (c changes) and(more changes) changes { return append(c[:len(c):len(c)], more...) }

func both(all ...changes) changes {
	var c changes
	for _, more := range all {
		c = c.and(more)
	}
	return c
}

// in replaces the only occurrence of old in a file.
func in(file, old, text string) changes {
	return changes{func(t *testing.T, p tree) {
		if n := strings.Count(p[file], old); n != 1 {
			t.Fatalf("the table is wrong: %s has %q %d times", file, old, n)
		}
		p[file] = strings.Replace(p[file], old, text, 1)
	}}
}

// edited changes the whole text of a file.
func edited(file string, by func(string) string) changes {
	return changes{func(t *testing.T, p tree) {
		text, ok := p[file]
		if !ok {
			t.Fatalf("the table is wrong: no file %s", file)
		}
		p[file] = by(text)
	}}
}

// imports adds imports to a file.
func imports(file string, paths ...string) changes {
	return edited(file, func(text string) string {
		at := strings.Index("\n"+text, "\npackage ")
		clause, rest, _ := strings.Cut(text[at:], "\n")
		var lines strings.Builder
		for _, path := range paths {
			fmt.Fprintf(&lines, "\nimport %q\n", path)
		}
		return text[:at] + clause + "\n" + lines.String() + rest
	})
}

// added writes a file.
func added(file, text string) changes {
	return changes{func(_ *testing.T, p tree) { p[file] = text }}
}

// renamed gives a file another name.
func renamed(file, name string) changes {
	return changes{func(t *testing.T, p tree) {
		if _, ok := p[file]; !ok {
			t.Fatalf("the table is wrong: no file %s", file)
		}
		p[name] = p[file]
		delete(p, file)
	}}
}

// module copies a module that this one requires into a directory.
func module(path, dir string) changes {
	return changes{func(t *testing.T, p tree) {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		from := os.DirFS(strings.TrimSpace(string(out)))
		files, err := fs.Glob(from, "*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range append(files, "go.mod") {
			b, err := fs.ReadFile(from, file)
			if err != nil {
				t.Fatal(err)
			}
			p[dir+"/"+file] = string(b)
		}
	}}
}

// apply returns a copy of a program with changes made to it.
func apply(t *testing.T, program tree, c changes) tree {
	t.Helper()
	p := maps.Clone(program)
	for _, change := range c {
		change(t, p)
	}
	return p
}

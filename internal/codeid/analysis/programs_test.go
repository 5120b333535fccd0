package analysis_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestPrograms runs programs of many small packages, each with one function f
// (or F, of other types). Most were written to get a stale value by authors who
// knew only the documentation. A file of testdata/programs is one program; a
// package begins with a line
//
//	=== name kind description
//
// where kind is how the function is identified: source, program, or refused.
// More files follow lines that begin with ---. «a¦b» is an edit of a to b, and
// Mutate changes state between two calls.
//
// The program is built and run twice on one cache directory; then with more
// comments and functions in each package, and then with all edits.
//
//   - No value is stale: differs from what the function returns without a cache.
//   - Each function is identified as its line says.
//   - Functions that no edit reaches are not computed again, except for a few.
func TestPrograms(t *testing.T) {
	needsBuilds(t)
	files, err := filepath.Glob("testdata/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs: ", err)
	}
	total := totals{}
	tried, large, which := 0, 0, testrand.New(t).IntN(2)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			cases := readCases(t, file)
			if len(cases) > 20 && !testrand.All() {
				t.Skip("builds ", len(cases), " packages thrice; LARDER_SUITE=all does")
			}
			if len(cases) > 20 {
				if large++; large%2 != which {
					t.Skip("the other large program is tried this time: it takes minutes, too")
				}
			}
			tried++
			total.add(tryProgram(t, cases))
		})
	}
	t.Logf("%d functions: %d precise, %d by the whole program, %d refused; %d edits and %d changes of state change what they return, %d stale; %d of %d needless",
		total.functions, total.kinds["source"], total.kinds["program"], total.kinds["refused"], total.edits, total.mutations, total.stale, total.needless, total.untouched)
	const needlessPercent = 5
	if total.needless*100 > needlessPercent*total.untouched {
		t.Errorf("more than %d %% of what no edit reaches is computed again", needlessPercent)
	}
	if all := tried == len(files); all && (total.edits < 120 || total.mutations < 120) {
		t.Error("fewer than 120 edits, or changes of state, change anything: the programs would not show what is stale")
	}
}

// few functions that are identified by their source are not worth another build.
const few = 5

// A totals counts the cases tried.
type totals struct {
	functions, edits, mutations, stale, needless, untouched int
	kinds                                                   map[string]int
}

func (a *totals) add(b totals) {
	a.functions += b.functions
	a.edits += b.edits
	a.mutations += b.mutations
	a.stale += b.stale
	a.needless += b.needless
	a.untouched += b.untouched
	if a.kinds == nil {
		a.kinds = map[string]int{}
	}
	for kind, n := range b.kinds {
		a.kinds[kind] += n
	}
}

// A row is the result of one call of a function; see testdata/programs/try.
type row struct {
	Name, Value, Err, Fresh, Kind string
	Later, Computed               bool
}

func (r row) stale() bool { return r.Err == "" && r.Value != r.Fresh }

// tryProgram tries one program.
func tryProgram(t *testing.T, cases map[string]*miniature) totals {
	dir, cache := t.TempDir(), t.TempDir()
	count := totals{functions: len(cases), kinds: map[string]int{}}
	uncached := map[string]bool{} // by another process
	run := func(name string, v variant) map[string]row {
		binary := filepath.Join(t.TempDir(), name)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		write(t, cases, v).write(t, dir)
		buildProgram(t, dir, binary)
		rows := map[string]row{}
		for again := range 2 { // the second run finds the results of the first
			for _, r := range runProgram(t, binary, cache) {
				if again == 1 && r.Computed {
					uncached[r.Name] = true
				}
				if r.stale() {
					count.stale++
					t.Errorf("%s: stale: %s is %q and was %q (%s)", name, r.Name, r.Fresh, r.Value, cases[r.Name].about)
				}
				key := r.Name
				if r.Later {
					key += " later"
				}
				if _, again := rows[key]; !again {
					rows[key] = r
				}
			}
		}
		return rows
	}
	first := run("first", variant{})
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c, r := cases[name], first[name]
		kind := r.Kind
		if r.Err != "" {
			kind = "refused"
		}
		if kind != c.kind {
			t.Errorf("%s (%s) is identified by %q, want %q: %s", name, c.about, kind, c.kind, r.Err)
		}
		count.kinds[kind]++
		if later, ok := first[name+" later"]; ok && later.Fresh != r.Fresh {
			count.mutations++
		}
	}
	needless := func(r row, step string) {
		if uncached[r.Name] {
			return
		}
		count.untouched++
		if r.Computed {
			count.needless++
			t.Logf("%s: needless: %s (%s)", step, r.Name, cases[r.Name].about)
		}
	}
	if count.kinds["source"] > few {
		for name, r := range run("more", variant{more: true}) {
			if c := cases[name]; c != nil && c.kind == "source" {
				needless(r, "more")
			}
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(cases)), (*miniature).edited) {
		return count
	}
	for name, r := range run("edited", variant{edited: true}) {
		switch c := cases[name]; {
		case c == nil: // a later row
		case c.edited() && r.Fresh != first[name].Fresh:
			count.edits++
		case !c.edited() && c.kind == "source":
			needless(r, "edited")
		}
	}
	return count
}

// A miniature is a package to be tried.
type miniature struct {
	name, kind, about string
	files             map[string]string
}

func (c *miniature) edited() bool {
	for name, text := range c.files {
		if strings.Contains(name+text, "«") {
			return true
		}
	}
	return false
}

// readCases reads the packages of a program.
func readCases(t *testing.T, file string) map[string]*miniature {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parseCases(t, string(b))
}

func parseCases(t *testing.T, text string) map[string]*miniature {
	t.Helper()
	cases := map[string]*miniature{}
	for _, part := range strings.Split("\n"+text, "\n=== ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		words := strings.SplitN(head, " ", 3)
		if len(words) < 3 || cases[words[0]] != nil {
			t.Fatalf("a line %q", head)
		}
		c := &miniature{name: words[0], kind: words[1], about: words[2], files: map[string]string{}}
		for n, f := range strings.Split("--- f.go\n"+text, "\n--- ") {
			name, text, _ := strings.Cut(f, "\n")
			if n == 0 {
				name = "f.go"
			}
			c.files[name] = text + "\n"
		}
		cases[c.name] = c
	}
	return cases
}

// A variant says how a program is written.
type variant struct {
	edited bool
	more   bool // comments, and a function without callers
}

var editOf = regexp.MustCompile(`(?s)«([^»]*?)¦([^»]*?)»`)

func (v variant) pick(text string) string {
	if v.edited {
		return editOf.ReplaceAllString(text, "$2")
	}
	return editOf.ReplaceAllString(text, "$1")
}

const registration = "\nimport (\n\t\"embed\"\n\n\t\"github.com/larder-data/larder/codeid\"\n)\n\n//go:embed %s\nvar zfiles embed.FS\n\nvar _ = codeid.Register(zfiles%s)\n"

// write makes the program of the cases.
func write(t *testing.T, cases map[string]*miniature, v variant) tree {
	t.Helper()
	program := readTree(t, "testdata/suite")
	for name := range program {
		if !strings.HasPrefix(name, "go.") && !strings.HasPrefix(name, "units/") { // a module that go.mod replaces
			delete(program, name)
		}
	}
	b, err := os.ReadFile("testdata/programs/try/try.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	program["try/try.go"] = string(b)
	program["try/zsource.go"] = "package try\n" + fmt.Sprintf(registration, "*.go", "")
	program["zsource.go"] = "package main\n" + fmt.Sprintf(registration, "*.go", "")
	var imports, calls strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		cases[name].write(program, v)
		fmt.Fprintf(&imports, "\t\"suite/%s\"\n", name)
		fmt.Fprintf(&calls, "\ttry.Try(l, %q, %s.ZLazy, %s.F, %s.Arg, %s.ZMutate)\n", name, name, name, name, name)
	}
	program["main.go"] = "package main\n\nimport (\n\t\"suite/try\"\n" + imports.String() + ")\n\nfunc main() {\n\tl := try.Open()\n\tdefer l.Close()\n" + calls.String() + "}\n"
	return program
}

// write adds the files of the case.
func (c *miniature) write(program tree, v variant) {
	packages := map[string][]string{} // texts, by directory
	for name, text := range c.files {
		name, text = v.pick(name), v.pick(text)
		at := c.name + "/" + name
		if strings.HasSuffix(name, ".go") {
			pkg := path.Base(path.Dir(at))
			if v.more && name == "f.go" {
				text += "\n// One that no code calls.\nfunc zunused() int { return 42 }\n"
			}
			text = withImports(text, pkg, c.name)
			if v.more {
				text = "// A comment.\n\n" + text
			}
			packages[path.Dir(at)] = append(packages[path.Dir(at)], text)
		}
		program[at] = text
	}
	for dir, texts := range packages {
		all := strings.Join(texts, "\n")
		if strings.Contains(all, "//noreg") {
			continue
		}
		options, embedded := "", "*.go"
		if m := directive("//reg: ", all); m != "" {
			options = ", " + m
		}
		if m := directive("//emb: ", all); m != "" {
			embedded = m
		}
		program[dir+"/zsource.go"] = "package " + packageClause.FindStringSubmatch(all)[1] + "\n" + fmt.Sprintf(registration, embedded, options)
	}
	program[c.name+"/zlazy.go"] = c.harness(strings.Join(packages[c.name], "\n"))
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)`)

// harness declares what main needs from the package and its own text lacks.
func (c *miniature) harness(text string) string {
	text = withoutTexts(text)
	has := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"context\"\n\n\t\"github.com/larder-data/larder/lazy\"\n)\n\nvar _ context.Context\n\nvar _ lazy.Options\n\n", c.name)
	if !has(`\bfunc F\(|\bvar F\b`) {
		b.WriteString("func F(_ context.Context, x int) (string, error) { return f(x), nil }\n\n")
	}
	options := ""
	if has(`\bvar opts =`) {
		options = ", opts"
	}
	if !has(`\bvar ZLazy =`) {
		fmt.Fprintf(&b, "var ZLazy = lazy.Func1(%q, F%s)\n\n", c.name, options)
	}
	if !has(`\bfunc Arg\(`) {
		b.WriteString("func Arg() int { return 7 }\n\n")
	}
	mutate := "nil"
	if has(`\bfunc Mutate\(`) {
		mutate = "Mutate"
	}
	fmt.Fprintf(&b, "var ZMutate func() = %s\n", mutate)
	return b.String()
}

// directive returns the rest of the first line that begins with a word, or "".
func directive(word, text string) string {
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, word); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// standard are the packages whose names the cases use without importing them.
var standard = strings.Fields(`context fmt strings strconv sort slices maps errors sync sync/atomic math math/big math/rand math/bits math/cmplx
	time bytes bufio io io/fs os encoding/json encoding/xml encoding/binary encoding/hex encoding/base64 encoding/csv encoding/gob encoding/pem
	regexp reflect text/template html text/tabwriter unicode unicode/utf8 unicode/utf16 unsafe cmp iter container/heap container/list
	container/ring hash/fnv hash/crc32 hash/maphash hash/adler32 crypto/sha256 crypto/md5 crypto/hmac crypto/sha1 crypto/aes crypto/cipher image
	image/color image/png image/draw image/gif image/jpeg net net/url net/netip net/http net/mail net/textproto mime mime/quotedprintable path
	path/filepath runtime runtime/debug log log/slog flag expvar go/ast go/parser go/token go/format go/build go/types go/scanner compress/gzip
	compress/flate compress/zlib archive/zip archive/tar index/suffixarray unique weak embed testing os/user os/exec os/signal syscall plugin
	database/sql debug/buildinfo testing/fstest github.com/larder-data/larder/lazy github.com/larder-data/larder github.com/larder-data/larder/codeid`)

var (
	importLine  = regexp.MustCompile(`(?ms)^import [^(\n]*$|^import \(.*?^\)`)
	importedAs  = regexp.MustCompile(`(?:(\w+)\s+)?"([\w/.\-]+)"`)
	rawText     = regexp.MustCompile("(?s)`[^`]*`")
	quotedText  = regexp.MustCompile(`"(\\.|[^"\\\n])*"`)
	lineComment = regexp.MustCompile(`//.*`)
)

func withoutTexts(text string) string {
	return lineComment.ReplaceAllString(quotedText.ReplaceAllString(rawText.ReplaceAllString(text, ""), ""), "")
}

// withImports completes a file: a package clause, and imports of the standard
// packages that it uses.
func withImports(text, pkg, name string) string {
	text = strings.ReplaceAll(text, "@/", "suite/"+name+"/")
	if !packageClause.MatchString(text) {
		text = "package " + pkg + "\n" + text
	}
	imported := map[string]bool{}
	for _, l := range importLine.FindAllString(text, -1) {
		for _, m := range importedAs.FindAllStringSubmatch(l, -1) {
			imported[path.Base(m[2])] = imported[path.Base(m[2])] || m[1] == ""
			if m[1] != "" {
				imported[m[1]] = true
			}
		}
	}
	bare := withoutTexts(text)
	var needed strings.Builder
	for _, p := range standard {
		base := regexp.QuoteMeta(path.Base(p))
		if !imported[path.Base(p)] && regexp.MustCompile(`(?:^|[^\w.])`+base+`\.[A-Z]`).MatchString(bare) &&
			!regexp.MustCompile(`\b(var|type|func|const) `+base+`\b|\b`+base+` :?= `).MatchString(bare) {
			fmt.Fprintf(&needed, "import %q\n", p)
		}
	}
	at := packageClause.FindStringIndex(text)[1]
	return text[:at] + "\n" + needed.String() + text[at:]
}

// buildProgram builds the program in a directory.
func buildProgram(t *testing.T, dir, binary string, flags ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", binary}, baseFlags, flags, []string{"."})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off", "GOGC=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the program does not build: %v\n%s", err, out)
	}
}

// runProgram runs a program on a cache directory.
func runProgram(t *testing.T, binary, cache string, env ...string) []row {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, cache)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the program fails: %v\n%s", err, stderr.Bytes())
	}
	return parseRows(bytes.NewReader(out))
}

// parseRows reads the rows among the other output of a program.
func parseRows(from io.Reader) []row {
	var rows []row
	in := bufio.NewScanner(from)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var r row
		if json.Unmarshal(in.Bytes(), &r) == nil && r.Name != "" {
			rows = append(rows, r)
		}
	}
	return rows
}

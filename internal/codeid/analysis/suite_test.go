package analysis_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestSuite edits the program in testdata/suite in many ways (edits_test.go),
// builds each, and runs it on a cache directory that the unedited program filled.
//
//   - No value may be stale: differ from what the function returns without a cache.
//   - A function that an edit does not reach is not computed again, except for
//     a few of all pairs of an edit and such a function.
//   - A function that is computed again names the edit.
//   - A function that reaches forbidden code is refused, with the path to it.
//   - When the edit is undone nothing is computed.
//
// The same edits are made with two identities that are broken on purpose, to
// show that the suite detects stale values.
func TestSuite(t *testing.T) {
	needsBuilds(t)
	s := newSuite(t)
	t.Run("edits", func(t *testing.T) {
		for _, e := range s.chosen(t) {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				s.try(t, e)
			})
		}
	})
	s.report(t)
}

// needsBuilds skips a test that builds programs where that is of no use.
func needsBuilds(t *testing.T) {
	t.Helper()
	testrand.Long(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command: ", err)
	}
	if raceEnabled {
		t.Skip("the programs are built without the race detector, which would tell nothing new")
	}
}

// someEdits is the part of the edits that LARDER_SUITE=long tries. LARDER_SUITE=all tries all of them, which takes some
// minutes. Independent edits share a build; LARDER_SUITE=each builds each separately.
const someEdits = 16

// each reports whether each edit is built separately.
func each() bool { return os.Getenv("LARDER_SUITE") == "each" }

// chosen lists the edits to try.
func (s *suite) chosen(t *testing.T) []edit {
	t.Helper()
	if each() {
		return edits
	}
	var some []edit
	for _, i := range testrand.Some(t, len(edits), someEdits) {
		some = append(some, edits[i])
	}
	return s.joined(t, some)
}

// joined combines several edits into one if they change different packages and reach different functions.
func (s *suite) joined(t *testing.T, all []edit) (list []edit) {
	type group struct {
		parts   []edit
		touched map[string]bool
	}
	var groups []*group
	for _, e := range all {
		if !e.simple() {
			list = append(list, e)
			continue
		}
		touched := s.touched(t, e)
		i := slices.IndexFunc(groups, func(g *group) bool {
			for name := range touched {
				if g.touched[name] {
					return false
				}
			}
			return true
		})
		if i < 0 {
			groups, i = append(groups, &group{touched: map[string]bool{}}), len(groups)
		}
		groups[i].parts = append(groups[i].parts, e)
		maps.Copy(groups[i].touched, touched)
	}
	for _, g := range groups {
		list = append(list, join(g.parts))
	}
	return list
}

// simple reports whether an edit only changes text and the table lists all its effects.
func (e edit) simple() bool {
	return e.change != nil && !e.alone && e.from == nil && e.flags == nil && e.fromFlags == nil && e.env == nil && e.fromEnv == nil &&
		e.reaches != "*" && !e.types && !e.mayRefuse && e.refuses == ""
}

// touched lists the directories that an edit changes and the functions that it reaches.
func (s *suite) touched(t *testing.T, e edit) map[string]bool {
	all := set(e.reaches)
	after := apply(t, s.program, e.change)
	for name := range maps.Keys(after) {
		if after[name] != s.program[name] {
			all["in "+path.Dir(name)] = true
		}
	}
	for name := range maps.Keys(s.program) {
		if _, ok := after[name]; !ok {
			all["in "+path.Dir(name)] = true
		}
	}
	return all
}

// join makes one edit of several.
func join(parts []edit) edit {
	if len(parts) == 1 {
		return parts[0]
	}
	e := edit{parts: parts}
	var names, reaches []string
	for _, p := range parts {
		names, reaches = append(names, p.name), append(reaches, p.reaches)
		e.change = e.change.and(p.change)
	}
	e.name, e.reaches = strings.Join(names, ", and "), strings.Join(reaches, " ")
	return e
}

// by returns the part of a joined edit that reaches a function.
func (e edit) by(function string) edit {
	for _, p := range e.parts {
		if set(p.reaches)[function] {
			return p
		}
	}
	return e
}

// needlessPercent limits the pairs of an edit and a function it does not reach that is computed again. Joined edits have
// fewer such pairs. A build flag may reach all functions, which counts more among few edits.
const (
	needlessPercent       = 3
	needlessPercentOfSome = 15
)

// baseFlags are given to every build, to build quickly.
var baseFlags = []string{"-ldflags=-s -w", "-gcflags=suite/...=-N -l -dwarf=false"}

// The identities under which the program is run: its sources, and two that miss edits.
const (
	bySources  = "sources"
	byConstant = "constant" // a version that never changes
	byOwnText  = "own text" // a version computed from the function's own text
)

var identities = []string{bySources, byConstant, byOwnText}

// A suite holds the state shared by all edits.
type suite struct {
	program tree
	base    built
	dirs    chan string // to build in; as many as builds may run concurrently

	mu       sync.Mutex
	count    map[string]int // of stale values, by identity
	pairs    int            // of an edit and a function it does not reach
	needless []string
}

// A tree is a program: its files by name.
type tree map[string]string

// A built program has been run once on an empty cache directory, by each identity.
type built struct {
	binary string
	caches map[string]string
	lines  map[string]line
}

// A line is the program's output about one function.
type line struct {
	Name     string
	Value    json.RawMessage
	Fresh    json.RawMessage
	Computed bool
	Error    string
	Why      []string
}

func (l line) stale() bool {
	return l.Error == "" && !bytes.Equal(l.Value, l.Fresh)
}

// differs reports whether the function itself now returns another value, as far as both are known.
func (l line) differs(was line) bool {
	const unknown = "null"
	return string(l.Fresh) != unknown && string(was.Fresh) != unknown && !bytes.Equal(l.Fresh, was.Fresh)
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	s := &suite{program: readTree(t, "testdata/suite"), dirs: make(chan string, 2), count: map[string]int{}}
	for range cap(s.dirs) {
		s.dirs <- t.TempDir()
	}
	s.base = s.fill(t, s.program, edit{})
	for name, l := range s.base.lines {
		if l.Error != "" && !mayRefuse[name] {
			t.Errorf("%s is refused in the unedited program: %s", name, l.Error)
		}
		if l.Error == "" && (!l.Computed || l.stale()) {
			t.Errorf("%s on an empty cache directory: %+v", name, l)
		}
	}
	for name, l := range s.run(t, s.base.binary, s.base.caches[bySources], "", nil) {
		if l.Computed && l.Error == "" {
			t.Errorf("%s is computed again though nothing was edited: %q", name, l.Why)
		}
	}
	return s
}

// fill builds a program and runs it on empty cache directories.
func (s *suite) fill(t *testing.T, program tree, e edit) built {
	t.Helper()
	b := built{binary: filepath.Join(t.TempDir(), "base"), caches: map[string]string{}}
	s.build(t, program, e, b.binary)
	for _, identity := range identities {
		b.caches[identity] = t.TempDir()
		lines := s.run(t, b.binary, b.caches[identity], versions(t, program, identity), e.env)
		if identity == bySources {
			b.lines = lines
		}
	}
	return b
}

// try makes one edit and checks its results.
func (s *suite) try(t *testing.T, e edit) {
	before, base := s.program, s.base
	if e.from != nil || e.fromFlags != nil || e.fromEnv != nil {
		before = apply(t, s.program, e.from)
		base = s.fill(t, before, edit{flags: e.fromFlags, env: e.fromEnv})
	}
	after := apply(t, before, e.change)
	binary := filepath.Join(t.TempDir(), "edited")
	s.build(t, after, e, binary)
	cache := copyDir(t, base.caches[bySources])
	lines := s.run(t, binary, cache, "", e.env)
	s.judge(t, e, base.lines, lines)
	for name, l := range s.run(t, binary, cache, "", e.env) {
		if l.Computed && l.Error == "" {
			t.Errorf("%s is computed again by a second run: %q", name, l.Why)
		}
	}
	for name, l := range s.run(t, base.binary, cache, "", e.fromEnv) {
		if l.Computed && l.Error == "" {
			t.Errorf("%s is computed again when the edit is undone: %q", name, l.Why)
		}
	}
	for _, identity := range []string{byConstant, byOwnText} {
		broken := s.run(t, binary, copyDir(t, base.caches[identity]), versions(t, after, identity), e.env)
		s.judgeBroken(t, e, identity, base.lines, broken)
	}
}

// judge compares the lines of the edited program with the edit's expectations.
func (s *suite) judge(t *testing.T, e edit, before, after map[string]line) {
	t.Helper()
	reached, refused := set(e.reaches), set(e.refuses)
	judged, changed := map[string]bool{}, map[string]bool{} // by the edit's name
	pairs, needless, stale := 0, []string(nil), 0
	for _, name := range slices.Sorted(maps.Keys(after)) {
		l, was := after[name], before[name]
		if l.stale() && !refused[name] {
			stale++
			t.Errorf("stale: %s is %s and was stored as %s", name, l.Fresh, l.Value)
		}
		if refused[name] {
			s.judgeRefusal(t, e, l)
			continue
		}
		if l.differs(was) {
			changed[e.by(name).name] = true
			if !reached[name] && !reached["*"] && !coarse[name] {
				t.Errorf("the table is wrong: the edit reaches %s", name)
			}
		}
		switch {
		case was.Error != "" || coarse[name] || reached["*"]:
		case !reached[name]:
			pairs++
			if l.Computed || l.Error != "" {
				needless = append(needless, fmt.Sprintf("%s: %s %q %s", e.name, name, l.Why, l.Error))
			}
		case l.Error != "" && !e.mayRefuse:
			t.Errorf("%s is refused: %s", name, l.Error)
		case l.Error == "":
			by := e.by(name)
			judged[by.name] = true
			if l.Computed && !says(l.Why, by.why) {
				t.Errorf("why %s: want a line with %s, have %q", name, by.why, l.Why)
			}
		}
	}
	for _, by := range append(e.parts, e) {
		if judged[by.name] && !changed[by.name] && !by.same {
			t.Errorf("the table is wrong: %s changes no value", by.name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pairs += pairs
	s.needless = append(s.needless, needless...)
	s.count[bySources] += stale
}

// judgeRefusal checks that l is refused, with the edit's path.
func (s *suite) judgeRefusal(t *testing.T, e edit, l line) {
	t.Helper()
	if l.Error == "" {
		t.Errorf("%s is not refused", l.Name)
		return
	}
	for _, step := range e.path {
		if !strings.Contains(l.Error, step) {
			t.Errorf("%s is refused without the word %s: %s", l.Name, step, l.Error)
		}
	}
}

// judgeBroken counts the stale values of a broken identity. One that never changes must miss every change of a value.
func (s *suite) judgeBroken(t *testing.T, e edit, identity string, before, after map[string]line) {
	t.Helper()
	refused := set(e.refuses)
	stale := 0
	for name, l := range after {
		if refused[name] {
			continue // differs on its own
		}
		if l.stale() {
			stale++
		}
		if identity == byConstant && !e.types && l.differs(before[name]) && !l.stale() {
			t.Errorf("%s changes, and the suite does not see that it is stale under a constant version", name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[identity] += stale
}

// report sums up all edits.
func (s *suite) report(t *testing.T) {
	t.Helper()
	if s.pairs == 0 {
		return
	}
	t.Logf("of %d edits: stale %d, needless %d of %d pairs (%.1f %%); stale by a constant version %d, by the function's own text %d",
		len(edits), s.count[bySources], len(s.needless), s.pairs, 100*float64(len(s.needless))/float64(s.pairs), s.count[byConstant], s.count[byOwnText])
	slices.Sort(s.needless)
	for _, n := range s.needless {
		t.Log("needless: ", n)
	}
	percent := needlessPercentOfSome
	if testrand.All() || each() {
		percent = needlessPercent
	}
	if len(s.needless)*100 > percent*s.pairs {
		t.Errorf("more than %d %% of the functions that an edit does not reach are computed again", percent)
	}
	if s.pairs < len(edits)/2 {
		return // only some of the edits were requested
	}
	if s.count[byConstant] == 0 || s.count[byOwnText] == 0 {
		t.Error("the suite finds nothing stale where the identity is broken")
	}
}

// build builds a program in one of the directories, as many concurrently as there are.
func (s *suite) build(t *testing.T, program tree, e edit, binary string) {
	t.Helper()
	dir := <-s.dirs
	defer func() { s.dirs <- dir }()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	program.write(t, dir)
	buildProgram(t, dir, binary, e.flags...)
}

// run runs the program on a cache directory and returns its lines by function.
func (s *suite) run(t *testing.T, binary, cache, versions string, env []string) map[string]line {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-cache", cache, "-versions", versions)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the program fails: %v\n%s", err, stderr.Bytes())
	}
	lines := map[string]line{}
	for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, in.Bytes())
		}
		lines[l.Name] = l
	}
	return lines
}

// readTree reads the program. A go.mod is stored as go.mod.txt, or its directory would not be a part of this module.
func readTree(t *testing.T, dir string) tree {
	t.Helper()
	program := tree{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		program[strings.Replace(name, "go.mod.txt", "go.mod", 1)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	program["go.sum"] = string(sum)
	program["go.mod"] += "\nreplace github.com/larder-data/larder => " + root + "\n"
	return program
}

func (p tree) write(t *testing.T, dir string) {
	t.Helper()
	for name, text := range p {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

var declared = regexp.MustCompile(`lazy\.Func1\("(\w+)", (\w+)`)

// versions writes the versions of an identity to a file and returns its name, which is empty for the identity by
// sources.
func versions(t *testing.T, program tree, identity string) string {
	t.Helper()
	if identity == bySources {
		return ""
	}
	all := map[string]string{}
	for name, text := range program {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			all[m[1]] = "1"
			if identity == byOwnText {
				all[m[1]] = program.textOf(path.Dir(name), m[2])
			}
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "versions.json")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// textOf returns a hash of the text of a package's function.
func (p tree) textOf(dir, function string) string {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if path.Dir(name) != dir || !strings.HasSuffix(name, ".go") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, p[name], parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler reports it, if it matters
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == function {
				text := p[name][files.Position(fn.Pos()).Offset:files.Position(fn.End()).Offset]
				return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
			}
		}
	}
	return "none"
}

// set returns the words of a list.
func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// says reports whether a line contains one of the words between bars.
func says(lines []string, words string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, w) }) {
			return true
		}
	}
	return false
}

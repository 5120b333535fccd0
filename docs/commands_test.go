package docs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// notRun has the commands that are not run here, and why.
var notRun = map[string]string{
	"go test ./...":           "it is what runs this test",
	"go install ./cmd/larder": "it writes to the user's directory; the program is there",
	"pip install ./python":    "it builds the program once more and writes to an installation of Python; python/tests try what it installs",
	"larder map compute --set 'long=len(text) > 20' -i jsonl:rows.jsonl -o parquet:s3://bucket/rows.parquet": "there is no bucket; internal/app/cli.TestFarPlacesOfTheShell writes so",
	"LARDER_LAWS=1 go test -run TestMutations -v ./internal/testing/mutation":                                "it takes minutes, and is a step of its own in .ci/run",
}

// written replaces the run form of commands by the form on pages.
var written = strings.NewReplacer("go run ./cmd/larder ", "larder ")

// programs has the programs that commands may call.
var programs = []string{"larder", "cat", "cp", "export", "head", "ls", "printf", "sed"}

// shown has outputs on pages that no command of the page produces: a distinctive first
// line, and the script that produces it, or why there is none.
var shown = []struct{ page, line, script, why string }{
	{
		page: "README.md", line: "letters: 1 result to compute; nothing was run",
		script: "printf x >> examples/letters/data/data/03_image.jpeg; larder run examples/letters/flow.yaml --dry-run",
	},
	{page: "README.md", line: "hits, %", script: "larder simulate cyclic sliding-window zipfian shuffled-epochs"},
	{
		page: "README.md", line: `did you mean "from"?`,
		script: "sed s/from:.letters/form:\\ letters/ examples/letters/flow.yaml > flow.yaml; larder lint flow.yaml",
	},
	{page: "docs/internals/code-identity-go.md", line: "reaches runtime.GOMAXPROCS", why: "it takes a program with a mistake; package source builds many of them"},
	{page: "docs/internals/code-identity-python.md", line: "LOCK: a lock", why: "it takes Python; python/tests/test_code.py has one"},
	{page: "docs/guides/operations.md", line: "is not reproducible", why: "it takes a command that draws at random; larder.TestVerify has one"},
	{page: "docs/internals/keys.md", line: "func value cannot be keyed", why: "key.ExampleOf_unkeyable prints it"},
}

// TestPages runs the blocks of each page in a directory of its own that has the examples.
func TestPages(t *testing.T) {
	testrand.Long(t)
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "larder"), "../cmd/larder")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range pages(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, p, bin)
			for _, b := range p.blocks {
				s.do(b)
			}
		})
	}
	t.Run("named", func(t *testing.T) {
		s := newSandbox(t, nil, bin)
		for _, p := range everyPage(t) {
			s.page = p
			s.namedCommands()
			s.namedFlags()
			s.namedComponents()
		}
	})
}

// A sandbox is a user's home with the examples and an empty cache.
type sandbox struct {
	*testing.T
	page   *page
	home   string
	path   string // value of PATH
	line   int    // of the page
	output string // of the last command
	helps  map[string]string
	all    string // help of all commands and components
}

func newSandbox(t *testing.T, p *page, bin string) *sandbox {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{T: t, page: p, home: home, path: bin + string(os.PathListSeparator) + os.Getenv("PATH"), helps: map[string]string{}}
	err = fs.WalkDir(os.DirFS("../examples"), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "out":
			return fs.SkipDir // left by runs in place
		case d.IsDir():
			return nil
		}
		b, err := os.ReadFile(filepath.Join("../examples", name))
		write(t, filepath.Join(home, "examples", name), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sandbox) errorf(format string, args ...any) {
	s.Helper()
	s.Errorf("%s:%d: %s", s.page.name, s.line, fmt.Sprintf(format, args...))
}

// do runs or checks a block.
func (s *sandbox) do(b block) {
	s.Helper()
	s.line = b.line
	switch b.lang {
	case "console":
		s.session(b.text)
	case "indented":
		s.command(strings.TrimSpace(b.text), "")
	case "sh":
		for line := range strings.Lines(b.text) {
			s.checkForm(strings.TrimSpace(line))
		}
		if out, err := s.sh("set -e\n" + b.text); err != nil {
			s.errorf("%v\n%s", err, out)
		}
	case "":
		s.shown(b.text)
	case "yaml":
		s.yaml(b.text)
	}
}

// session runs the commands of a session one by one.
func (s *sandbox) session(text string) {
	s.Helper()
	command, want, line := "", "", s.line
	run := func() {
		s.Helper()
		if command != "" {
			s.command(command, want)
			s.compare(want)
		}
	}
	for text := range strings.Lines(text) {
		if next, ok := strings.CutPrefix(text, "$ "); ok {
			run()
			command, want, s.line = strings.TrimSpace(next), "", line
		} else {
			want += text
		}
		line++
	}
	run()
}

// command runs a command, which may fail only if the page shows it.
func (s *sandbox) command(command, want string) {
	s.Helper()
	if _, ok := notRun[command]; ok || !s.checkForm(command) {
		return
	}
	out, err := s.sh(written.Replace(command))
	s.output = out
	if fails := strings.Contains(strings.ReplaceAll(want, "larder: warning: ", ""), "larder: "); (err != nil) != fails {
		s.errorf("%s: %v\n%s", command, err, out)
	}
}

func (s *sandbox) sh(script string) (string, error) {
	c := exec.CommandContext(s.Context(), "sh", "-c", script)
	c.Dir = s.home
	c.Env = []string{"HOME=" + s.home, "PATH=" + s.path, "LC_ALL=C", "LARDER_NATIVE=none"} // pages show the same on every machine
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.Fatal(err)
	}
	return string(out), err
}

var (
	quoted     = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	separator  = regexp.MustCompile(`\|\||&&|[|;]`)
	assignment = regexp.MustCompile(`^[A-Z_]+=\S*$`)
)

// checkForm refuses commands that call unknown programs.
func (s *sandbox) checkForm(command string) bool {
	s.Helper()
	plain := quoted.ReplaceAllString(written.Replace(command), "q")
	for _, part := range separator.Split(plain, -1) {
		words := slices.DeleteFunc(strings.Fields(part), assignment.MatchString)
		if len(words) == 0 || words[0] == "" || slices.Contains(programs, words[0]) {
			continue
		}
		s.errorf("%q is a command of unknown form: run it here, or say in notRun why not", command)
		return false
	}
	return true
}

// shown compares a block without a language.
func (s *sandbox) shown(want string) {
	s.Helper()
	for _, known := range shown {
		if known.page == s.name() && strings.Contains(want, known.line) {
			if known.script != "" {
				s.output, _ = s.sh(known.script) // some show an error
				s.compare(want)
			}
			return
		}
	}
	s.compare(want)
}

func (s *sandbox) name() string { return filepath.ToSlash(s.page.name) }

var masks = []struct{ what, as string }{
	{`\d+(\.\d+)?(ns|µs|ms|s)\b`, "TIME"},
	{`\b\d+(\.\d+)? (B|KiB|MiB|GiB)\b`, "SIZE"},
	{`\b([dk]1-)?[0-9a-f]{4,}\.\.\.`, "DIGEST"},
	{`\b[dk]1-[0-9a-f]{4,}`, "DIGEST"},
	{`[ \t]+`, " "}, // the content decides the widths of columns
}

// progress matches a line that is printed now and then.
var progress = regexp.MustCompile(`(?m)^\S+: \d+ of \d+\n`)

// masked returns output without the parts that vary.
func masked(s string) string {
	s = progress.ReplaceAllString(s, "")
	for _, m := range masks {
		s = regexp.MustCompile(m.what).ReplaceAllString(s, m.as)
	}
	return strings.TrimSpace(s)
}

// compare compares the output of the last command with the page.
func (s *sandbox) compare(want string) {
	s.Helper()
	got := masked(strings.ReplaceAll(s.output, s.home, "/home/you"))
	pattern := regexp.QuoteMeta(masked(want))
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `(?s:.*)`)
	if !regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got) {
		s.errorf("the output is\n%s\nand shown is\n%s", s.output, want)
	}
}

var (
	inline  = regexp.MustCompile("`larder ([^`]+)`((?:(?:, | or |,? and )`[a-z]+[^`]*`)*)")
	listed  = regexp.MustCompile(`^[a-z]+( [A-Z]\S*)*$`)
	inBlock = regexp.MustCompile(`(?m)^(?:[A-Z_]+=\S* )*larder ([a-z][^|&#\n]*)`)
	summary = regexp.MustCompile(`(?m)^  ([a-z]+)  `)
)

// namedCommands checks that commands named in prose, and in blocks that are not run, exist
// with these flags.
func (s *sandbox) namedCommands() {
	s.Helper()
	for _, m := range inline.FindAllStringSubmatch(s.page.prose(), -1) {
		s.namedCommand(strings.ReplaceAll(m[1], `\|`, "|"))
		for _, also := range codeSpan.FindAllStringSubmatch(m[2], -1) {
			if words := strings.ReplaceAll(also[1], `\|`, "|"); listed.MatchString(words) {
				s.namedCommand(words) // larder ls, show
			}
		}
	}
	for _, m := range inBlock.FindAllStringSubmatch(s.page.code(), -1) {
		s.namedCommand(quoted.ReplaceAllString(m[1], "q"))
	}
}

func (s *sandbox) namedCommand(command string) {
	s.Helper()
	words := strings.Fields(command)
	if words[0] == strings.ToUpper(words[0]) {
		return // larder COMMAND
	}
	name := words[:1]
	if len(words) > 1 && (words[0] == "op" || words[0] == "map") && words[1] == strings.ToLower(words[1]) {
		name = words[:2]
	}
	help := s.help(strings.Join(name, " "))
	for _, word := range words {
		flag := optionForm.FindString(strings.Trim(word, "[]."))
		if flag != "" && !hasFlag(help, flag) && !s.hidden(words[0], flag) {
			s.Errorf("%s: `larder %s`: there is no flag %s", s.page.name, command, flag)
		}
	}
}

var optionForm = regexp.MustCompile(`^--?[a-z][a-z-]*`)

// hidden reports whether a command takes a flag that its help does not list.
func (s *sandbox) hidden(command, flag string) bool {
	out, _ := s.sh("larder " + command + " " + flag + "=1 --help")
	return !strings.Contains(out, "no flag")
}

func hasFlag(help, flag string) bool {
	return regexp.MustCompile(`(?m)^ +(-\w, )?` + flag + `\b|^ +` + flag + `, `).MatchString(help)
}

// known returns the help of all commands, and the kinds of components.
func (s *sandbox) known() string {
	s.Helper()
	if s.all == "" {
		overview, _ := s.sh("larder --help")
		s.all, _ = s.sh("larder components --json")
		for _, m := range summary.FindAllStringSubmatch(overview, -1) {
			s.all += s.help(m[1])
		}
		s.all += s.help("op split") // has everything of op and map
	}
	return s.all
}

// namedComponents checks the named mappers, operators, sources and sinks.
func (s *sandbox) namedComponents() {
	s.Helper()
	for _, m := range ofKind.FindAllStringSubmatch(s.page.prose(), -1) {
		kind := strings.NewReplacer("mapper", "map", "operator", "op").Replace(strings.ToLower(m[1]))
		for _, name := range codeSpan.FindAllStringSubmatch(m[2], -1) {
			if !strings.Contains(s.known(), fmt.Sprintf("\"kind\": %q,\n    \"name\": %q", kind, name[1])) {
				s.Errorf("%s: there is no %s %s", s.page.name, kind, name[1])
			}
		}
	}
}

var ofKind = regexp.MustCompile("(?i)\\b(mapper|source|sink|operator|op)s? ((?:`[a-z][a-z0-9-]*`(?:, | and | or )?)+)")

// namedFlags checks that each flag named alone belongs to some command, or is a parameter
// of some component.
func (s *sandbox) namedFlags() {
	s.Helper()
	for i, line := range strings.Split(s.page.ours(), "\n") {
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			if flag := regexp.MustCompile(`^--([a-z-]+)`).FindStringSubmatch(m[1]); flag != nil &&
				!hasFlag(s.known(), flag[0]) && !strings.Contains(s.known(), `"name": "`+flag[1]+`"`) && !s.hidden("run", flag[0]) {
				s.Errorf("%s:%d: no command has the flag %s", s.page.name, i+1, flag[0])
			}
		}
	}
}

// help returns the help of a command.
func (s *sandbox) help(command string) string {
	s.Helper()
	if _, ok := s.helps[command]; !ok {
		out, err := s.sh("larder " + command + " --help")
		if first, _, _ := strings.Cut(command, " "); err != nil || !strings.Contains(out, "larder "+first) {
			s.Errorf("%s: there is no command larder %s: %s", s.page.name, command, out)
		}
		s.helps[command] = out
	}
	return s.helps[command]
}

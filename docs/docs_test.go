// Package docs_test holds what the README and the pages say to the program:
// commands are run, output is compared, flows are linted, Go is compiled, links
// lead somewhere, the store is laid out as described. What the text names as code, of
// all pages of the repository, exists: files, Go, Python, tests, commands, flags,
// components, variables of the environment. What was measured is said once.
//
// How a page says what is what:
//
//   - console: a session. Lines that begin with "$ " are run in the order of the
//     page; what follows is their output, where a line "..." stands for any
//     lines, and a "..." in a line for any text. Times, sizes and digests may
//     differ. A status other than 0 is right only where the output shows an error
//     of larder.
//   - sh, and lines indented by four spaces: commands whose output is not shown.
//   - a block without a language: what the command before it says, or what a
//     script in the list shown does.
//   - yaml: a flow, a part of one (it is indented), or a schema. If its first
//     line is a comment that names a file, it is saved there, for the commands
//     that follow.
//   - go: a file if it begins with package; else declarations, or statements of a
//     function that has ctx and l. A line "..." stands for "if err != nil {
//     return err }", a body "{ ... }" for one that is left out. What else is
//     missing is declared in a comment before the block, <!-- go: ... -->, or in
//     the list declared.
//   - python: for python/tests/test_docs.py.
//   - text: neither.
package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A page is one file, named from the root of the repository.
type page struct {
	name   string
	text   string
	blocks []block
}

// A block is code on a page.
type block struct {
	lang    string // as the fence says; "indented" for a line that is
	text    string
	line    int    // of its first line of code
	comment string // the HTML comment before it
}

// pages reads the README and all pages.
func pages(t *testing.T) (all []*page) {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			names = append(names, path)
		}
		return err
	})
	if err != nil || len(names) < 10 {
		t.Fatalf("%d pages: %v", len(names), err)
	}
	for _, name := range append([]string{"../README.md"}, names...) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := &page{name: filepath.Join("docs", name), text: string(b)}
		p.read()
		all = append(all, p)
	}
	return all
}

// read finds the blocks.
func (p *page) read() {
	lines := strings.Split(p.text, "\n")
	comment, above := "", ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "```"):
			b := block{lang: strings.TrimPrefix(line, "```"), line: i + 2, comment: comment}
			end := i + 1 + slices.Index(lines[i+1:], "```")
			b.text = strings.Join(lines[i+1:end], "\n") + "\n"
			p.blocks = append(p.blocks, b)
			i, comment = end, ""
		case strings.HasPrefix(line, "<!--"):
			end := i
			for !strings.HasSuffix(lines[end], "-->") {
				end++
			}
			comment = strings.TrimSuffix(strings.TrimPrefix(strings.Join(lines[i:end+1], "\n"), "<!--"), "-->")
			i = end
		case strings.HasPrefix(line, "    ") && (above == "" || strings.HasPrefix(above, "    ")):
			p.blocks = append(p.blocks, block{lang: "indented", text: strings.TrimSpace(line) + "\n", line: i + 1})
		case line != "":
			comment = ""
		}
		above = lines[i]
	}
}

// everyPage reads also the pages whose blocks are not run here: all but the
// changelog, which tells of what was.
func everyPage(t *testing.T) []*page {
	t.Helper()
	all := pages(t)
	for _, pattern := range []string{"../*.md", "../python/*.md", "../examples/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no page: %v", pattern, err)
		}
		for _, name := range names {
			if base := filepath.Base(name); base != "CHANGELOG.md" && name != "../README.md" {
				p := &page{name: filepath.Join("docs", name), text: read(t, name)}
				p.read()
				all = append(all, p)
			}
		}
	}
	return all
}

// prose is the text with blank lines in the place of its blocks.
func (p *page) prose() string {
	var out strings.Builder
	fenced := false
	for line := range strings.Lines(p.text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			line = "\n"
		} else if fenced || strings.HasPrefix(line, "    ") {
			line = "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

// ours is the prose without what other software has: in tables that compare, what is
// "There".
func (p *page) ours() string {
	if !strings.Contains(p.text, "\n| There |") {
		return p.prose()
	}
	return theirCell.ReplaceAllString(p.prose(), "")
}

var theirCell = regexp.MustCompile(`(?m)^\| .*? \| `)

// A paragraph is a line of prose, or a row of a table, with its code.
type paragraph struct {
	line    int
	heading string // above it
	spans   []string
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// paragraphs returns those that have code.
func (p *page) paragraphs() (all []paragraph) {
	line, above := 0, ""
	for text := range strings.Lines(p.prose()) {
		line++
		if strings.HasPrefix(text, "#") {
			above = text
		}
		var spans []string
		for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
			spans = append(spans, strings.ReplaceAll(m[1], `\|`, "|"))
		}
		if spans != nil {
			all = append(all, paragraph{line, above, spans})
		}
	}
	return all
}

// code is the text of the blocks.
func (p *page) code() string {
	var out strings.Builder
	for _, b := range p.blocks {
		out.WriteString(b.text)
	}
	return out.String()
}

func TestBlocksAreOfAKnownKind(t *testing.T) {
	known := []string{"", "console", "sh", "indented", "yaml", "go", "python", "text"}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if !slices.Contains(known, b.lang) {
				t.Errorf("%s:%d: a block of %q; there are %q", p.name, b.line, b.lang, known)
			}
		}
	}
}

// write makes a file, with its folders.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// tree has the files of the repository, but for the data of tests and what git has no
// part in. It is read once.
var tree = sync.OnceValues(func() (files []file, err error) {
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2; {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || hidden && d.Name() != ".ci"):
			return fs.SkipDir
		case d.Type().IsRegular() && isCode.MatchString(path):
			b, err := os.ReadFile(path)
			files = append(files, file{filepath.ToSlash(path), string(b)})
			return err
		}
		return nil
	})
	return files, err
})

type file struct{ path, text string }

var isCode = regexp.MustCompile(`\.(go|py|yaml|json|txt|toml)$|[/\\]\.ci[/\\]\w+$`)

// walk goes through the files of the tree whose names end so.
func walk(t *testing.T, ending string, do func(path, text string)) {
	t.Helper()
	files, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.path, ending) {
			do(f.path, f.text)
		}
	}
}

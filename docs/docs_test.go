// Package docs_test provides tests that compare the README and the pages with the program.
// They run commands, compare output, lint flows, compile Go, follow links and check the
// layout of the store. Names in the text of all pages must exist: files, Go, Python, tests,
// commands, flags, components and environment variables. Each measurement is on one page
// only.
//
// Blocks of a page mean:
//
//   - console: a session. Lines that begin with "$ " run in the order of the page, and
//     their output follows. A line "..." matches any lines, and "..." in a line any text.
//     Times, sizes and digests may differ. A status other than 0 is allowed only where the
//     output shows an error of larder.
//   - sh, and lines indented by four spaces: commands whose output is not shown.
//   - a block without a language: the output of the command before it, or of a script in
//     the list shown.
//   - yaml: a flow, a part of one (indented), or a schema. If its first line is a comment
//     that names a file, it is saved there for later commands.
//   - go: a file if it begins with package. Otherwise declarations, or statements of a
//     function that has ctx and l. A line "..." means "if err != nil { return err }", and
//     a body "{ ... }" is left out. A comment before the block, <!-- go: ... -->, or the
//     list declared has other missing declarations.
//   - python: for python/tests/test_docs.py.
//   - text: not checked.
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
	lang    string // from the fence, or "indented"
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

// everyPage also reads the pages whose blocks are not run here. It omits the changelog,
// which describes the past.
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

// prose returns the text with blank lines in place of its blocks.
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

// ours returns the prose without parts about other software: in tables that compare, the
// column "There".
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

// code returns the text of the blocks.
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

// write writes a file, and creates its directories.
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

// tree returns the files of the repository, without test data and files that git ignores.
// It reads them once.
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

// walk visits the files of the tree with a suffix.
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

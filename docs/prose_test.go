package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instead maps words that have a standard term to that term.
var instead = map[string]string{
	"a text": "a string", "folder": "directory", "kept": "cached, stored", "who": "the caller, the process", "nobody": "no caller",
	"somebody": "another process", "whoever": "the caller", "is no": "is not a", "room": "space, memory", "told": "passed, notified",
	"asked for": "requested", "tally": "counters", "beside": "next to, compared with", "at once": "concurrently", "known by": "identified by",
	"made of": "computed from", "chance": "randomness", "lent": "borrowed", "so many": "up to n", "looked at": "read, checked",
	"stands for": "represents", "by itself": "separately", "handed out": "returned", "hands out": "returns", "meanwhile": "while",
	"anew": "again", "cure": "fix", "taken for": "treated as", "whole number": "integer", "truth value": "boolean", "puts out": "outputs",
	"any more": "no longer", "goes through": "scans", "for people": "human-readable", "let go": "release, evict", "comes out": "is",
	"the way to it": "the path",
}

var (
	// avoided finds these words.
	avoided = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.SortedFunc(maps.Keys(instead), func(a, b string) int { return len(b) - len(a) }), "|") + `)\b`)
	// right is where one of them is the standard term.
	standard = regexp.MustCompile(`(?i)\b(there is no|(is|are) no longer|a text file|at once \|)`)

	paragraphEnd = regexp.MustCompile(`\n\s*\n|\n\s*(?:[-*#]|\d+\.) `)
	sentenceEnd  = regexp.MustCompile(`[.!?:;]\s+`)
	pageLink     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	htmlComment  = regexp.MustCompile(`(?s)<!--.*?-->`)
)

const (
	sentenceWords = 30 // words of a sentence

	readmeWords       = 900
	architectureWords = 2500
	pagesWords        = 60000 // without what is generated

	// What comments still have of the list, and of sentences that are too long. A change
	// may lower these numbers, and never raise them.
	commentWords     = 4
	commentSentences = 16
	messageWords     = 3
)

// inMessage finds words that are always wrong in a message.
var inMessage = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|folder|a text|is no|are no|so many|told|let go|anew|beside|meanwhile|` +
	`known by|made of|asked for|half of a character|goes with|was said to be|wait for ever)\b|\bsay \w+=`)

// isWritten reports whether a page is generated from tables.
func isWritten(p *page) bool { return p.name == "docs/internals/guarantees.md" }

// TestPagesArePlain checks that no page has a word of the list or too long a sentence.
func TestPagesArePlain(t *testing.T) {
	for _, p := range everyPage(t) {
		text := htmlComment.ReplaceAllString(generated.ReplaceAllString(p.prose(), ""), "")
		text = pageLink.ReplaceAllString(codeSpan.ReplaceAllString(text, "x"), "$1")
		for _, word := range avoided.FindAllString(standard.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s: %q: write %s", p.name, word, instead[strings.ToLower(word)])
		}
		for _, s := range longSentences(text) {
			t.Errorf("%s: a sentence has more than %d words: %s", p.name, sentenceWords, s)
		}
	}
}

// longSentences returns the sentences of a string that are too long. A table cell, a colon
// and a semicolon end a sentence.
func longSentences(text string) (all []string) {
	for _, part := range paragraphEnd.Split(text, -1) {
		for _, c := range strings.Split(part, "|") {
			for _, s := range sentenceEnd.Split(c, -1) {
				if words := strings.Fields(s); len(words) > sentenceWords {
					all = append(all, strings.Join(words, " "))
				}
			}
		}
	}
	return all
}

// TestPagesAreShort checks the number of words of pages.
func TestPagesAreShort(t *testing.T) {
	total := 0
	for _, p := range everyPage(t) {
		words := 0
		for w := range strings.FieldsSeq(generated.ReplaceAllString(p.text, "")) {
			if strings.ContainsFunc(w, func(r rune) bool { return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }) {
				words++
			}
		}
		most := map[string]int{"README.md": readmeWords, "ARCHITECTURE.md": architectureWords}[p.name]
		if most > 0 && words > most {
			t.Errorf("%s has %d words, of at most %d", p.name, words, most)
		}
		if strings.HasPrefix(p.name, "docs/") && !isWritten(p) {
			total += words
		}
	}
	if total > pagesWords {
		t.Errorf("the pages have %d words, of at most %d", total, pagesWords)
	}
}

// TestCommentsGetPlainer checks that comments have no more words of the list, and no more
// long sentences, than before.
func TestCommentsGetPlainer(t *testing.T) {
	words, long := 0, 0
	count := func(text string) {
		words += len(avoided.FindAllString(standard.ReplaceAllString(text, ""), -1))
		long += len(longSentences(text))
	}
	walk(t, ".go", func(path, text string) {
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return // a test's own
		}
		for _, g := range f.Comments {
			if !ast.IsGenerated(f) {
				count(g.Text())
			}
		}
	})
	walk(t, ".py", func(_, text string) {
		for _, m := range pyText.FindAllStringSubmatch(text, -1) {
			count(m[1] + m[2])
		}
	})
	if words > commentWords {
		t.Errorf("comments have %d words of the list, of at most %d: use the standard terms", words, commentWords)
	}
	if long > commentSentences {
		t.Errorf("comments have %d sentences of more than %d words, of at most %d: split them", long, sentenceWords, commentSentences)
	}
	t.Logf("%d words, %d long sentences", words, long)
}

// pyText finds docstrings and comments of Python.
var pyText = regexp.MustCompile(`(?s:"""(.*?)""")|(?m:#\s(.*)$)`)

// TestMessagesArePlain checks string literals of at least four words in code that is not
// a test.
func TestMessagesArePlain(t *testing.T) {
	total := 0
	count := func(path, text string) {
		if len(strings.Fields(text)) < 4 {
			return
		}
		for _, word := range inMessage.FindAllString(standard.ReplaceAllString(text, ""), -1) {
			total++
			t.Logf("%s: %q in %q", path, word, text)
		}
	}
	walk(t, ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") || strings.Contains(path, "/testing/") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(f) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				count(path, l.Value)
			}
			return true
		})
	})
	walk(t, ".py", func(path, text string) {
		if !strings.Contains(path, "/python/src/") {
			return
		}
		for _, m := range pyString.FindAllString(pyText.ReplaceAllString(text, ""), -1) {
			count(path, m)
		}
	})
	if total > messageWords {
		t.Errorf("messages have %d words that a reader cannot understand immediately, of at most %d", total, messageWords)
	}
}

// pyString finds strings of Python on one line.
var pyString = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`)

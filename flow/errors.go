package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
	"go.yaml.in/yaml/v4"
)

// An Error is one error in a flow file, with its position.
type Error struct {
	File         string
	Line, Column int // from 1; 0 if unknown
	Msg          string
	Excerpt      string // the line; "" if unknown
}

// Error returns position and message, and the line with a caret under the
// position.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(display.Name(e.File))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	fmt.Fprintf(&b, ": %s", e.Msg)
	if e.Excerpt != "" {
		shown, before := excerpt(e.Excerpt, e.Column-1)
		fmt.Fprintf(&b, "\n    %s", shown)
		if e.Column > 0 {
			fmt.Fprintf(&b, "\n    %s^", caretIndent(shown, before))
		}
	}
	return b.String()
}

// excerpt returns the part of a line to show around a column counted from 0,
// and the column within that part. Unprintable characters become dots.
func excerpt(line string, column int) (shown string, before int) {
	const most = 160
	runes := []rune(line)
	for i, r := range runes {
		if r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError {
			runes[i] = '·'
		}
	}
	from := 0
	if column > most/2 {
		from = min(column-most/2, max(len(runes)-most, 0))
	}
	return string(runes[from:min(len(runes), from+most)]), max(column-from, 0)
}

// caretIndent returns white space as wide as the first n characters of line.
func caretIndent(line string, n int) string {
	var b strings.Builder
	for _, r := range []rune(line)[:min(n, len([]rune(line)))] {
		if r == '\t' {
			b.WriteRune('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Errors are all errors in a flow file, by line.
type Errors []*Error

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// problems collects errors while a file is read.
type problems struct {
	file  string
	lines []string
	list  Errors
}

func newProblems(file string, content []byte) *problems {
	return &problems{file: file, lines: strings.Split(string(content), "\n")}
}

const maxProblems = 20

// maxMessage bounds a message, in bytes, because names in it may be of any
// length.
const maxMessage = 1000

func (p *problems) wrong(n *yaml.Node, err error) {
	p.add(n.Line, n.Column, display.Error(err))
}

func (p *problems) at(n *yaml.Node, format string, args ...any) {
	p.add(n.Line, n.Column, fmt.Sprintf(format, args...))
}

func (p *problems) add(line, column int, msg string) {
	if len(p.list) >= maxProblems {
		return
	}
	if len(msg) > maxMessage {
		msg = strings.ToValidUTF8(msg[:maxMessage], "") + "…"
	}
	e := &Error{File: p.file, Line: line, Column: column, Msg: msg}
	same := func(other *Error) bool { return other.Line == line && other.Column == column && other.Msg == msg }
	if line > 0 && slices.ContainsFunc(p.list, same) {
		return // a node that becomes several is read several times
	}
	if line >= 1 && line <= len(p.lines) {
		e.Excerpt = urlpath.Hide(strings.TrimRight(p.lines[line-1], "\r"))
	}
	p.list = append(p.list, e)
}

func (p *problems) sorted() Errors {
	slices.SortStableFunc(p.list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p.list
}

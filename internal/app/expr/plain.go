package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"

	"github.com/larder-data/larder/internal/text/display"
)

// A worded error is an error of the library in plain words, without Go types and
// tokens.
type worded struct {
	text string
	err  error
}

func (p *worded) Error() string { return p.text }
func (p *worded) Unwrap() error { return p.err }

// inPlain converts an error of the library: the problem, the line and the column in the
// formula, and that line with a caret under the position.
func inPlain(source string, err error) error {
	e, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &worded{words(err, err.Error()), err}
	}
	text := words(err, e.Message)
	if e.Snippet != "" {
		text = fmt.Sprintf("%s (%d:%d)%s", text, e.Line, e.Column+1, excerpt(source, e.Line, e.Column))
	}
	return &worded{text, err}
}

// excerpt returns a line of a formula with a caret under a column, counted from 0. It
// shortens a long line.
func excerpt(source string, line, column int) string {
	const before, most = 60, 120
	runes := lineOf(source, line)
	from := 0
	if column > before {
		from = min(column-before, max(len(runes)-most, 0))
	}
	shown := strings.ReplaceAll(string(runes[from:min(len(runes), from+most)]), "\t", " ")
	return fmt.Sprintf("\n | %s\n | %s^", shown, strings.Repeat(".", max(column-from, 0)))
}

func lineOf(source string, line int) []rune {
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) {
		return nil
	}
	return []rune(lines[line-1])
}

// words returns the text of a fault, or the converted message of the library.
func words(err error, message string) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.text
	}
	return reword(message)
}

// unknownMessage is the message for unknown errors of the library.
const unknownMessage = "invalid expression"

// reword converts the message of an error of the library.
func reword(message string) string {
	for _, s := range messageRules {
		if m := s.is.FindStringSubmatch(strings.TrimSpace(message)); m != nil {
			return s.as(m)
		}
	}
	return unknownMessage
}

// Brief returns a formula for a message: on one line, and shortened.
func Brief(source string) string {
	return display.Short(strings.Join(strings.Fields(source), " "))
}

package expression

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"

	"github.com/larder-data/larder/internal/called"
)

// A plain error says what the language's own error does, in the words of people: that
// one names types of Go and tokens.
type plain struct {
	text string
	err  error
}

func (p *plain) Error() string { return p.text }
func (p *plain) Unwrap() error { return p.err }

// inPlain puts an error of the language into such words: what is wrong, the line and the
// column in the formula, and that line with a mark under the place.
func inPlain(source string, err error) error {
	e, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &plain{say(err.Error(), ""), err}
	}
	text := say(e.Message, wordAt(source, e.Line, e.Column))
	if e.Snippet != "" {
		text = fmt.Sprintf("%s (%d:%d)%s", text, e.Line, e.Column+1, excerpt(source, e.Line, e.Column))
	}
	return &plain{text, err}
}

// excerpt is a line of a formula with a mark under a column, counted from 0; of a long
// line, what is around it.
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

// wordAt is the name that stands at a column, counted from 0, or "".
func wordAt(source string, line, column int) string {
	runes := lineOf(source, line)
	end := column
	for end < len(runes) && (runes[end] == '_' || 'a' <= runes[end] && runes[end] <= 'z' || 'A' <= runes[end] && runes[end] <= 'Z') {
		end++
	}
	if column > len(runes) {
		return ""
	}
	return string(runes[column:end])
}

func lineOf(source string, line int) []rune {
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) {
		return nil
	}
	return []rune(lines[line-1])
}

// say puts the message of an error of the language into words. The name is what stands
// where it was found.
func say(message, name string) string {
	message = strings.TrimPrefix(strings.TrimSpace(message), "runtime error: ")
	for _, s := range sayings {
		if m := s.is.FindStringSubmatch(message); m != nil {
			return s.as(m, cmp.Or(name, "it"))
		}
	}
	return message
}

// Brief is a formula for a message: on one line, and not too long.
func Brief(source string) string {
	return called.Short(strings.Join(strings.Fields(source), " "))
}

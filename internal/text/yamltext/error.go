// Package yamltext provides human-readable errors for YAML documents.
package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/larder-data/larder/internal/text/display"
	"go.yaml.in/yaml/v4"
)

// An Error is a problem and its position in a document.
type Error struct {
	Line, Column int // from 1; 0 if unknown
	What         string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.What
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// Explain converts an error of the YAML library into words that need no knowledge of
// the library.
func Explain(content []byte, err error) *Error {
	if at := invalid(content); at >= 0 {
		line, column := place(content, at)
		return &Error{line, column, fmt.Sprintf("the byte %#x is not UTF-8, in which YAML is written", content[at])}
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return &Error{What: "it is empty"}
	}
	if at := control(content); at >= 0 {
		line, column := place(content, at)
		return &Error{line, column, fmt.Sprintf("the character %#02x cannot stand in YAML: is this a file of text?", content[at])}
	}
	load, ok := errors.AsType[*yaml.LoadError](err)
	if all, several := errors.AsType[*yaml.LoadErrors](err); !ok && several && len(all.Errors) > 0 {
		load, ok = all.Errors[0], true
	}
	if !ok {
		return &Error{What: other(err.Error())}
	}
	e := &Error{load.Mark.Line, load.Mark.Column, load.Message}
	for _, s := range sayings {
		if !strings.Contains(load.Message, s.message) || !strings.Contains(load.ContextMsg, s.context) {
			continue
		}
		if s.begins && load.ContextMark.Line > 0 {
			e.Line, e.Column = load.ContextMark.Line, load.ContextMark.Column
		}
		e.What = s.what
		if strings.Contains(s.what, "%s") {
			e.What = fmt.Sprintf(s.what, runeAt(content, e.Line, e.Column))
		}
		return e
	}
	if m := unknownAnchor.FindStringSubmatch(load.Message); m != nil {
		e.What = fmt.Sprintf("*%s stands for what &%s marks, and nothing before it is marked so", m[1], m[1])
	}
	if m := unknownField.FindStringSubmatch(load.Message); m != nil {
		e.What = fmt.Sprintf("there is no field %q", m[1])
	}
	if m := unfit.FindStringSubmatch(load.Message); m != nil {
		e.What = display.Tagged(m[1], m[2]) + " cannot stand here"
		if must := display.Type(m[3]); must != "" {
			e.What += "; it must be " + must
		}
	}
	e.What = lineBefore.ReplaceAllString(e.What, "")
	return e
}

var (
	unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
	unfit         = regexp.MustCompile("^cannot construct !!(\\w+)(?: `(.*)`)? into (.*)$")
	lineBefore    = regexp.MustCompile(`^line \d+: `) // of a type with its own unmarshaler
	unknownField  = regexp.MustCompile(`field (.*) not found in type `)
)

// A saying replaces a message of the library in a context.
type saying struct {
	message, context string
	begins           bool // report the start of the context
	what             string
}

// other returns a message without a position.
func other(message string) string {
	for _, s := range sayings {
		if s.context == "" && strings.Contains(message, s.message) {
			return s.what
		}
	}
	return strings.TrimPrefix(message, "yaml: ")
}

var sayings = []saying{
	{"expected ',' or ']'", "", true, "the list that begins here does not end: a comma or ] is missing"},
	{"expected ',' or '}'", "", true, "the mapping that begins here does not end: a comma or } is missing"},
	{"unexpected end of stream", "quoted", true, "the quoted text that begins here does not end"},
	{"expected '-' indicator", "", true, "the list that begins here goes on with what is no item of it: check the indentation, and that each item begins with -"},
	{"expected key", "", true, "the mapping that begins here goes on with what is no key of it: check the indentation"},
	{"mapping values are not allowed", "", false, "a colon cannot stand here: put quotes around a text that has one, or check the indentation"},
	{"mapping keys are not allowed", "", false, "a key cannot stand here: check the indentation"},
	{"block sequence entries are not allowed", "", false, "an item of a list cannot stand here: begin a line with it"},
	{"could not find expected ':'", "", true, "the colon is missing after the key that begins here"},
	{"tab", "", false, "a tab cannot indent: use spaces"},
	{"cannot start any token", "", false, "%s cannot begin a text: put quotes around it"},
	{"unknown escape character", "", false, `the text has an escape that there is not: within "..." a backslash is written \\, and within '...' it stands for itself`},
	{"hexadecimal number", "", false, `the text has an escape that is not complete: within "..." a backslash is written \\, and within '...' it stands for itself`},
	{"comment without preceding whitespace", "", false, "a blank is missing before #"},
	{"expected node content", "", false, "a value is missing here"},
	{"expected alphabetic or numeric character", "", false, "a name is missing after & or *: put quotes around a text that begins so"},
	{"undefined tag handle", "", false, "a tag (!) cannot stand here: put quotes around a text that begins so"},
	{"", "scanning a tag", false, "a tag (!) cannot stand here: put quotes around a text that begins so"},
	{"exceeded max depth", "", false, "lists and mappings lie in each other more than 10000 deep"},
	{"no documents", "", false, "it has no value"},
	{"found multiple", "", false, "there are several documents (---), and one is read: make files of the others"},
	{"<document start>", "", false, "the document has ended before this: check the indentation"},
	{"incompatible YAML document", "", false, "the version of YAML in the first line is not known: remove that line"},
}

func runeAt(content []byte, line, column int) string {
	lines := strings.SplitAfter(string(content), "\n")
	if line < 1 || line > len(lines) {
		return "this character"
	}
	text := []rune(lines[line-1])
	if column < 1 || column > len(text) {
		return "this character"
	}
	return fmt.Sprintf("%q", text[column-1])
}

// invalid returns the offset of the first byte that is not UTF-8, or -1. It skips
// content with the mark of another encoding.
func invalid(content []byte) int {
	if encoded(content) {
		return -1
	}
	for i := 0; i < len(content); {
		r, n := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// control returns the offset of the first control character that YAML forbids, or -1.
// It skips content with the mark of another encoding.
func control(content []byte) int {
	if encoded(content) {
		return -1
	}
	return bytes.IndexFunc(content, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f })
}

// encoded reports whether content has the byte order mark of UTF-16.
func encoded(content []byte) bool {
	return bytes.HasPrefix(content, []byte{0xff, 0xfe}) || bytes.HasPrefix(content, []byte{0xfe, 0xff})
}

func place(content []byte, at int) (line, column int) {
	before := string(content[:at])
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

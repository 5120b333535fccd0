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
		return &Error{line, column, fmt.Sprintf("byte %#x is not UTF-8; save the file as UTF-8", content[at])}
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return &Error{What: "the file is empty"}
	}
	if at := control(content); at >= 0 {
		line, column := place(content, at)
		return &Error{line, column, fmt.Sprintf("character %#02x is not allowed in YAML; give a text file", content[at])}
	}
	load, ok := errors.AsType[*yaml.LoadError](err)
	if all, several := errors.AsType[*yaml.LoadErrors](err); !ok && several && len(all.Errors) > 0 {
		load, ok = all.Errors[0], true
	}
	if !ok {
		return &Error{What: other(err.Error())}
	}
	e := &Error{load.Mark.Line, load.Mark.Column, load.Message}
	for _, s := range messageRules {
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
		e.What = fmt.Sprintf("alias *%s has no anchor &%s before it", m[1], m[1])
	}
	if m := unknownField.FindStringSubmatch(load.Message); m != nil {
		e.What = fmt.Sprintf("unknown field %q", m[1])
	}
	if m := unfit.FindStringSubmatch(load.Message); m != nil {
		e.What = display.Tagged(m[1], m[2]) + " is not allowed here"
		if must := display.Type(m[3]); must != "" {
			e.What += "; write " + must
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

// A messageRule replaces a message of the library in a context.
type messageRule struct {
	message, context string
	begins           bool // report the start of the context
	what             string
}

// other returns a message without a position.
func other(message string) string {
	for _, s := range messageRules {
		if s.context == "" && strings.Contains(message, s.message) {
			return s.what
		}
	}
	return strings.TrimPrefix(message, "yaml: ")
}

var messageRules = []messageRule{
	{"expected ',' or ']'", "", true, "unterminated list; add a comma or ]"},
	{"expected ',' or '}'", "", true, "unterminated mapping; add a comma or }"},
	{"unexpected end of stream", "quoted", true, "unterminated quoted string; add the closing quote"},
	{"expected '-' indicator", "", true, "the list has an entry without -; check the indentation"},
	{"expected key", "", true, "the mapping has an entry that is not a key; check the indentation"},
	{"mapping values are not allowed", "", false, "unexpected colon; quote strings that contain one, or check the indentation"},
	{"mapping keys are not allowed", "", false, "unexpected key; check the indentation"},
	{"block sequence entries are not allowed", "", false, "unexpected list item; start it on its own line"},
	{"could not find expected ':'", "", true, "missing colon after the key"},
	{"tab", "", false, "tab in the indentation; use spaces"},
	{"cannot start any token", "", false, "a string cannot begin with %s; quote it"},
	{"unknown escape character", "", false, `unknown escape; write \\ for a backslash, or use '...'`},
	{"hexadecimal number", "", false, `incomplete escape; write \\ for a backslash, or use '...'`},
	{"comment without preceding whitespace", "", false, "missing space before #"},
	{"expected node content", "", false, "a value is missing here"},
	{"expected alphabetic or numeric character", "", false, "missing name after & or *; quote strings that begin so"},
	{"undefined tag handle", "", false, "unexpected tag (!); quote strings that begin so"},
	{"", "scanning a tag", false, "unexpected tag (!); quote strings that begin so"},
	{"exceeded max depth", "", false, "lists and mappings are nested deeper than 10000"},
	{"no documents", "", false, "the document has no value"},
	{"found multiple", "", false, "several documents (---); write one document per file"},
	{"<document start>", "", false, "text after the end of the document; check the indentation"},
	{"incompatible YAML document", "", false, "unknown YAML version in the first line; remove the line"},
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

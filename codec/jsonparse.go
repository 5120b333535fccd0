package codec

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonParser reads JSON (RFC 8259), and NaN, Infinity and -Infinity, which Python writes.
// It records the position of each value if spans is set.
type jsonParser struct {
	b     []byte
	at    int
	spans bool
}

// A jsonSpan is the position of a value and its parts.
type jsonSpan struct {
	from, to int
	scalar   any // of a value without parts
	parts    []jsonPart
	open     byte // '{', '[' or 0
}

// A jsonPart is a member of an object, or an element of an array.
type jsonPart struct {
	name     string
	from, to int // of the key
	value    jsonSpan
}

func parseJSON(b []byte, spans bool) (v any, span jsonSpan, err error) {
	if err := validText("json", b); err != nil {
		return nil, span, err
	}
	p := &jsonParser{b: b, spans: spans}
	if bytes.HasPrefix(b, []byte(byteOrderMark)) {
		return nil, span, p.fail("byte order mark at the beginning; save as UTF-8 without it")
	}
	v, span, err = p.value(0)
	if err == nil && p.next() != 0 {
		err = p.fail("data after the value")
	}
	return v, span, err
}

func (p *jsonParser) fail(format string, args ...any) error {
	line, column := placeAt(p.b, p.at)
	return fmt.Errorf("json: line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

// next skips white space and returns the byte after it, 0 at the end.
func (p *jsonParser) next() byte {
	for ; p.at < len(p.b); p.at++ {
		switch c := p.b[p.at]; c {
		case ' ', '\t', '\n', '\r':
		case 0:
			return 1 // no JSON value starts with it
		default:
			return c
		}
	}
	return 0
}

func (p *jsonParser) value(depth int) (v any, span jsonSpan, err error) {
	if depth > maxDepth {
		return nil, span, p.fail("nested deeper than %d", maxDepth)
	}
	c := p.next()
	span.from = p.at
	switch {
	case c == '{':
		v, span.parts, err = p.object(depth)
		span.open = c
	case c == '[':
		v, span.parts, err = p.array(depth)
		span.open = c
	case c == '"':
		v, err = p.text()
	case c == '-' || '0' <= c && c <= '9':
		v, err = p.number()
	case c == 0:
		err = p.fail("unexpected end, expected a value")
	default:
		v, err = p.word()
	}
	span.to = p.at
	if span.open == 0 && p.spans {
		span.scalar = v
	}
	return v, span, err
}

func (p *jsonParser) word() (any, error) {
	for _, w := range [...]struct {
		text  string
		value any
	}{{"null", nil}, {"true", true}, {"false", false}, {"NaN", math.NaN()}, {"Infinity", math.Inf(1)}} {
		if bytes.HasPrefix(p.b[p.at:], []byte(w.text)) {
			p.at += len(w.text)
			return w.value, nil
		}
	}
	return nil, p.unexpected("a value")
}

func (p *jsonParser) unexpected(want string) error {
	if p.next() == 0 {
		return p.fail("unexpected end, expected %s", want)
	}
	r, _ := utf8.DecodeRune(p.b[p.at:])
	return p.fail("unexpected %q, expected %s", r, want)
}

func (p *jsonParser) object(depth int) (any, []jsonPart, error) {
	m := map[string]any{}
	var parts []jsonPart
	p.at++
	if p.next() == '}' {
		p.at++
		return m, nil, nil
	}
	for {
		if p.next() != '"' {
			return nil, nil, p.unexpected("a string as key")
		}
		part := jsonPart{from: p.at}
		name, err := p.text()
		if err != nil {
			return nil, nil, err
		}
		part.name, part.to = name, p.at
		if _, twice := m[name]; twice {
			p.at = part.from
			return nil, nil, p.fail("duplicate key %q; remove one", name)
		}
		if p.next() != ':' {
			return nil, nil, p.unexpected("a colon")
		}
		p.at++
		if m[name], part.value, err = p.value(depth + 1); err != nil {
			return nil, nil, err
		}
		if p.spans {
			parts = append(parts, part)
		}
		if more, err := p.more('}'); !more {
			return m, parts, err
		}
	}
}

// more reads a comma, or the end of an array or object.
func (p *jsonParser) more(end byte) (bool, error) {
	switch p.next() {
	case ',':
		p.at++
		return true, nil
	case end:
		p.at++
		return false, nil
	}
	return false, p.unexpected(fmt.Sprintf("a comma or %q", end))
}

func (p *jsonParser) array(depth int) (any, []jsonPart, error) {
	list := []any{}
	var parts []jsonPart
	p.at++
	if p.next() == ']' {
		p.at++
		return list, nil, nil
	}
	for {
		v, span, err := p.value(depth + 1)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, v)
		if p.spans {
			parts = append(parts, jsonPart{from: span.from, to: span.from, value: span})
		}
		if more, err := p.more(']'); !more {
			return list, parts, err
		}
	}
}

// text reads a string.
func (p *jsonParser) text() (string, error) {
	p.at++
	from := p.at
	var out []byte // nil until the first escape
	for ; p.at < len(p.b); p.at++ {
		switch c := p.b[p.at]; {
		case c == '"':
			p.at++
			if out == nil {
				return string(p.b[from : p.at-1]), nil
			}
			return string(append(out, p.b[from:p.at-1]...)), nil
		case c < ' ':
			return "", p.fail("control character %#02x in a string; escape it", c)
		case c == '\\':
			out = append(out, p.b[from:p.at]...)
			r, size, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			p.at += size - 1
			from = p.at + 1
		}
	}
	return "", p.fail("unterminated string; add the closing quote")
}

var jsonEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape returns the character of the next escape, and its length. A lone surrogate is an
// error.
func (p *jsonParser) escape() (r rune, size int, err error) {
	b := p.b[p.at:]
	if len(b) < 2 {
		return 0, 0, p.fail("unterminated string; add the closing quote")
	}
	if r, ok := jsonEscapes[b[1]]; ok {
		return r, 2, nil
	}
	first, ok := hexEscape(b)
	if !ok {
		return 0, 0, p.fail("unknown escape %.6q", b)
	}
	if !utf16.IsSurrogate(first) {
		return first, 6, nil
	}
	if second, ok := hexEscape(b[6:]); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 12, nil
		}
	}
	return 0, 0, p.fail("lone surrogate %s in a string; decode text as UTF-8 before writing", b[:6])
}

func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// number reads a number: an int64 or *big.Int if it is an integer, otherwise a float64.
func (p *jsonParser) number() (any, error) {
	rest := p.b[p.at:]
	if bytes.HasPrefix(rest, []byte("-Infinity")) {
		p.at += len("-Infinity")
		return math.Inf(-1), nil
	}
	n := 0
	for n < len(rest) && strings.IndexByte("+-.0123456789eE", rest[n]) >= 0 {
		n++
	}
	s := string(rest[:n])
	if !jsonNumberForm(s) {
		return nil, p.fail("%.40q is not a number", s)
	}
	v, err := numberOf(s)
	if err != nil {
		return nil, p.fail("%v", err)
	}
	p.at += n
	return v, nil
}

// jsonNumberForm reports whether s has the JSON syntax of a number.
func jsonNumberForm(s string) bool {
	digits := func() (n int) {
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n
	}
	s = strings.TrimPrefix(s, "-")
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if digits() == 0 {
		return false
	}
	if strings.HasPrefix(s, ".") {
		if s = s[1:]; digits() == 0 {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return s == ""
}

// maxDigits bounds integers, as Python does: reading one takes quadratic time.
const maxDigits = 4300

// numberOf reads a decimal number. Integers beyond int64 are *big.Int, so none loses a
// digit.
func numberOf(s string) (any, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("number %.40s exceeds 64 bits", s)
		}
		return f, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	return wideNumber(s, 10)
}

// wideNumber reads an integer of any size.
func wideNumber(s string, base int) (any, error) {
	if len(s) > maxDigits {
		return nil, fmt.Errorf("a number has %d digits; at most %d are supported", len(s), maxDigits)
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return nil, fmt.Errorf("%.40q is not a number", s)
	}
	if n.IsInt64() {
		return n.Int64(), nil
	}
	return n, nil
}

// Package jsontext scans JSON (RFC 8259) without decoding it: validity, the members of
// an object, and the text without blanks. It scans the input once and accepts the same
// input as encoding/json, including bytes that are not UTF-8 and unpaired surrogates.
package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// Valid reports whether b is a JSON value, with optional blanks around it.
func Valid(b []byte) bool {
	s := scanner{b: b}
	return s.value(0) && s.end()
}

// A Member is a member of an object, as written.
type Member struct {
	Name  []byte // in quotes
	Value []byte // without blanks around it
}

// AppendMembers appends the members of the object b. They refer to b. ok is false if b
// is anything else.
func AppendMembers(to []Member, b []byte) (all []Member, ok bool) {
	s := scanner{b: b}
	if s.next() != '{' {
		return to, false
	}
	s.at++
	if s.next() == '}' {
		s.at++
		return to, s.end()
	}
	for {
		var m Member
		if m, ok = s.member(); !ok {
			return to, false
		}
		to = append(to, m)
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return to, s.end()
		default:
			return to, false
		}
	}
}

// AppendCompact appends the JSON text b without its blanks and otherwise unchanged. If
// b is invalid, ok is false and to is returned unchanged.
func AppendCompact(to, b []byte) (all []byte, ok bool) {
	s := scanner{b: b, compact: true, out: to}
	if !s.value(0) || !s.end() {
		return to, false
	}
	return append(s.out, b[s.copied:]...), true
}

// maxDepth is the depth limit of encoding/json.
const maxDepth = 10000

// scanner scans JSON. Its methods read as far as the input is valid.
type scanner struct {
	b  []byte
	at int

	compact bool
	out     []byte // the text before copied, without blanks
	copied  int
}

// next skips blanks and returns the byte after them, 0 at the end.
func (s *scanner) next() byte {
	if s.at < len(s.b) && s.b[s.at] > ' ' {
		return s.b[s.at]
	}
	return s.blanks()
}

func (s *scanner) blanks() (c byte) {
	from := s.at
	for ; s.at < len(s.b); s.at++ {
		if c = s.b[s.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		c = 0
	}
	if s.compact && s.at > from {
		s.out = append(s.out, s.b[s.copied:from]...)
		s.copied = s.at
	}
	return c
}

func (s *scanner) end() bool {
	s.next()
	return s.at == len(s.b)
}

func (s *scanner) value(depth int) bool {
	switch c := s.next(); c {
	case '"':
		return s.text()
	case '{':
		return s.object(depth + 1)
	case '[':
		return s.array(depth + 1)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.at < len(w) || string(s.b[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) object(depth int) bool {
	if depth > maxDepth {
		return false
	}
	s.at++
	if s.next() == '}' {
		s.at++
		return true
	}
	for {
		if s.next() != '"' || !s.text() || s.next() != ':' {
			return false
		}
		s.at++
		if !s.value(depth) {
			return false
		}
		if more, ok := s.more('}'); !more {
			return ok
		}
	}
}

func (s *scanner) array(depth int) bool {
	if depth > maxDepth {
		return false
	}
	s.at++
	if s.next() == ']' {
		s.at++
		return true
	}
	for {
		if !s.value(depth) {
			return false
		}
		if more, ok := s.more(']'); !more {
			return ok
		}
	}
}

// more reads a comma, or the end of an array or object.
func (s *scanner) more(end byte) (more, ok bool) {
	c := s.next()
	if c != ',' && c != end || s.at == len(s.b) {
		return false, false
	}
	s.at++
	return c == ',', true
}

func (s *scanner) member() (m Member, ok bool) {
	if s.next() != '"' {
		return m, false
	}
	from := s.at
	if !s.text() {
		return m, false
	}
	m.Name = s.b[from:s.at:s.at]
	if s.next() != ':' {
		return m, false
	}
	s.at++
	s.next()
	from = s.at
	ok = s.value(1)
	m.Value = s.b[from:s.at:s.at]
	return m, ok
}

// text reads a string with its quotes.
func (s *scanner) text() bool {
	s.at++
	for {
		s.plain()
		if s.at >= len(s.b) {
			return false
		}
		switch s.b[s.at] {
		case '"':
			s.at++
			return true
		case '\\':
			if !s.escape() {
				return false
			}
		default:
			return false // a control character
		}
	}
}

const (
	each = 0x0101010101010101
	high = 0x80 * each
)

// plain skips bytes that represent themselves, eight at a time. If one may not, the
// lowest high bit marks the first.
func (s *scanner) plain() {
	for ; len(s.b)-s.at >= 8; s.at += 8 {
		w := binary.LittleEndian.Uint64(s.b[s.at:])
		quote, escape := w^('"'*each), w^('\\'*each)
		special := ((w-' '*each)&^w | (quote-each)&^quote | (escape-each)&^escape) & high
		if special != 0 {
			s.at += bits.TrailingZeros64(special) / 8
			return
		}
	}
	for s.at < len(s.b) && s.b[s.at] >= ' ' && s.b[s.at] != '"' && s.b[s.at] != '\\' {
		s.at++
	}
}

func (s *scanner) escape() bool {
	if s.at++; s.at >= len(s.b) {
		return false
	}
	switch s.b[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
		return true
	case 'u':
		if len(s.b)-s.at < 5 {
			return false
		}
		for _, c := range s.b[s.at+1 : s.at+5] {
			if !isHex(c) {
				return false
			}
		}
		s.at += 5
		return true
	}
	return false
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) number() bool {
	if s.is('-') {
		s.at++
	}
	switch {
	case s.is('0'):
		s.at++
	case !s.digits():
		return false
	}
	if s.is('.') {
		if s.at++; !s.digits() {
			return false
		}
	}
	if s.is('e') || s.is('E') {
		if s.at++; s.is('+') || s.is('-') {
			s.at++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) is(c byte) bool { return s.at < len(s.b) && s.b[s.at] == c }

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.b) && isDigit(s.b[s.at]) {
		s.at++
	}
	return s.at > from
}

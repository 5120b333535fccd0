package expr

import (
	"strings"
	"unicode/utf8"
)

// ofTexts implements the functions of strings. Positions count characters.
func (m *meter) ofTexts(name string, args []any) (v any, ok bool) {
	s, isText := "", false
	if len(args) > 0 {
		s, isText = args[0].(string)
	}
	switch name {
	case "split", "splitAfter":
		m.times(each, int64(strings.Count(s, args[1].(string))+1))
		return m.parted(name, s, args[1].(string), args[2:]), true
	case "replace":
		return m.replace(s, args), true
	case "repeat":
		n := wholeOf(args[1])
		if n < 0 {
			fail("repeat needs a number of 0 or more, not %d", n)
		}
		m.times(int64(len(s)), int64(n))
		if s == "" {
			n = 0
		}
		return strings.Repeat(s, n), true
	case "join":
		return m.join(args), true
	case "indexOf":
		return characterAt(s, strings.Index(s, args[1].(string))), true
	case "lastIndexOf":
		return characterAt(s, strings.LastIndex(s, args[1].(string))), true
	case "len":
		if isText {
			m.charge(int64(len(s)))
			return utf8.RuneCountInString(s), true
		}
	}
	return nil, false
}

// characterAt returns the number of characters before a byte offset, and -1 for -1.
func characterAt(s string, at int) int {
	if at < 0 {
		return at
	}
	return utf8.RuneCountInString(s[:at])
}

// parted splits a string, optionally into at most a given number of parts.
func (m *meter) parted(name, s, by string, most []any) []any {
	n := -1
	if len(most) > 0 {
		n = wholeOf(most[0])
	}
	cut := strings.SplitN
	if name == "splitAfter" {
		cut = strings.SplitAfterN
	}
	parts := cut(s, by, n)
	all := make([]any, len(parts))
	for i, p := range parts {
		all[i] = p
	}
	return all
}

func (m *meter) replace(s string, args []any) any {
	from, to, n := args[1].(string), args[2].(string), -1
	if len(args) == 4 {
		n = wholeOf(args[3])
	}
	m.times(int64(len(to)), int64(strings.Count(s, from)))
	return strings.Replace(s, from, to, n)
}

func (m *meter) join(args []any) any {
	glue := ""
	if len(args) == 2 {
		glue = args[1].(string)
	}
	list := m.elements(args[0])
	m.times(int64(len(glue)), int64(len(list)))
	parts := make([]string, len(list))
	for i, e := range list {
		s, ok := plain(e).(string)
		if !ok {
			fail("join needs a list of strings, but element %d is %s; use map(list, string(#))", i, kindName(e))
		}
		parts[i] = s
	}
	return strings.Join(parts, glue)
}

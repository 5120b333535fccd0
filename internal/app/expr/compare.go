package expr

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm/runtime"
)

// equal reports whether two values are equal; numbers compare by value: 1 equals 1.0.
func (m *meter) equal(a, b any) bool {
	m.charge(each)
	a, b = plain(a), plain(b)
	if x, y, ok := ints(a, b); ok {
		return x == y
	}
	left, right := kindOf(a), kindOf(b)
	if left&numberKind != 0 && right&numberKind != 0 {
		return !isNaN(a) && !isNaN(b) && compareNumbers(a, b) == 0
	}
	if left != right {
		for _, v := range []any{a, b} {
			if kindOf(v) == otherKind && left != nullKind && right != nullKind {
				fail("%s cannot be compared with another value", kindName(v))
			}
		}
		return false
	}
	switch left {
	case nullKind:
		return true
	case textKind:
		s, t := a.(string), b.(string)
		m.charge(int64(min(len(s), len(t))))
		return s == t
	case listKind:
		return m.equalLists(m.elements(a), m.elements(b))
	case mappingKind:
		return m.equalMappings(m.entries(a), m.entries(b))
	case timeKind:
		return a.(time.Time).Equal(b.(time.Time))
	case bytesKind:
		m.charge(int64(min(len(a.([]byte)), len(b.([]byte)))))
		return bytes.Equal(a.([]byte), b.([]byte))
	}
	return runtime.Equal(a, b)
}

func isNaN(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

func (m *meter) equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !m.equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *meter) equalMappings(a, b map[any]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || !m.equal(v, w) {
			return false
		}
	}
	return true
}

// compares orders two values of an ordered kind: numbers, strings, times, durations.
func (m *meter) compares(operator string, a, b any) bool {
	c := 0
	if x, y, ok := ints(a, b); ok {
		c = cmp.Compare(x, y)
	} else {
		if mustBetween(operator, a, b); isNaN(a) || isNaN(b) {
			return false
		}
		c = m.order(a, b)
	}
	switch operator {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (m *meter) order(a, b any) int {
	m.charge(each)
	switch a := a.(type) {
	case string:
		m.charge(int64(min(len(a), len(b.(string)))))
		return cmp.Compare(a, b.(string))
	case time.Time:
		return a.Compare(b.(time.Time))
	case time.Duration:
		return cmp.Compare(a, b.(time.Duration))
	}
	return compareNumbers(a, b)
}

// in reports whether a value is in a list, or a name in a mapping.
func (m *meter) in(v, of any) bool {
	if v = plain(v); kindOf(v) == otherKind && kindOf(of) != nullKind {
		fail("%s cannot be compared with another value", kindName(v))
	}
	if written, ok := of.(*members); ok {
		if s, ok := v.(string); ok {
			m.charge(int64(len(s)))
		}
		if b, ok := v.(*big.Int); ok {
			return b.IsInt64() // never
		}
		return written.has(v)
	}
	if _, right := mustBetween("in", v, of); right == mappingKind {
		_, ok := m.lookup(of, v)
		return ok
	}
	for _, e := range m.elements(of) {
		if m.equal(e, v) {
			return true
		}
	}
	return false
}

// searches looks for a string in a string.
func (m *meter) searches(operator string, a, b any) bool {
	mustBetween(operator, a, b)
	m.all(a)
	s, _ := a.(string)
	part := b.(string)
	m.charge(int64(len(part)))
	switch operator {
	case "contains":
		return strings.Contains(s, part)
	case "startsWith":
		return strings.HasPrefix(s, part)
	case "endsWith":
		return strings.HasSuffix(s, part)
	}
	// Compiling a regular expression is as slow as many other operations.
	m.times(costly, 1+int64(len(part))/each)
	pattern, err := regexp.Compile(part)
	if err != nil {
		fail("%s", wrongPattern(err))
	}
	steps, _ := stepsOf(part) // it has just been parsed
	bytes, isBytes := a.([]byte)
	m.looksFor(steps, len(s)+len(bytes))
	if isBytes {
		return pattern.Match(bytes)
	}
	return pattern.MatchString(s)
}

// matched checks and returns the value for a literal pattern with this number of steps.
func (m *meter) matched(v any, steps int) any {
	if k := kindOf(v); k&(textKind|bytesKind) == 0 {
		fail("%s", refused("matches", k, textKind, kindName(v), textKind.String()))
	}
	m.all(v)
	s, _ := v.(string)
	b, _ := v.([]byte)
	m.looksFor(steps, len(s)+len(b))
	return v
}

// looksFor charges for a search with a pattern. At worst it tries all steps at each
// character, each as slow as handling half a byte.
func (m *meter) looksFor(steps, length int) { m.times(int64(steps/2), int64(length)) }

// stepsOf returns the number of steps in the program of a regular expression.
func stepsOf(pattern string) (int, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

var patternFaults = map[syntax.ErrorCode]string{
	syntax.ErrInvalidCharClass:      "an invalid set [...]",
	syntax.ErrInvalidCharRange:      "an invalid range in a set [...]",
	syntax.ErrInvalidEscape:         "an unknown escape",
	syntax.ErrInvalidNamedCapture:   "a group with an invalid name",
	syntax.ErrInvalidPerlOp:         "an unknown group (?...)",
	syntax.ErrInvalidRepeatOp:       "a repetition of a repetition",
	syntax.ErrInvalidRepeatSize:     "a repetition count out of range",
	syntax.ErrInvalidUTF8:           "bytes that are not UTF-8",
	syntax.ErrMissingBracket:        "a [ without its ]",
	syntax.ErrMissingParen:          "a ( without its )",
	syntax.ErrMissingRepeatArgument: "a repetition without an operand",
	syntax.ErrTrailingBackslash:     `a \ at the end`,
	syntax.ErrUnexpectedParen:       "a ) without its (",
	syntax.ErrNestingDepth:          "groups nested too deep",
	syntax.ErrLarge:                 "too much",
}

func wrongPattern(err error) string {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return "invalid regular expression"
	}
	what := patternFaults[e.Code]
	if what == "" {
		return "invalid regular expression"
	}
	if e.Code == syntax.ErrLarge || e.Code == syntax.ErrNestingDepth || e.Code == syntax.ErrTrailingBackslash || e.Expr == "" {
		return "invalid regular expression: " + what
	}
	return "invalid regular expression: " + what + ", `" + short(e.Expr) + "`"
}

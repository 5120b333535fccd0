package expression

import (
	"errors"
	"strings"
	"testing"
)

// TestSay: what the language finds wrong is said without its tokens and functions.
func TestSay(t *testing.T) {
	for was, want := range map[string]string{
		"unexpected token EOF":                                                           "it ends where more is needed",
		`unexpected token Operator("=")`:                                                 "= cannot stand here; == compares",
		`unexpected token Identifier("like")`:                                            `"like" cannot stand here`,
		"unrecognized character: U+0040 '@'":                                             "'@' cannot stand here",
		`invalid integer literal: strconv.ParseInt: parsing "99": value out of range`:    "99 is beyond whole numbers of 64 bits; write it with .0 where it need not be exact",
		`invalid float literal: strconv.ParseFloat: parsing "1e999": value out of range`: `"1e999" is beyond the range of numbers`,
		`invalid hex literal: strconv.ParseInt: parsing "0x": invalid syntax`:            `"0x" is no number`,
		"memory budget exceeded":                                                         "the evaluation makes more than is allowed; make the expression do less, or the items smaller",
		"reflect: call of reflect.Value.Len on int Value":                                unsaid,
	} {
		if got := say(was); got != want {
			t.Errorf("%q is %q, want %q", was, got, want)
		}
	}
}

// TestPlace: what is wrong is said with the place, and what is around it of a long line.
func TestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "expression: it is empty; write what is to be found out, such as metadata.size > 3",
		"a ==":                 "expression: it ends where more is needed (1:4)\n | a ==\n | ...^",
		"a\n== =":              "expression: = cannot stand here; == compares (2:4)\n | == =\n | ...^",
		longWrong:              "expression: = cannot stand here; == compares (1:201)\n | " + longWrong[83:] + "\n | " + strings.Repeat(".", 117) + "^",
		"len(a, b)":            "expression: the number of values in the parentheses of len must be 1 (1:1)\n | len(a, b)\n | ^",
		`b matches "("`:        "expression: the regular expression is wrong: it has a ( without its ), `(` (1:3)\n | b matches \"(\"\n | ..^",
		"99999999999999999999": "expression: 99999999999999999999 is beyond whole numbers of 64 bits; write it with .0 where it need not be exact (1:20)\n | 99999999999999999999\n | ...................^",
	} {
		if _, err := Compile(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

var longWrong = "a +" + strings.Repeat(" ", 197) + "= 1"

// TestBrief: a formula in a message is one line that is not long.
func TestBrief(t *testing.T) {
	if got := Brief("a\n  == 1"); got != "a == 1" {
		t.Errorf("it is %q", got)
	}
	if got := Brief(longWrong + string(make([]byte, 1000))); len(got) > 300 {
		t.Errorf("it has %d bytes", len(got))
	}
}

// TestShown: no value is shown as Go writes it.
func TestShown(t *testing.T) {
	for want, v := range map[string]any{
		`{"a":[1,null]}, a mapping`: map[string]any{"a": []any{1, nil}},
		`"x", a text`:               "x",
		"null":                      nil,
		"an error":                  errors.New("x"),
	} {
		if got := Shown(v); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

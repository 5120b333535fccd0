package expression

import (
	"errors"
	"strings"
	"testing"
)

// TestSay: errors of the language name no types of Go, no tokens and no functions of it.
func TestSay(t *testing.T) {
	for was, want := range map[string]string{
		"invalid operation: image.RGBA > int":                                         "an image > a whole number cannot be done",
		"invalid operation: *big.Int + int64":                                         "a whole number of more than 64 bits + a whole number cannot be done",
		"invalid operation: string + int":                                             "a text + a whole number cannot be done",
		"invalid operation: map[string]interface {} > int":                            "a mapping > a whole number cannot be done",
		"invalid operation: int(string)":                                              "a text has no parts of a name",
		"invalid operation: int(x)":                                                   `"x" is no number`,
		"invalid operation: float(*big.Int)":                                          "a whole number of more than 64 bits cannot be made a number",
		"invalid operation: - map[string]interface {}":                                "- cannot be done with a mapping",
		"invalid operation: in (mismatched types unknown and int)":                    "in needs a list or a mapping after it, not a whole number",
		"invalid operation: and (mismatched types unknown and int)":                   "and cannot be done with a whole number",
		"invalid operation: * (mismatched types string and int)":                      "* cannot be done with a text and a whole number",
		"invalid argument for len (type int)":                                         "len cannot be done with a whole number",
		"cannot use int as argument (type string) to call upper ":                     "upper needs a text, not a whole number",
		"interface conversion: interface {} is map[string]interface {}, not bool":     "it is a mapping, and must be a truth value",
		"builtin map takes only array (got int)":                                      "map needs a list, not a whole number",
		"cannot fetch foo from *image.RGBA":                                           "there is no foo in an image",
		"reflect.Value.MapIndex: value of type int is not assignable to type string":  "the names in a mapping are texts, and this is a whole number",
		"runtime error: integer divide by zero":                                       "a division by zero",
		"metadata.letter has no \"lettr\"; did you mean \"letter\"?":                  "metadata.letter has no \"lettr\"; did you mean \"letter\"?",
		"unexpected token EOF":                                                        "it ends where more is needed",
		`unexpected token Operator("=")`:                                              "= cannot stand here; == compares",
		`unexpected token Identifier("like")`:                                         `"like" cannot stand here`,
		"unrecognized character: U+0040 '@'":                                          "'@' cannot stand here",
		"invalid number of arguments (expected 1, got 0)":                             "the number of values in the parentheses of len must be 1",
		"invalid number of arguments for trim (expected 1 or 2, got 3)":               "the number of values in the parentheses of len must be 1 or 2",
		`invalid integer literal: strconv.ParseInt: parsing "99": value out of range`: `"99" is beyond the range of numbers`,
		`invalid hex literal: strconv.ParseInt: parsing "0x": invalid syntax`:         `"0x" is no number`,
		"error parsing regexp: missing closing ): `(`":                                "the regular expression is wrong: missing closing ): `(`",
		"memory budget exceeded":                                                      "the evaluation makes more than is allowed; make the expression do less, or the items smaller",
		`time: invalid duration "x"`:                                                  `"x" is no duration such as 1h30m`,
		"unexpected end of JSON input":                                                "the text is no JSON",
		"cannot transform int64 to pairs":                                             "len cannot be done with a whole number",
		`operator "in" not defined on string`:                                         "in needs a list or a mapping after it, not a text; a text has parts by contains",
		"index out of range: 5 (array length is 2)":                                   "there is no element 5 in a list of 2",
		"array elements can only be selected using an integer (got string)":           "an element of a list is taken by its number, as in list[0], not by a text",
	} {
		if got := say(was, "len"); got != want {
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
		`b matches "("`:        "expression: the regular expression is wrong: missing closing ): `(` (1:3)\n | b matches \"(\"\n | ..^",
		"99999999999999999999": "expression: \"99999999999999999999\" is beyond the range of numbers (1:20)\n | 99999999999999999999\n | ...................^",
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

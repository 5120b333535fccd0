package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/larder-data/larder/array"
)

// TestSay checks that errors of the language do not show its tokens and functions.
func TestSay(t *testing.T) {
	for was, want := range map[string]string{
		"unexpected token EOF":                                                           "unexpected end of the expression",
		`unexpected token Operator("=")`:                                                 "unexpected =; use == to compare",
		`unexpected token Identifier("like")`:                                            `unexpected "like"`,
		"unrecognized character: U+0040 '@'":                                             "unexpected '@'",
		`invalid integer literal: strconv.ParseInt: parsing "99": value out of range`:    "99 exceeds 64-bit integers; append .0 for an approximate number",
		`invalid float literal: strconv.ParseFloat: parsing "1e999": value out of range`: `"1e999" exceeds the range of numbers`,
		`invalid hex literal: strconv.ParseInt: parsing "0x": invalid syntax`:            `"0x" is not a number`,
		"memory budget exceeded":                                                         "the evaluation exceeds the memory limit; simplify the expression, or use smaller items",
		"reflect: call of reflect.Value.Len on int Value":                                unknownMessage,
	} {
		if got := reword(was); got != want {
			t.Errorf("%q is %q, want %q", was, got, want)
		}
	}
}

// TestPlace checks that errors have the position, and an excerpt of a long line.
func TestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "expression: empty expression; write one such as metadata.size > 3",
		"a ==":                 "expression: unexpected end of the expression (1:4)\n | a ==\n | ...^",
		"a\n== =":              "expression: unexpected =; use == to compare (2:4)\n | == =\n | ...^",
		longWrong:              "expression: unexpected =; use == to compare (1:201)\n | " + longWrong[83:] + "\n | " + strings.Repeat(".", 117) + "^",
		"len(a, b)":            "expression: len has 2 arguments, want 1 (1:1)\n | len(a, b)\n | ^",
		`b matches "("`:        "expression: invalid regular expression: a ( without its ), `(` (1:3)\n | b matches \"(\"\n | ..^",
		"99999999999999999999": "expression: 99999999999999999999 exceeds 64-bit integers; append .0 for an approximate number (1:20)\n | 99999999999999999999\n | ...................^",
	} {
		if _, err := Compile(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

var longWrong = "a +" + strings.Repeat(" ", 197) + "= 1"

// TestBrief checks that a formula in a message is one short line.
func TestBrief(t *testing.T) {
	if got := Brief("a\n  == 1"); got != "a == 1" {
		t.Errorf("it is %q", got)
	}
	if got := Brief(longWrong + string(make([]byte, 1000))); len(got) > 300 {
		t.Errorf("it has %d bytes", len(got))
	}
}

// TestShown checks that no value is shown in Go syntax.
func TestShown(t *testing.T) {
	for want, v := range map[string]any{
		`{"a":[1,null]}, a mapping`: map[string]any{"a": []any{1, nil}},
		`"x", a string`:             "x",
		"null":                      nil,
		"an error":                  errors.New("x"),
	} {
		if got := Shown(v); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

// TestArraysWithoutDimensions checks that they are numbers, and that other arrays cannot be
// compared with any.
func TestArraysWithoutDimensions(t *testing.T) {
	label := func(v int64) *array.Array {
		a, err := array.From([]int64{v})
		if err != nil {
			t.Fatal(err)
		}
		a.Shape = []int{}
		return a
	}
	row, err := array.From([]int64{1})
	if err != nil {
		t.Fatal(err)
	}
	yes := &array.Array{DType: array.Bool, Data: []byte{1}}
	items := map[string]any{"y": label(1), "row": row, "in_": map[string]*array.Array{"y": label(2)}, "yes": yes}
	for formula, want := range map[string]any{
		"y": int64(1), "y == 1": true, "y in [1, 2]": true, "y + 1": 2, "y < 2": true, "in_.y * 3": 6, "yes ? y : 0": int64(1), "string(y)": "1", "max(y, 3)": 3,
		"row == nil": false, "[y] == [1]": true, "y == 1.0": true, "-y": -1, "y ?? 2": int64(1), "in_.y": 2,
	} {
		e, err := Compile(formula)
		if err != nil {
			t.Fatal(err)
		}
		env := map[string]any{}
		for name, v := range items {
			env[named(name)], _ = scalar(v)
		}
		if got, err := e.run(env); err != nil || got != want {
			t.Errorf("%s is %v (%T), %v; want %v", formula, got, got, err, want)
		}
	}
	for _, formula := range []string{"row == 1", "1 != row", "row in [1, 2]"} {
		e, err := Compile(formula)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := valued(e, items); err == nil || !strings.Contains(err.Error(), "an array cannot be compared") && !strings.Contains(err.Error(), "cannot be compared") {
			t.Errorf("%s is %v, %v", formula, got, err)
		}
	}
}

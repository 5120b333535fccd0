package expr

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWords checks the words of errors.
func TestWords(t *testing.T) {
	for formula, want := range map[string]string{
		// Beyond 64 bits.
		"most + 1":                      "9223372036854775807 + 1 exceeds 64-bit integers; use float(...) for an approximate result",
		"2 ** 63":                       "2 ** 63 exceeds 64-bit integers; use float(...) for an approximate result",
		"bitshl(1, 63)":                 "bitshl(1, 63) exceeds 64-bit integers; use float(...) for an approximate result",
		"bitshr(1, 64)":                 "bits cannot be shifted by 64; bitshr needs 0 to 63",
		"int(huge)":                     "int(1e+300) exceeds 64-bit integers; use float(...) for an approximate result",
		`int("9223372036854775808")`:    "9223372036854775808 exceeds 64-bit integers; use float(...) for an approximate result",
		"int(noNumber)":                 "int is not defined for NaN, such as 0 / 0",
		"wide + 1":                      "18446744073709551616 exceeds 64-bit integers; use float(...) for an approximate result",
		"9223372036854775808":           "9223372036854775808 exceeds 64-bit integers; append .0 for an approximate number",
		`duration("2562047h") * 2`:      "the duration exceeds the limit of 292 years",
		`date("1-01-01", "2006-01-02")`: `"1-01-01" does not have the layout "2006-01-02"; a layout shows how 2006-01-02 15:04:05 is written`,
		`date("2026-01-01") - date("1600-01-01")`: "the duration exceeds the limit of 292 years",
		"least..most": "the evaluation exceeds 64 MiB; simplify the expression, or use smaller items",

		// Wrong kinds.
		"text_ + two":                  "+ is not defined for a string and an integer; convert values with string(...)",
		"null_ < 1":                    "< is not defined for null and an integer",
		`"a" == 1`:                     "== is not defined for a string and an integer",
		"half % 2":                     "% is not defined for a number and an integer",
		"upper(two)":                   "upper needs a string, not an integer; convert it with string(...)",
		"int(null_)":                   "int needs a string, a number or a duration, not null",
		`int("x")`:                     `"x" is not an integer`,
		`float("x")`:                   `"x" is not a number`,
		`float("1_0")`:                 `"1_0" is not a number`,
		`float("0x1p3")`:               `"0x1p3" is not a number`,
		"split(text_, 1)":              "split needs a string as second argument, not an integer; convert it with string(...)",
		"take(list_, half)":            "take needs an integer as second argument, not a number; convert it with int(...)",
		"take(list_, -1)":              "take needs a number of 0 or more, not -1",
		"repeat(text_, -1)":            "repeat needs a number of 0 or more, not -1",
		"filter(two, true)":            "filter needs a list, not an integer",
		"join(list_)":                  "join needs a list of strings, but element 0 is an integer; use map(list, string(#))",
		"sum([1, text_])":              "sum needs numbers, but element 1 is a string",
		"max(text_)":                   "max needs a number or a list, not a string",
		"sort(mixed)":                  "sort needs values that have an order, and they are an integer and a string",
		`sort(list_, "up")`:            `the order of sort must be "asc" or "desc", not "up"`,
		"groupBy([list_], #)":          "groupBy needs strings, numbers or booleans to group by, not [1,2], a list",
		"fromPairs([1])":               "fromPairs needs a list of [name, value] lists, but element 0 is 1, an integer",
		"reduce([], # + 1)":            "reduce of an empty list needs an initial value as third argument",
		"two in text_":                 "in needs a list or a mapping after it, not a string; for strings use contains",
		"two in mapping_":              "mapping keys are strings, not an integer",
		"null_ contains \"a\"":         "contains is not defined for null and a string",
		`text_ matches "a("`:           "invalid regular expression: a ( without its ), `a(`",
		`text_ matches ("[" + "z-a]")`: "invalid regular expression: an invalid range in a set [...], `z-a`",

		// Parts.
		"text_[5]":                  "index 5 is out of range for a string of 5",
		"list_[2]":                  "index 2 is out of range for a list of 2",
		`list_["a"]`:                `list_ is a list and has no "a"; index it, as in list[0]`,
		"list_[half]":               "a list is indexed by integers, as in list[0], not by a number",
		"mapping_.a.b":              `mapping_.a is an integer and has no "b"`,
		"mapping_.c":                `mapping_ has no "c"; valid: a, b (if it may be missing, use has(...), ?? or ?.)`,
		"null_.a":                   `null_ is null and has no "a" (if it may be missing, use has(...), ?? or ?.)`,
		"[mapping_][0].c":           `the value has no "c"; valid: a, b (if it may be missing, use has(...), ?? or ?.)`,
		"two[0:1]":                  "only lists and strings can be sliced, [FROM:TO], not an integer",
		"text_[half:]":              "slice bounds are integers, not a number",
		"image_.foo":                `image_ is an image and has no "foo"`,
		"image_.Bounds":             `image_ is an image and has no "Bounds"`,
		"image_.Bounds()":           `an image has no function "Bounds"; call functions as upper(x)`,
		`date("2026-01-31").Yeer()`: `a time has no function "Yeer"; did you mean "Year"?`,

		// Conditions.
		"two && true":         "and needs true or false, not an integer",
		"true_ and two":       "and needs true or false, not an integer",
		"true_ and 2":         "and needs true or false, not an integer",
		"null_ or true":       "or needs true or false, not null",
		"!two":                "not needs true or false, not an integer",
		"two ? 1 : 2":         "the condition must be true or false, not an integer",
		"if two {1} else {2}": "the condition must be true or false, not an integer",
		"filter(list_, #)":    "filter needs true or false, not an integer",
		"count(list_)":        "count needs true or false, not an integer",
		"none(list_, nil)":    "none needs true or false, not null",

		// Functions and strings.
		"uper(text_)":                  `unknown function "uper"; did you mean "upper"? (items are written without parentheses, or as item("..."))`,
		"f()":                          `unknown function "f" (items are written without parentheses, or as item("..."))`,
		"lower()":                      "lower has 0 arguments, want 1",
		"trim(text_, text_, text_)":    "trim has 3 arguments, want 1 or 2",
		"date()":                       "date has 0 arguments, want 1 to 3",
		"min()":                        "min has 0 arguments, want 1 or more",
		"text_ like text_":             `unexpected "like"`,
		"map(list_, #before)":          "unknown #before; use # (element), #index (in map and reduce) or #acc (in reduce)",
		`date("x")`:                    `"x" is not a date such as 2026-01-31`,
		`duration("x")`:                `"x" is not a duration such as 1h30m`,
		`timezone("Mars")`:             `unknown time zone "Mars"; write one such as "Europe/Paris"`,
		`timezone("Local")`:            `the local time zone is not available, as results could not be cached; name one, such as "Europe/Paris"`,
		`fromJSON("{")`:                `"{" is not JSON`,
		`fromJSON('{"a": 1, "a": 2}')`: `the JSON has the key "a" twice`,
		`fromJSON('"a\\ud800"')`:       "the JSON has a lone surrogate, which is not valid text", `fromJSON('"\\udc00"')`: "the JSON has a lone surrogate, which is not valid text",
		`fromJSON('"\\ud800x\\udc00"')`: "the JSON has a lone surrogate, which is not valid text",
		"{a: 1, b: 2, a: 3}":            `the mapping has the key "a" twice`,
		`fromBase64("?")`:               `"?" is not base64`,
		`fromBase64("/w==")`:            `the bytes of "/w==" are not UTF-8 text`,
		"toJSON(infinite)":              "toJSON is not defined for infinite; handle the case, such as y == 0 ? nil : x / y",
		"string(image_)":                "string is not defined for an image",
	} {
		if v, wrong, _ := evaluated(t, formula); wrong != want {
			t.Errorf("%s is %v: %s\nwant %s", formula, v, wrong, want)
		}
	}
}

// TestMessagesAreShort checks this also where a name is computed from data.
func TestMessagesAreShort(t *testing.T) {
	for _, formula := range []string{
		`mapping_[repeat("a", 5000000)]`, `text_[repeat("é", 5000000)]`, `date(repeat("9", 5000000))`, `int(repeat("x", 5000000))`,
		`get(list_, repeat("a", 5000000))`, `duration(repeat("h", 5000000))`, `timezone(repeat("h", 5000000))`, `fromJSON(repeat("[", 5000000))`, `"a" matches repeat("[", 5000000)`,
	} {
		if _, wrong, _ := evaluated(t, formula); wrong == "" || len(wrong) > 3000 {
			t.Errorf("%s: an error of %d bytes: %.200s", formula, len(wrong), wrong)
		}
	}
}

// TestValues checks the values of formulas, as JSON.
func TestValues(t *testing.T) {
	for formula, want := range map[string]string{
		// Strings are indexed by character.
		"text_[1]": `"é"`, "text_[-1]": `"o"`, "text_[0:2]": `"hé"`, "text_[-2:]": `"lo"`, "text_[1:99]": `"éllo"`, "text_[3:1]": `""`, "len(text_)": "5",
		`indexOf(text_, "l")`: "2", `lastIndexOf(text_, "l")`: "3", `indexOf(text_, "x")`: "-1", "get(text_, 1)": `"é"`, "get(text_, 9)": "null",

		`fromJSON('"\\ud83d\\ude00\\\\ud800"')`: `"😀\\ud800"`, `type(date("2026-01-31"))`: `"time"`, `type(duration("1h"))`: `"duration"`,

		// Numbers keep their kind.
		"2 ** 62": "4611686018427387904", "(-2) ** 63": "-9223372036854775808", "2 ** -1": "0.5", "2.0 ** 3": "8.0", "most / 1": "9223372036854775808.0",
		"round(most)": "9223372036854775807", "round(2.5)": "3.0", "least % -1": "0", "bitshl(3, 61)": "6917529027641081856", "max(1, 2.0)": "2.0", "mean([1, 2])": "1.5", "float(wide)": "18446744073709551616.0",
		"9007199254740993 == 9007199254740992.0": "false", "wide > most": "true", "2 in [1, 2.0]": "true", "2.0 in [1, 2]": "true", "octet + 1": "8", "wide == wide": "true",

		// Empty input gives null.
		"first([])": "null", "max([])": "null", "mean([])": "null", "median([])": "null", "find([], true)": "null", "list_[5] ?? 0": "0", "list_?.[5] == nil": "true", "has(list_[5])": "false", "sum([])": "0",

		// Conversions to strings give JSON, in the order of names.
		"string(2.0)": `"2.0"`, "string(null_)": `"null"`, `string({b: [1, 2.0, 1e30, nil], a: "x\"y"})`: `"{\"a\":\"x\\\"y\",\"b\":[1,2.0,1e+30,null]}"`, "toJSON({b: 1.0, a: []})": `"{\n  \"a\": [],\n  \"b\": 1.0\n}"`,
		`string(date("2026-01-31") + duration("90m"))`: `"2026-01-31T01:30:00Z"`, `string(duration("90m"))`: `"1h30m0s"`, `string(infinite)`: `"Infinity"`, "string(wide)": `"18446744073709551616"`,
		`fromJSON('[1, 1.0, 9007199254740993, 18446744073709551616]')`: "[1,1.0,9007199254740993,18446744073709551616]", "string(groupBy(list_, # % 2))": `"{\"0\":[2],\"1\":[1]}"`,

		// The rest of the language.
		`sortBy([{n: 2, a: 1}, {n: 1, a: 2}, {n: 2, a: 3}], .n, "desc") | map(.a)`: "[1,3,2]", "sort([2, 1.5, 1])": "[1,1.5,2]", `groupBy(["a", "b", "a"], #).a`: `["a","a"]`, "fromPairs(toPairs(mapping_)) == mapping_": "true",
		"concat(1..2, [3])": "[1,2,3]", "flatten([1, [2, [3]]])": "[1,2,3]", "uniq([1, 1.0, 2])": "[1,2]", "3..1": "[]", "reverse(1..3)": "[3,2,1]", "count([true, false])": "1", "sum(list_, # * 2)": "6", "reduce(1..4, # * #acc)": "24",
		"1 < two < 3": "true", "map(1..3, # ?? 0)": "[1,2,3]", "let x = two; let y = x + 1; x * y": "6", `date("2026-01-31").Month()`: "1", `duration("90m").Hours()`: "1.5", "image_.Rect.Max.X": "2", "ours.Side": "1",
		`split("a,b", ",")`: `["a","b"]`, `[1, 2] == [1.0, 2.0]`: "true", "{a: [1]} == {a: [1]}": "true", `"b" in mapping_`: "true", `text_ not in texts`: "true", `replace("aaa", "a", "b", 2)`: `"bba"`, `bytes_ matches "b"`: "true",
	} {
		v, wrong, _ := evaluated(t, formula)
		if got := string(appendJSON(nil, v, 0)); wrong != "" || got != want {
			t.Errorf("%s is %s %s, want %s", formula, got, wrong, want)
		}
	}
}

// TestFormulasAreReadInTime checks that a formula that doubles with each level is refused,
// and that a long one is read once.
func TestFormulasAreReadInTime(t *testing.T) {
	chain := "x"
	for range 40 {
		chain = "1 < (" + chain + " ? 1 : 2) < 3"
	}
	for formula, wrong := range map[string]string{
		chain: tooLong, strings.Repeat("1 + ", 10001) + "1": tooLong, strings.Repeat("(", maxBytes+1): tooLong,
		lets(200) + "v199 == 0": "",
	} {
		began := time.Now()
		_, got, _ := evaluated(t, formula)
		if got != wrong {
			t.Errorf("%.40s: %s, want %s", formula, got, wrong)
		}
		t.Logf("%.40s: %v", formula, time.Since(began))
	}
}

// lets declares names one within another.
func lets(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "let v%d = %d; ", i, i)
	}
	return b.String()
}

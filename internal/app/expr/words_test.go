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
		"most + 1":                      "9223372036854775807 + 1 is beyond whole numbers of 64 bits; write float(...) where it need not be exact",
		"2 ** 63":                       "2 ** 63 is beyond whole numbers of 64 bits; write float(...) where it need not be exact",
		"bitshl(1, 63)":                 "bitshl(1, 63) is beyond whole numbers of 64 bits; write float(...) where it need not be exact",
		"bitshr(1, 64)":                 "bits cannot be shifted by 64; bitshr needs a number from 0 to 63",
		"int(huge)":                     "int(1e+300) is beyond whole numbers of 64 bits; write float(...) where it need not be exact",
		`int("9223372036854775808")`:    "9223372036854775808 is beyond whole numbers of 64 bits; write float(...) where it need not be exact",
		"int(noNumber)":                 "int cannot be done with no number, as of 0 / 0",
		"wide + 1":                      "18446744073709551616 is beyond whole numbers of 64 bits; write float(...) where it need not be exact",
		"9223372036854775808":           "9223372036854775808 is beyond whole numbers of 64 bits; write it with .0 where it need not be exact",
		`duration("2562047h") * 2`:      "the duration is longer than 292 years, which is the limit",
		`date("1-01-01", "2006-01-02")`: `"1-01-01" is no date of the form "2006-01-02"; the form is how 2006-01-02 15:04:05 would be written`,
		`date("2026-01-01") - date("1600-01-01")`: "the duration is longer than 292 years, which is the limit",
		"least..most": "the evaluation handles more than 64 MiB, which is the limit; make the expression do less, or the items smaller",

		// Wrong kinds.
		"text_ + two":                  "+ cannot be done with a text and a whole number; string(...) makes a text of a value",
		"null_ < 1":                    "< cannot be done with null and a whole number",
		`"a" == 1`:                     "== cannot be done with a text and a whole number",
		"half % 2":                     "% cannot be done with a number and a whole number",
		"upper(two)":                   "upper needs a text, not a whole number; string(...) makes a text of it",
		"int(null_)":                   "int needs a text, a number or a duration, not null",
		`int("x")`:                     `"x" is no whole number`,
		`float("x")`:                   `"x" is no number`,
		`float("1_0")`:                 `"1_0" is no number`,
		`float("0x1p3")`:               `"0x1p3" is no number`,
		"split(text_, 1)":              "split needs a text as its second value, not a whole number; string(...) makes a text of it",
		"take(list_, half)":            "take needs a whole number as its second value, not a number; int(...) makes a whole number of it",
		"take(list_, -1)":              "take needs a number of elements that is not negative, not -1",
		"repeat(text_, -1)":            "repeat needs a number of times that is not negative, not -1",
		"filter(two, true)":            "filter needs a list, not a whole number",
		"join(list_)":                  "join needs a list of texts, and element 0 is a whole number; map(list, string(#)) makes texts of all",
		"sum([1, text_])":              "sum needs numbers, and element 1 is a text",
		"max(text_)":                   "max needs a number or a list, not a text",
		"sort(mixed)":                  "sort needs values that have an order, and they are a whole number and a text",
		`sort(list_, "up")`:            `the order of sort must be "asc" or "desc", not "up"`,
		"groupBy([list_], #)":          "groupBy needs texts, numbers or truth values to group by, not [1,2], a list",
		"fromPairs([1])":               "fromPairs needs a list of lists of a name and a value, and element 0 is 1, a whole number",
		"reduce([], # + 1)":            "reduce of an empty list needs a third value, to begin with",
		"two in text_":                 "in needs a list or a mapping after it, not a text; a text has parts by contains",
		"two in mapping_":              "the names in a mapping are texts, and this is a whole number",
		"null_ contains \"a\"":         "contains cannot be done with null and a text",
		`text_ matches "a("`:           "the regular expression is wrong: it has a ( without its ), `a(`",
		`text_ matches ("[" + "z-a]")`: "the regular expression is wrong: it has a range in a set [...] that is none, `z-a`",

		// Parts.
		"text_[5]":                  "there is no character 5 in a text of 5",
		"list_[2]":                  "there is no element 2 in a list of 2",
		`list_["a"]`:                `list_ is a list and has no "a"; its elements are taken by their numbers, as in list[0]`,
		"list_[half]":               "an element of a list is taken by its number, as in list[0], not by a number",
		"mapping_.a.b":              `mapping_.a is a whole number and has no "b"`,
		"mapping_.c":                `mapping_ has no "c"; valid: a, b (where it may be missing, write has(...), ?? or ?.)`,
		"null_.a":                   `null_ is null and has no "a" (where it may be missing, write has(...), ?? or ?.)`,
		"[mapping_][0].c":           `the value has no "c"; valid: a, b (where it may be missing, write has(...), ?? or ?.)`,
		"two[0:1]":                  "only of lists and texts a part can be taken, [FROM:TO], and this is a whole number",
		"text_[half:]":              "parts of lists and texts are taken by whole numbers, not by a number",
		"image_.foo":                `image_ is an image and has no "foo"`,
		"image_.Bounds":             `image_ is an image and has no "Bounds"`,
		"image_.Bounds()":           `an image has no function "Bounds"; a function is called as upper(x)`,
		`date("2026-01-31").Yeer()`: `a time has no function "Yeer"; did you mean "Year"?`,

		// Conditions.
		"two && true":         "and needs true or false, not a whole number",
		"true_ and two":       "and needs true or false, not a whole number",
		"true_ and 2":         "and needs true or false, not a whole number",
		"null_ or true":       "or needs true or false, not null",
		"!two":                "not needs true or false, not a whole number",
		"two ? 1 : 2":         "what decides must be true or false, not a whole number",
		"if two {1} else {2}": "what decides must be true or false, not a whole number",
		"filter(list_, #)":    "filter needs true or false, not a whole number",
		"count(list_)":        "count needs true or false, not a whole number",
		"none(list_, nil)":    "none needs true or false, not null",

		// Functions and strings.
		"uper(text_)":                  `there is no function "uper"; did you mean "upper"? (an item is named without parentheses, or by item("...") if its name is no word)`,
		"f()":                          `there is no function "f" (an item is named without parentheses, or by item("...") if its name is no word)`,
		"lower()":                      "the number of values in the parentheses of lower must be 1",
		"trim(text_, text_, text_)":    "the number of values in the parentheses of trim must be 1 or 2",
		"date()":                       "the number of values in the parentheses of date must be 1 to 3",
		"min()":                        "the number of values in the parentheses of min must be 1 or more",
		"text_ like text_":             `"like" cannot stand here`,
		"map(list_, #before)":          "there is no #before here; # is the element, #index its number within map and reduce, and #acc in reduce what came before",
		`date("x")`:                    `"x" is no date such as 2026-01-31`,
		`duration("x")`:                `"x" is no duration such as 1h30m`,
		`timezone("Mars")`:             `there is no time zone "Mars"; write one such as "Europe/Paris"`,
		`timezone("Local")`:            `the time zone of the machine is not available: what is decided by it cannot be cached; name one, such as "Europe/Paris"`,
		`fromJSON("{")`:                `"{" is no JSON`,
		`fromJSON('{"a": 1, "a": 2}')`: `the JSON has the name "a" twice`,
		`fromJSON('"a\\ud800"')`:       "the JSON has half of a character (a lone surrogate), which is no text", `fromJSON('"\\udc00"')`: "the JSON has half of a character (a lone surrogate), which is no text",
		`fromJSON('"\\ud800x\\udc00"')`: "the JSON has half of a character (a lone surrogate), which is no text",
		"{a: 1, b: 2, a: 3}":            `the mapping has the name "a" twice`,
		`fromBase64("?")`:               `"?" is no base64`,
		`fromBase64("/w==")`:            `what "/w==" stands for is no text`,
		"toJSON(infinite)":              "toJSON cannot be done with a number that is infinite; say what stands for it, as in y == 0 ? nil : x / y",
		"string(image_)":                "string cannot be done with an image",
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
		chain: tooLong, strings.Repeat("1 + ", 10001) + "1": tooLong, strings.Repeat("(", mostBytes+1): tooLong,
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

package expr

import (
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr/builtin"
)

// wide is an integer of more than 64 bits.
var wide, _ = new(big.Int).SetString("18446744073709551616", 10)

// values has values of each kind, and at the limits of kinds, by the names of their items;
// literals has those that a formula can write.
var values = map[string]any{
	"null_": nil, "true_": true, "two": int64(2), "least": int64(math.MinInt64), "most": int64(math.MaxInt64), "wide": wide,
	"half": 1.5, "huge": 1e300, "infinite": math.Inf(1), "noNumber": math.NaN(),
	"text_": "héllo", "empty": "", "list_": []any{int64(1), int64(2)}, "texts": []any{"b", "a"}, "mixed": []any{int64(1), "a", nil}, "nothing": []any{},
	"mapping_": map[string]any{"a": int64(1), "b": 2.0}, "bytes_": []byte("abc"), "image_": image.NewGray(image.Rect(0, 0, 2, 1)),
	"octet": uint8(7), "ours": ours{1},
}

// ours is a type of a user's program.
type ours struct{ Side int }

var literals = map[string]string{
	"null_": "(nil)", "true_": "(true)", "two": "(2)", "half": "(1.5)", "text_": `"héllo"`, "list_": "[1, 2]", "mapping_": "({a: 1, b: 2.0})",
	"time_": `date("2026-01-31")`, "duration_": `duration("1h")`, "zone_": `timezone("UTC")`,
}

// names has the items, and the values that only functions make.
var names = append(slices.Sorted(maps.Keys(values)), literals["time_"], literals["duration_"], literals["zone_"])

// valued evaluates a formula with values for items.
func valued(e *Expression, values map[string]any) (any, error) {
	env := map[string]any{}
	for name, v := range values {
		env[named(name)] = v
	}
	return e.run(env)
}

// evaluated returns the value of a formula, or its error without the position.
func evaluated(t testing.TB, formula string) (v any, wrong string, early bool) {
	t.Helper()
	e, err := Compile(formula)
	if err != nil {
		return nil, wordsOf(t, formula, err), true
	}
	v, err = valued(e, values)
	if err != nil {
		return nil, wordsOf(t, formula, err), false
	}
	return v, "", false
}

// foreign matches text that no message may have, from Go and the library.
var foreign = regexp.MustCompile(`\b(reflect|interface|panic|runtime|goroutine|nil pointer|strconv|parsing|u?int(8|16|32|64)|float(32|64)|big\.|time\.[A-Z]|image\.[A-Z]|struct|func|Value)\b|\bexpr($|[^.\w]|\.[A-Z])|<nil>|%!|map\[|\[\]\w|` + regexp.QuoteMeta(unknownMessage))

var (
	place  = regexp.MustCompile(`(?s) \(\d+:\d+\)\n \| .*`)
	quoted = regexp.MustCompile("(?s)\"(\\\\.|[^\"\\\\])*\"|'.*'|`.*`") // quotations of the formula itself
)

func wordsOf(t testing.TB, formula string, err error) string {
	t.Helper()
	w, ok := errors.AsType[*worded](err)
	if !ok {
		t.Fatalf("%s: %v", formula, err)
	}
	text := w.text
	if at := place.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	if foreign.MatchString(quoted.ReplaceAllString(text, "")) {
		t.Errorf("%s: %s", formula, text)
	}
	return text
}

// TestFunctionsAreThoseOfTheLanguage checks that each function of the library's version has
// a signature, so that no unchecked function is called.
func TestFunctionsAreThoseOfTheLanguage(t *testing.T) {
	for _, name := range builtin.Names {
		if _, ok := signatures[name]; !ok && name != "now" {
			t.Errorf("%s has no signature", name)
		}
	}
	for name := range signatures {
		if !slices.Contains(builtin.Names, name) {
			t.Errorf("%s is not a function", name)
		}
	}
}

// formulas returns all functions and operators over values of each kind in each position,
// and calls with each number of arguments.
func formulas() (all []string) {
	for name, s := range signatures {
		for n := range 5 {
			all = append(all, fmt.Sprintf("%s(%s)", name, strings.Join(slices.Repeat([]string{"two"}, n), ", ")))
		}
		for _, a := range names {
			all = append(all, name+"("+a+")")
			for _, b := range names {
				all = append(all, fmt.Sprintf("%s(%s, %s)", name, a, b))
				if s.most > 2 {
					all = append(all, fmt.Sprintf("%s(text_, %s, %s)", name, a, b), fmt.Sprintf("%s(%s, texts[0], %s)", name, a, b), fmt.Sprintf("%s(list_, %s, %s)", name, a, b))
				}
			}
			if s.decides {
				all = append(all, fmt.Sprintf("%s(list_, %s)", name, a))
			}
		}
	}
	for operator := range operators {
		for _, a := range names {
			for _, b := range names {
				all = append(all, a+" "+operator+" "+b)
			}
		}
	}
	for _, a := range names {
		for _, b := range names {
			all = append(all, a+"["+b+"]", a+"["+b+":]", a+"[:"+b+"]", a+" == "+b, a+" != "+b, a+" ?? "+b, a+"?.["+b+"]", "{("+a+"): "+b+"}", "groupBy(["+a+"], "+b+")", "sortBy(["+a+", "+b+"], #)", "sort(["+a+", "+b+"])", "uniq(["+a+", "+b+"])", "fromPairs([["+a+", "+b+"]])", "join(["+a+", "+b+"])", "toJSON(["+a+", {k: "+b+"}])", "string(["+a+", {k: "+b+"}])", "reduce(["+a+", "+b+"], # + #acc)")
		}
		for _, f := range []string{"%s.a", "%s?.a", "has(%s.a.b)", "%s.a.b", "-%s", "+%s", "not %s", "!%s", "%s ? 1 : 2", "%s and true", "true && %s", "false || %s", "%s or true", "%s.foo()", "%s.Year()", "%s.Format(two)", "%s.In(%[1]s)", "first([%s])", "sum([%s])", "mean([%s])", "median([[%s]])", "max([%s])", "if %s {1} else {2}", "fromJSON(toJSON(%s))", "map([%s], #.x)", "date(%s, \"2006\", \"Mars\")", "let v = %s; v + 1"} {
			all = append(all, fmt.Sprintf(f, a))
		}
	}
	return all
}

// TestMessagesHaveNoWordsOfOthers checks that neither messages nor values have Go types,
// names of a library or its messages. Errors before and during an evaluation have the same
// words.
func TestMessagesHaveNoWordsOfOthers(t *testing.T) {
	messages := map[string]bool{}
	for _, formula := range formulas() {
		v, wrong, early := evaluated(t, formula)
		messages[wrong] = true
		if wrong == "" {
			if shown := Shown(v); foreign.MatchString(shown) {
				t.Errorf("%s is %s", formula, shown)
			}
			if _, err := Document(v); err != nil && foreign.MatchString(err.Error()) {
				t.Errorf("%s: %v", formula, err)
			}
		}
		if written, ok := writtenOut(formula); ok && !early {
			w, text, early := evaluated(t, written)
			switch strict := strings.ContainsAny(formula, "=|&") || strings.Contains(formula, " or ") || strings.Contains(formula, " and "); {
			case wrong == "" && strict && early: // may never be evaluated
			case text != pathOfItem.ReplaceAllString(wrong, "the value"):
				t.Errorf("%s: %q\n%s: %q", formula, wrong, written, text)
			case wrong == "" && Shown(v) != Shown(w):
				t.Errorf("%s is %s, and %s is %s", formula, Shown(v), written, Shown(w))
			}
		}
	}
	t.Logf("%d messages", len(messages))
	if len(messages) < 300 {
		t.Errorf("only %d messages were seen", len(messages))
	}
}

var itemName = regexp.MustCompile(`\b\w+\b`)

// pathOfItem matches the name of a value that is not written out.
var pathOfItem = regexp.MustCompile(`\b(\w+_|two|half)(\.\w|\[-?\d+\])*`)

// writtenOut returns a formula with values in place of items; ok is false if one of them
// has no literal.
func writtenOut(formula string) (written string, ok bool) {
	ok = true
	written = itemName.ReplaceAllStringFunc(formula, func(name string) string {
		text, is := literals[name]
		if _, item := values[name]; item && !is {
			ok = false
		}
		if !is {
			return name
		}
		return text
	})
	return written, ok && written != formula
}

// TestWholeNumbersAreExact checks that integer operations equal those of unbounded
// integers, or are an error beyond 64 bits.
func TestWholeNumbersAreExact(t *testing.T) {
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -3, -2, -1, 0, 1, 2, 3, 31, 62, 63, 64, 1 << 31, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	b := big.NewInt
	small := func(y int64) uint { return uint(min(max(y, 0), 200)) }
	for formula, is := range map[string]func(x, y int64) *big.Int{
		"x + y":                    func(x, y int64) *big.Int { return b(0).Add(b(x), b(y)) },
		"x - y":                    func(x, y int64) *big.Int { return b(0).Sub(b(x), b(y)) },
		"x * y":                    func(x, y int64) *big.Int { return b(0).Mul(b(x), b(y)) },
		"-x":                       func(x, _ int64) *big.Int { return b(0).Neg(b(x)) },
		"abs(x)":                   func(x, _ int64) *big.Int { return b(0).Abs(b(x)) },
		"round(x)":                 func(x, _ int64) *big.Int { return b(x) },
		"floor(x)":                 func(x, _ int64) *big.Int { return b(x) },
		"ceil(x)":                  func(x, _ int64) *big.Int { return b(x) },
		"int(string(x))":           func(x, _ int64) *big.Int { return b(x) },
		"fromJSON(toJSON(x))":      func(x, _ int64) *big.Int { return b(x) },
		"sum([x, y])":              func(x, y int64) *big.Int { return b(0).Add(b(x), b(y)) },
		"sum([1, 2], x)":           func(x, _ int64) *big.Int { return b(0).Mul(b(x), b(2)) },
		"reduce([x, y], # * #acc)": func(x, y int64) *big.Int { return b(0).Mul(b(x), b(y)) },
		"max(x, y)":                func(x, y int64) *big.Int { return b(max(x, y)) },
		"min([x], y)":              func(x, y int64) *big.Int { return b(min(x, y)) },
		"x % y": func(x, y int64) *big.Int {
			if y == 0 {
				return nil
			}
			return b(0).Rem(b(x), b(y))
		},
		"x ** y": func(x, y int64) *big.Int {
			if y < 0 {
				return nil
			}
			if y > 200 && x >= -1 && x <= 1 {
				y = 200 + y%2
			}
			return b(0).Exp(b(x), b(min(y, 201)), nil)
		},
		"bitshl(x, y)": func(x, y int64) *big.Int {
			if y < 0 || y > 63 {
				return nil
			}
			return b(0).Lsh(b(x), small(y))
		},
		"bitshr(x, y)": func(x, y int64) *big.Int {
			if y < 0 || y > 63 {
				return nil
			}
			return b(0).Rsh(b(x), small(y))
		},
		"bitnot(x)":     func(x, _ int64) *big.Int { return b(0).Not(b(x)) },
		"bitand(x, y)":  func(x, y int64) *big.Int { return b(0).And(b(x), b(y)) },
		"bitor(x, y)":   func(x, y int64) *big.Int { return b(0).Or(b(x), b(y)) },
		"bitxor(x, y)":  func(x, y int64) *big.Int { return b(0).Xor(b(x), b(y)) },
		"bitnand(x, y)": func(x, y int64) *big.Int { return b(0).AndNot(b(x), b(y)) },
	} {
		e, err := Compile(formula)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range edges {
			for _, y := range edges {
				v, err := valued(e, map[string]any{"x": x, "y": y})
				want := is(x, y)
				switch {
				case want == nil: // an error, or a float
					if _, ok := v.(int); ok {
						t.Errorf("%s of %d and %d is %v", formula, x, y, v)
					}
				case !want.IsInt64():
					if err == nil || !strings.Contains(err.Error(), "exceeds 64-bit integers") {
						t.Errorf("%s of %d and %d: %v, %v, and it is %v", formula, x, y, v, err, want)
					}
				case err != nil || plain(v) != int(want.Int64()):
					t.Errorf("%s of %d and %d: %v, %v, want %v", formula, x, y, v, err, want)
				}
			}
		}
	}
}

// TestNumbersAreComparedAsTheyAre checks that comparisons round no number, also between
// integers and floats.
func TestNumbersAreComparedAsTheyAre(t *testing.T) {
	all := []any{math.Inf(-1), int64(math.MinInt64), -1.5, int64(-1), 0.0, int64(0), 0.5, int64(1<<53 - 1), float64(1 << 53), int64(1 << 53), int64(1<<53 + 1), int64(math.MaxInt64), float64(math.MaxInt64), wide, 1e300, math.Inf(1)}
	exact := func(v any) *big.Float {
		switch v := v.(type) {
		case int64:
			return new(big.Float).SetInt64(v)
		case float64:
			return big.NewFloat(v)
		}
		return new(big.Float).SetInt(v.(*big.Int))
	}
	for operator, holds := range map[string]func(c int) bool{
		"==": func(c int) bool { return c == 0 }, "!=": func(c int) bool { return c != 0 }, "<": func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 }, ">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	} {
		e, err := Compile("x " + operator + " y")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			for _, y := range all {
				v, err := valued(e, map[string]any{"x": x, "y": y})
				if want := holds(exact(x).Cmp(exact(y))); err != nil || v != want {
					t.Errorf("%v %s %v: %v, %v", x, operator, y, v, err)
				}
			}
		}
	}
}

// TestZonesAreNotThoseOfTheMachine checks that a time without a zone is UTC, whatever the
// zone of the machine.
func TestZonesAreNotThoseOfTheMachine(t *testing.T) {
	was := time.Local
	time.Local = time.FixedZone("EST", -5*3600)
	defer func() { time.Local = was }()
	for formula, want := range map[string]string{
		`string(date("2026-01-31"))`:                                            "2026-01-31T00:00:00Z",
		`string(date("02 Jan 26 15:04 EST"))`:                                   "2026-01-02T15:04:00Z",
		`string(date("2026-01-31 12", "2006-01-02 15", "Europe/Paris"))`:        "2026-01-31T12:00:00+01:00",
		`string(date(timezone("Europe/Paris"), "2026-01-31"))`:                  "2026-01-31T00:00:00+01:00",
		`date("2026-01-31T10:00:00-05:00").In(timezone("UTC")).Format("15:04")`: "15:04",
	} {
		if v, wrong, _ := evaluated(t, formula); wrong != "" || fmt.Sprint(v) != want && want != "15:04" || want == "15:04" && v != "15:00" {
			t.Errorf("%s: %v %s", formula, v, wrong)
		}
	}
}

package expr

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// FuzzExpressions checks that any formula, arbitrary or drawn from the grammar, ends within
// its bounds. It gives a value or an error in Larder's words, the same each time.
func FuzzExpressions(f *testing.F) {
	for _, text := range []string{"1 + two", "text_[1:]", `list_ | filter(# > 1) | len()`, "let x = 1; x ?? 2", `{a: 1}?.b.c ?? [1, 2][0]`, "reduce(1..9, #acc * #)", `"a" matches "(" + text_`, "!true_ ? 1 : b\"x\"", "1 < two < 3", "if true {1} else {2}"} {
		f.Add(text, uint64(len(text)))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		d := drawing{rand.New(rand.NewPCG(seed, uint64(len(text)))), slices.Sorted(maps.Keys(signatures)), slices.Sorted(maps.Keys(operators))}
		for _, formula := range []string{text, d.formula(4)} {
			v, wrong, _ := evaluated(t, formula)
			w, again, _ := evaluated(t, formula)
			if wrong != again || wrong == "" && Shown(v) != Shown(w) {
				t.Errorf("%s is %s %s, and then %s %s", formula, Shown(v), wrong, Shown(w), again)
			}
		}
	})
}

// TestDrawnExpressions checks the same for some random formulas.
func TestDrawnExpressions(t *testing.T) {
	d := drawing{testrand.New(t), slices.Sorted(maps.Keys(signatures)), slices.Sorted(maps.Keys(operators))}
	good := 0
	for range 3000 {
		if _, wrong, _ := evaluated(t, d.formula(4)); wrong == "" {
			good++
		}
	}
	if t.Failed() || good < 100 {
		t.Errorf("%d of 3000 formulas have values", good)
	}
}

// A drawing draws formulas.
type drawing struct {
	*rand.Rand
	functions, operators []string
}

func (d drawing) one(of ...string) string { return of[d.IntN(len(of))] }

// formula draws a formula of at most the given depth.
func (d drawing) formula(depth int) string {
	if depth == 0 || d.IntN(4) == 0 {
		return d.one(append(slices.Clone(names), "1", "2.5", `"a"`, "nil", "true", "[]", "[1, 2]", "{a: 1}", "#", "#index", "#acc", "x", "1..3", strconv.Itoa(d.Int()))...)
	}
	in := func() string { return d.formula(depth - 1) }
	switch d.IntN(12) {
	case 0, 1, 2:
		return "(" + in() + " " + d.one(append(d.operators, "==", "!=", "??", "&&", "||", "^")...) + " " + in() + ")"
	case 3, 4, 5, 6:
		args := []string{in()}
		for range d.IntN(3) {
			args = append(args, in())
		}
		return d.one(d.functions...) + "(" + strings.Join(args, ", ") + ")"
	case 7:
		return d.one("-", "+", "not ", "!") + in()
	case 8:
		return in() + d.one(".a", "?.a.b", "["+in()+"]", "?.["+in()+"]", "["+in()+":"+in()+"]", "[:"+in()+"]", ".Year()")
	case 9:
		return "(" + in() + " ? " + in() + " : " + in() + ")"
	case 10:
		return "(let x = " + in() + "; " + in() + ")"
	}
	return d.one("["+in()+", "+in()+"]", "{a: "+in()+", ("+in()+"): "+in()+"}", "has("+in()+")", in()+" | "+d.one(d.functions...)+"()")
}

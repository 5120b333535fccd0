package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
)

// TestExpressionsAreAsTheirPageSays checks each "`formula` is `value`" and "`formula` is an
// error" of the page, and that the page has all functions of the language.
func TestExpressionsAreAsTheirPageSays(t *testing.T) {
	page := read(t, "reference/expressions.md")
	examples := regexp.MustCompile("`([^`]+)` is (an error|`([^`]+)`)").FindAllStringSubmatch(page, -1)
	for _, m := range examples {
		formula, want := m[1], m[3]
		got, err := asJSON(t, formula)
		if want == "" && err == nil {
			t.Errorf("%s is %s and no error", formula, got)
		} else if want != "" && (err != nil || got != want) {
			t.Errorf("%s is %s (%v), and the page says %s", formula, got, err, want)
		}
	}
	if len(examples) < 150 {
		t.Errorf("the page has only %d formulas", len(examples))
	}
	for _, name := range builtin.Names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page has no %s", name)
		}
	}
}

// asJSON returns the value of a formula without items, as a JSON item.
func asJSON(t *testing.T, formula string) (string, error) {
	t.Helper()
	e, err := expr.Compile(formula)
	if err != nil {
		return "", err
	}
	v, err := e.Eval(t.Context(), dataset.NewSample())
	if err != nil {
		return "", err
	}
	if v, err = expr.Document(v); err != nil {
		return "", err
	}
	b, err := dataset.NewItem("json", v).Bytes(t.Context())
	return string(b), err
}

package op_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/pool"
)

// where applies a filter to one sample with the items n, a number, list, metadata, and
// others with odd names.
func where(t *testing.T, formula string) (bool, error) {
	t.Helper()
	f := op.Filter{Where: formula}
	if err := f.Check(); err != nil {
		return false, err
	}
	doc := func(key string, v any) dataset.Field {
		return dataset.Field{Key: key, Item: dataset.NewItem("json", v)}
	}
	in := dataset.List(dataset.NewSample(
		doc("n", int64(1)), doc("list", []any{int64(1), int64(2)}),
		doc("metadata", map[string]any{"letter": "a", "size": map[string]any{"width": int64(3)}, "none": nil}),
		doc("my-item", int64(7)), doc("in", "inside"), doc("0k", map[string]any{"x y": int64(2)}), doc("a b", int64(9)), doc("item", int64(4)),
	))
	out, err := f.Apply(context.Background(), &component.Env{Node: "f", Pool: pool.New(1), Stats: &dataset.NodeStats{}}, in)
	if err != nil {
		return false, err
	}
	return out.Len() == 1, nil
}

// TestEvaluationsAreBounded checks that the size and steps of an evaluation are bounded,
// and that the error says where.
func TestEvaluationsAreBounded(t *testing.T) {
	const doubled = `reduce(1..60, [#acc, #acc], [n])`
	for _, formula := range []string{
		`len(reduce(1..60, #acc + #acc, "ab")) > 0`,
		`len(reduce(1..60, join([#acc, #acc]), "ab")) > 0`,
		`len(reduce(1..60, join([#acc, "x"], #acc), "ab")) > 0`,
		`len(join(map(1..100000, ""), repeat("a", 100000))) > 0`,
		`len(reduce(1..60, replace(#acc, "a", "aaaaaaaaaa"), "a")) > 0`,
		`len(reduce(1..60, concat(#acc, #acc), list)) > 0`,
		`len(repeat("a", 1000000000)) > 0`,
		`len(repeat(repeat("a", 100000), 9223372036854775807)) > 0`,
		`len(toJSON(` + doubled + `)) > 0`, `len(string(` + doubled + `)) > 0`, `len(flatten(` + doubled + `)) > 0`,
		doubled + ` == ` + doubled, doubled,
		`count(1..1000, count(1..1000, count(1..1000, # > 0) == 1) == 2) == 3`,
		`let many = map(1..100000, "x"); count(many, (# + "y") in many) == 3`,
		`let many = map(1..100000, [#]); len(uniq(many)) > 0`,
		`let long = repeat("ab", 1000000); count(1..100000, long contains "c") > 0`,
		`repeat("a", 300000) matches "(a?){1000}b"`, `repeat("a", 300000) matches ("(a?){1000}" + "b")`, `let long = repeat("a", 3000000); long matches "(a|b|c+)*d|(x?y){30}"`,
		`count(1..1000000, "a" matches ("(a{50}){10}" + string(#))) > 0`,
	} {
		if _, err := where(t, formula); err == nil || !strings.Contains(err.Error(), "exceeds 64 MiB") && !strings.Contains(err.Error(), "exceeds the memory limit") {
			t.Errorf("%s: %.300v", formula, err)
		}
	}
	for _, formula := range []string{
		`count(1..10000, # % 2 == 0) == 5000`, `sum(1..1000) == 500500`, `sum(list, # * 2) == 6`, `sum([0.5, n]) == 1.5`,
		`join(["a", "b"], "-") == "a-b"`, `len(repeat("ab", 1000)) == 2000`, `"a" + "b" == "ab"`, `-n == -1`, `list[-1] == 2`, `replace("aa", "a", "b") == "bb"`,
	} {
		if ok, err := where(t, formula); err != nil || !ok {
			t.Errorf("%s: %v, %v", formula, ok, err)
		}
	}
}

// TestWholeNumbersDoNotWrap checks that an integer beyond 64 bits is an error that says
// where.
func TestWholeNumbersDoNotWrap(t *testing.T) {
	const most, least = "9223372036854775807", "(-9223372036854775807 - 1)"
	for _, sum := range []string{
		"n + " + most, most + " + n", most + " * 2", least + " - n", least + " * -1", "-1 * " + least, "-" + least, "abs(" + least + ")",
		"sum([" + most + ", n])", "reduce(1..70, #acc * 2, n)", "int(1e300)", "sum(list, " + most + ")", most + " + 1",
	} {
		if _, err := where(t, sum+" > 0"); err == nil || !strings.Contains(err.Error(), "exceeds 64-bit integers") || !strings.Contains(err.Error(), "(1:") {
			t.Errorf("%s: %v", sum, err)
		}
	}
	for _, fits := range []string{most + " - n > 0", least + " + " + most + " == -1", "reduce(1..62, #acc * 2, n) > 0", "float(" + most + ") * 2 > 0", "n * 0 == 0", least + " * n < 0"} {
		if ok, err := where(t, fits); err != nil || !ok {
			t.Errorf("%s: %v, %v", fits, ok, err)
		}
	}
}

// TestWhatIsNotThere checks that a missing item or path is an error with the nearest name,
// unless the expression allows it.
func TestWhatIsNotThere(t *testing.T) {
	for formula, want := range map[string]string{
		`metadata.leter == "a"`:                       `metadata has no "leter"; did you mean "letter"?`,
		`metadata.size.widht > 1`:                     `metadata.size has no "widht"; did you mean "width"?`,
		`metadata["leter"] == "a"`:                    `did you mean "letter"?`,
		`metdata.letter == "a"`:                       `metadata`,
		`any([metadata], .leter == "a")`:              `did you mean "letter"?`,
		`has(metadata.leter) or metadata.leter == ""`: `did you mean "letter"?`,
		`has(metadata.letter, 1)`:                     `has needs one item`,
		`item(n) == 1`:                                `quoted item name`,
		`item("my-itm") == 7`:                         `my-item`,
	} {
		if _, err := where(t, formula); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", formula, err, want)
		}
	}
	for _, formula := range []string{
		`not has(metadata.leter)`, `has(metadata.letter)`, `has(metadata.size.width)`, `not has(metadata.sise.width)`, `not has(mask)`, `has(n)`, `not has(mask.a.b)`,
		`(metadata.leter ?? "none") == "none"`, `(mask ?? 5) == 5`, `(mask.a.b ?? 5) == 5`, `(mask ?? metadata.leter ?? metadata.size.wide ?? 5) == 5`, `metadata?.leter == nil`, `metadata.leter == nil`, `metadata?.sise.width == nil`,
		`metadata.none == nil`, `has(metadata.leter) ? metadata.leter > 3 : true`, `"letter" in metadata`, `not ("leter" in metadata)`, `get(metadata, "leter") == nil`,
		`item("my-item") == 7`, `item("in") == "inside"`, `item("0k")["x y"] == 2`, `item("0k")?.z == nil`, `item("a b") - item("my-item") == 2`, `item == 4`, `item("item") == 4`, `item("n") == n`,
		`has(item("a b"))`, `not has(item("a c"))`, `(item("a c") ?? 1) == 1`, `let n = 5; item("n") == 1`,
	} {
		if ok, err := where(t, formula); err != nil || !ok {
			t.Errorf("%s: %v, %v", formula, ok, err)
		}
	}
}

// TestMissingItemsAreKnown checks that the key of a pass depends on which samples lack an
// item.
func TestMissingItemsAreKnown(t *testing.T) {
	in := dataset.Func(4, func(_ context.Context, i int) (dataset.Sample, error) {
		meta := dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"n": int64(i)})}
		if i%2 == 0 {
			return dataset.NewSample(meta), nil
		}
		return dataset.NewSample(meta, dataset.Field{Key: "mask", Item: dataset.NewItem("json", int64(i))}), nil
	})
	if got := contents(t, apply(t, "filter", op.Filter{Where: "has(mask) and mask > 1"}, in).Parts[0]); !slices.Equal(got, []int{3}) {
		t.Errorf("with a mask above 1: %v", got)
	}
}

package expr_test

import (
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
)

// BenchmarkEval measures expressions over a sample.
func BenchmarkEval(b *testing.B) {
	sample := dataset.NewSample(
		dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(3))},
		dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"color": "red", "area": 2.5, "tags": []any{"a", "b"}})},
	)
	for _, text := range []string{
		`n > 2`, `meta.color == "red" and meta.area * n > 5`, `meta.color in ["red", "green", "blue"]`, `upper(meta.color) + string(n)`,
		`meta.tags[0] == "a" ? 1 : 2`, `count(1..1000, # % 2 == 0)`, `sum(1..1000, # * 2)`, `len(filter(meta.tags, # startsWith "a"))`,
	} {
		b.Run(text, func(b *testing.B) {
			e, err := expr.Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(b.Context(), sample); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package schema_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper/schema"
)

// Samples are checked against a schema. An error names the sample, the item and the
// position.
func ExampleSchema_Validate() {
	s, err := schema.Parse("schema.yaml", []byte(`version: 1
items:
  meta: {kind: document, schema: {required: [color]}}
  note: {kind: text, optional: true}
`))
	if err != nil {
		panic(err)
	}
	samples := dataset.List(
		dataset.NewSample(dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"color": "red"})}),
		dataset.NewSample(dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{"size": 7})}),
	)
	report, err := s.Validate(context.Background(), samples, schema.Options{})
	if err != nil {
		panic(err)
	}
	for _, v := range report.List {
		fmt.Println(v)
	}
	// Output: sample 1: item meta: missing property 'color'
}

package op

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

func init() {
	component.OnStreams(component.RegisterOp("enumerate", "Adds an item with the sample's position in the dataset.",
		func(_ context.Context, env *component.Env, p Enumerate, in component.Samples) (component.Samples, error) {
			return p.Apply(env, in), nil
		}), Enumerate.onStream)
}

// Enumerate adds an item with the position of the sample.
type Enumerate struct {
	Start  int    `param:"start" doc:"number of the first sample" default:"0"`
	Into   string `param:"into" doc:"item to add, which must be unused" default:"index"`
	Format string `param:"format" doc:"format of the number: a document in json and yaml, digits in txt" enum:"json|yaml|txt" default:"json"`
}

// Check refuses an unknown format.
func (e Enumerate) Check() error { return oneOf("format", e.Format, "", "json", "yaml", "txt") }

// Apply implements the operator.
func (e Enumerate) Apply(env *component.Env, in component.Samples) component.Samples {
	return dataset.Each(in, func(_ context.Context, i int, s dataset.Sample) (dataset.Sample, error) {
		s, err := e.add(i, s)
		return s, named(env, i, err)
	})
}

func (e Enumerate) add(i int, s dataset.Sample) (dataset.Sample, error) {
	into, format := cmp.Or(e.Into, "index"), cmp.Or(e.Format, "json")
	if _, taken := s.Field(into); taken {
		return s, fmt.Errorf("item %s exists; set into to another name", into)
	}
	var number any = int64(e.Start + i)
	if format == "txt" {
		number = strconv.Itoa(e.Start + i)
	}
	return s.WithItem(into, dataset.NewItem(format, number)), nil
}

// Package mapper holds the mappers that come with Larder. Each is a component
// of its name; its parameter struct makes the same mapper in Go.
//
// There is none that caches items: an item is read once as long as its sample
// lives, in whatever way samples are made from each other.
package mapper

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

func init() {
	component.RegisterMapper("compose", "Applies several mappers, one after another, as one node: only what is left in the end is computed and kept.",
		func(env *component.Env, p Compose) (dataset.Mapper, error) { return p.Mapper(env) })
}

// Compose applies mappers one after another. See [dataset.Compose].
type Compose struct {
	Steps []component.Step `param:"steps,required" doc:"mappers with their parameters, the first one first: {map: NAME, with: {...}}"`
}

// Mapper returns the mapper.
func (m Compose) Mapper(env *component.Env) (dataset.Mapper, error) {
	steps := make([]dataset.Mapper, len(m.Steps))
	for i, s := range m.Steps {
		var err error
		if steps[i], err = s.Mapper(env); err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i, s.Component.Name, err)
		}
	}
	return dataset.Compose(steps...)
}

// oneItem is a sample with a single item, what most makers return.
func oneItem(name, ext string, v any) dataset.Sample {
	return dataset.NewSample(dataset.Field{Key: name, Item: dataset.NewItem(ext, v)})
}

// first returns the first of its arguments that is not empty.
func first(names ...string) string {
	if i := slices.IndexFunc(names, func(s string) bool { return s != "" }); i >= 0 {
		return names[i]
	}
	return ""
}

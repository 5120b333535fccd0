// Package mapper provides the mappers of Larder, which compute one sample from another.
//
// Each is a component (package component): image-resize in a flow file, larder map
// image-resize on the command line, and in Go its parameter struct, [ImageResize],
// which a flow.Builder accepts. A missing string or list means its default; the builder
// sets defaults of numbers, too.
//
// There are two kinds. A mapper that renames, drops, shares or duplicates items reads
// nothing and is itself a [dataset.Mapper]. A mapper that computes has a method Transform,
// which returns a [dataset.Transform]. It declares which items it reads and makes, so its
// results depend on these alone. They are computed when an item is requested, and
// cached under a key that covers all parameters. The key of a random mapper includes a
// seed, an epoch and the sample, so it gives the same on every run. The key of [Exec]
// covers the words, code files and variables of its command.
//
// Check refuses invalid parameters before anything is read. An error names the item;
// package dataset adds the sample. Mappers are immutable and safe for concurrent use.
//
// No mapper caches items, because an item is read only once while its sample exists,
// however samples are derived from each other.
package mapper

import (
	"fmt"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

func init() {
	component.RegisterMapper("compose", "Applies several mappers in order, as one node; only items of the final sample are computed and cached.",
		func(env *component.Env, p Compose) (dataset.Mapper, error) { return p.Mapper(env) })
}

// Compose applies mappers one after another. See [dataset.Compose].
type Compose struct {
	Steps []component.Step `param:"steps,required" doc:"mappers with their parameters, in order: {map: NAME, with: {...}}"`
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

// oneItem returns a sample with a single item, the result of most transforms.
func oneItem(name, ext string, v any) dataset.Sample {
	return dataset.NewSample(dataset.Field{Key: name, Item: dataset.NewItem(ext, v)})
}

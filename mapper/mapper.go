// Package mapper holds the mappers that come with Larder: what makes one sample
// from another.
//
// Each is a component (package component) of its name: image-resize in a flow
// file, larder map image-resize on the command line, and in Go its parameter
// struct, [ImageResize], which a flow.Builder takes. A text or a list that is
// not given stands for its default; the builder gives numbers theirs, too.
//
// There are two sorts. A mapper that names, drops, shares or doubles items reads
// nothing and is a [dataset.Mapper] by itself. One that
// computes is a [dataset.Maker], as its method Maker returns it: it declares
// which items it reads and makes, so its results depend on these alone, are kept
// under a key that covers all its parameters, and are computed when an item is
// asked for. One that draws random numbers has a seed, an epoch and the sample
// in its key, and gives the same on every run. [Exec] runs a command, and its
// key covers the words, code files and variables of that.
//
// Check, where there is one, refuses parameters that cannot be right before
// anything is read. An error in a sample names the item; which sample it was is
// said by package dataset. Mappers do not change and may be used by many
// goroutines.
//
// There is none that caches items: an item is read once as long as its sample
// lives, in whatever way samples are made from each other.
package mapper

import (
	"fmt"

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

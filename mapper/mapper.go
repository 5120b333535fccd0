// Package mapper holds the mappers that come with Larder. Each is a component
// of its name; its parameter struct makes the same mapper in Go.
package mapper

import (
	"context"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

func init() {
	component.RegisterMapper("rename", "Gives items other names, all at once, so that names can be swapped.",
		func(_ *component.Env, p Rename) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("keep-keys", "Passes on only the named items.",
		func(_ *component.Env, p KeepKeys) (dataset.Mapper, error) { return p, nil })
	component.RegisterMapper("drop-keys", "Passes on all but the named items.",
		func(_ *component.Env, p DropKeys) (dataset.Mapper, error) { return p, nil })
}

// Rename gives items other names. It reads nothing.
type Rename struct {
	Names map[string]string `param:"names,required" doc:"old name to new name; names that are not there are ignored"`
}

// Map implements dataset.Mapper.
func (m Rename) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Rename(m.Names)
}

// KeepKeys passes on only the named items. It reads nothing.
type KeepKeys struct {
	Keys []string `param:"keys,required" doc:"items to pass on; those that are not there are ignored"`
}

// Map implements dataset.Mapper.
func (m KeepKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Only(m.Keys...), nil
}

// DropKeys passes on all but the named items. It reads nothing.
type DropKeys struct {
	Keys []string `param:"keys,required" doc:"items to drop; those that are not there are ignored"`
}

// Map implements dataset.Mapper.
func (m DropKeys) Map(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
	return s.Without(m.Keys...), nil
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

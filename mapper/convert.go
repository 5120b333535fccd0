package mapper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("convert", "Converts items to other formats; items in the right format stay unchanged.",
		func(_ *component.Env, p Convert) (dataset.Mapper, error) { return p.Transform() })
}

// Convert encodes items in other formats. Items that already have the extension, or
// another extension of the same format, keep their bytes.
type Convert struct {
	To      map[string]string `param:"to,required" doc:"item to its new extension, such as {image: png}"`
	Missing string            `param:"missing" doc:"what to do if an item is missing" default:"ignore" enum:"ignore|error"`
}

// Check refuses extensions without an encoder.
func (m Convert) Check() error {
	if len(m.To) == 0 {
		return errors.New("to is empty; name at least one item")
	}
	for _, k := range slices.Sorted(maps.Keys(m.To)) {
		if err := dataset.CheckExt(m.To[k]); err != nil {
			return fmt.Errorf("to.%s: %w", k, err)
		}
	}
	return nil
}

// Transform returns the mapper.
func (m Convert) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	items := slices.Sorted(maps.Keys(m.To))
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "convert", Formats: slices.Sorted(maps.Values(m.To)),
		Params: []key.Param{{Name: "to", Value: m.To}}, PerItem: true,
		Names: func(have []string) (in, out []string) {
			if m.Missing == "error" {
				return items, items
			}
			there := present(items, have)
			return there, there
		},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			out := dataset.Sample{}
			for f := range s.Fields() {
				it, err := dataset.Recode(ctx, f.Item, m.To[f.Key])
				if err != nil {
					return out, fmt.Errorf("item %s: %w", display.Name(f.Key), err)
				}
				out = out.WithItem(f.Key, it)
			}
			return out, nil
		},
	})
}

// present returns those of the items that exist and are not nil.
func present(items, have []string) []string {
	there := []string{}
	for _, k := range items {
		if slices.Contains(have, k) {
			there = append(there, k)
		}
	}
	return there
}

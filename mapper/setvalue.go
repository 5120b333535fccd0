package mapper

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("set-value", "Sets an item, or a value inside a document, to a constant.",
		func(_ *component.Env, p SetValue) (dataset.Mapper, error) { return p.Transform() })
}

// SetValue sets an item, or a value in a document, to a fixed value. A changed document
// keeps its format, and a shared item stays shared. Missing containers on the path are
// created: see [dataset.Sample.Set].
type SetValue struct {
	Key    string `param:"key,required" doc:"an item, or a path into one: label, metadata.color, boxes[0].x, boxes.-1"`
	Value  any    `param:"value,required" doc:"the value: string, number, true, false, null, list or map"`
	Format string `param:"format" doc:"format of an item that is new or replaced as a whole" default:"json"`
}

// Check refuses an invalid path and an unknown format.
func (m SetValue) Check() error {
	if _, err := dataset.ParsePath(m.Key); err != nil {
		return err
	}
	return dataset.CheckExt(cmp.Or(m.Format, "json"))
}

// Transform returns the mapper.
func (m SetValue) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	path, err := dataset.ParsePath(m.Key)
	if err != nil {
		return nil, err
	}
	format := cmp.Or(m.Format, "json")
	return setter(path, m.Key, dataset.NewItem("json", document(m.Value)), format)
}

// setter returns the mapper that sets the value at a path, given also as a string, to
// the value of an item.
func setter(path dataset.Path, text string, of *dataset.Item, format string) (dataset.Transform, error) {
	value, err := of.Value(context.Background())
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "set-value", Formats: []string{format},
		Params: []key.Param{{Name: "key", Value: text}, {Name: "value", Value: value}, {Name: "format", Value: format}},
		Names: func(have []string) (in, out []string) {
			if path.Inside() && slices.Contains(have, path.Item) {
				return []string{path.Item}, []string{path.Item}
			}
			return []string{}, []string{path.Item}
		},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			return s.SetAll(ctx, format, dataset.Setting{Path: path, Value: value})
		},
	})
}

// document converts the value of a parameter to the types that documents decode to.
func document(v any) any {
	switch v := v.(type) {
	case []component.Entry:
		m := make(map[string]any, len(v))
		for _, e := range v {
			m[e.Key] = document(e.Value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = document(e)
		}
		return list
	case int:
		return int64(v)
	}
	return v
}

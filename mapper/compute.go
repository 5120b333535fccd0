package mapper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("compute", "Sets items, or values inside documents, to the results of expressions over the items of the sample.",
		func(_ *component.Env, p Compute) (dataset.Mapper, error) { return p.Transform() })
}

// Compute sets items, and values in documents, to the results of expressions. It
// evaluates all expressions over the input sample, so none depends on another, and then
// sets the values in the order of their paths. It reads only the items that the
// expressions name and those that it changes inside.
//
// A changed document keeps its format and all other values. Missing containers on a
// path are created: see [dataset.Sample.Set]. A value must fit into a document: a
// string, a finite number, true, false, null, or a list or map of these.
type Compute struct {
	Set    map[string]string `param:"set,required" doc:"item, or path into one, to its expression: {metadata.area: metadata.w * metadata.h}"`
	Format string            `param:"format" doc:"format of an item that is new or replaced as a whole" default:"json"`
}

// A formula is an expression and the path that it sets.
type formula struct {
	path  dataset.Path
	value *expr.Expression
}

// Check refuses invalid paths and expressions, paths that contain each other, and
// unknown formats.
func (m Compute) Check() error {
	if len(m.Set) == 0 {
		return errors.New("set is empty; name an item and an expression, such as {area: w * h}")
	}
	formulas, err := formulasOf(m.Set)
	if err != nil {
		return err
	}
	for i, f := range formulas {
		for _, other := range formulas[:i] {
			if other.path.Leads(f.path) || f.path.Leads(other.path) {
				return fmt.Errorf("set: %s and %s overlap; remove one of them", other.path, f.path)
			}
		}
	}
	return dataset.CheckExt(cmp.Or(m.Format, "json"))
}

func formulasOf(set map[string]string) ([]formula, error) {
	var all []formula
	for _, text := range slices.Sorted(maps.Keys(set)) {
		path, err := dataset.ParsePath(text)
		if err != nil {
			return nil, fmt.Errorf("set: %w", err)
		}
		value, err := expr.Compile(set[text])
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", text, err)
		}
		all = append(all, formula{path, value})
	}
	return all, nil
}

// Transform returns the mapper.
func (m Compute) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	return computer(m.Set, cmp.Or(m.Format, "json"))
}

// settings lists the settings by name.
func settings(set map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all = append(all, name+" = "+set[name])
	}
	return strings.Join(all, ", ")
}

// computer returns the mapper. It parses the expressions here, so that the parser's
// code is part of the identity.
func computer(set map[string]string, format string) (dataset.Transform, error) {
	formulas, err := formulasOf(set)
	if err != nil {
		return nil, err
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "compute", Detail: settings(set), Formats: []string{format},
		// Params contains the source of the expressions. The evaluator, whose code
		// counts by its version, does not modify them; code analysis cannot prove this.
		Pure:   []string{"github.com/larder-data/larder/mapper.formulas"},
		Params: []key.Param{{Name: "set", Value: set}, {Name: "format", Value: format}},
		Names:  func(have []string) (in, out []string) { return namesOf(formulas, have) },
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			settings := make([]dataset.Setting, len(formulas))
			for i, f := range formulas {
				v, err := f.value.Eval(ctx, s)
				if err == nil {
					v, err = expr.Document(v)
				}
				if err != nil {
					return dataset.Sample{}, fmt.Errorf("set %s: %w", f.path, err)
				}
				settings[i] = dataset.Setting{Path: f.path, Value: v}
			}
			return s.SetAll(ctx, format, settings...)
		},
	})
}

// namesOf returns the items that formulas read and set in a sample with the given
// items.
func namesOf(formulas []formula, have []string) (in, out []string) {
	in = []string{}
	note := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, f := range formulas {
		for _, name := range f.value.Reads() {
			if slices.Contains(have, name) || !slices.Contains(f.value.May(), name) {
				note(&in, name)
			}
		}
		if f.path.Inside() && slices.Contains(have, f.path.Item) {
			note(&in, f.path.Item)
		}
		note(&out, f.path.Item)
	}
	return in, out
}

package columns

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
)

// values is the dataset of the item values of samples, for columns.
type values struct {
	in       component.Samples
	ranges   *dataset.Ranges
	node     string
	declared map[string]*Kind
}

// A valued is an item of a sample, and its value.
type valued struct {
	name  string
	value any
}

func (v *values) Len() int   { return v.in.Len() }
func (v *values) Batch() int { return dataset.BatchOf(v.in) }

func (v *values) At(ctx context.Context, i int) ([]valued, error) {
	s, err := v.in.At(ctx, i)
	if err != nil {
		return nil, err
	}
	return v.of(ctx, i, s)
}

// Range computes samples together.
func (v *values) Range(ctx context.Context, from, to int) (all [][]valued, err error) {
	samples, err := v.ranges.Range(ctx, from, to)
	for i, s := range samples {
		row, rerr := v.of(ctx, from+i, s)
		if rerr != nil {
			return all, rerr
		}
		all = append(all, row)
	}
	return all, err
}

func (v *values) of(ctx context.Context, i int, s dataset.Sample) (all []valued, err error) {
	for f := range s.Fields() {
		value, err := v.value(ctx, f)
		if err != nil {
			return nil, &dataset.SampleError{Node: v.node, Index: i, Err: fmt.Errorf("item %s: %w", display.Name(f.Key), err)}
		}
		all = append(all, valued{f.Key, value})
	}
	return all, nil
}

// value returns the value of an item. If its column has a declared type, that selects
// bytes or JSON.
func (v *values) value(ctx context.Context, f dataset.Field) (any, error) {
	k := v.declared[f.Key]
	value, err := valueOf(ctx, f.Item)
	switch {
	case err != nil || k == nil:
		return value, err
	case k.Of == "binary" && value != nil:
		return f.Item.Bytes(ctx)
	case k.Of == "json" && value != nil: // null is a null of the column
		if a, ok := value.(*array.Array); ok {
			value = Lists(a) // numbers of a document
		}
		return dataset.NewItem("json", value).Bytes(ctx)
	}
	return value, nil
}

// ordered has values in the order of columns, with all items.
type ordered struct {
	*values
	names []string
}

func (o *ordered) At(ctx context.Context, i int) ([]any, error) {
	row, err := o.values.At(ctx, i)
	if err != nil {
		return nil, err
	}
	return o.order(i, row)
}

// Range computes samples together.
func (o *ordered) Range(ctx context.Context, from, to int) (all [][]any, err error) {
	rows, err := o.values.Range(ctx, from, to)
	for i, r := range rows {
		row, rerr := o.order(from+i, r)
		if rerr != nil {
			return all, rerr
		}
		all = append(all, row)
	}
	return all, err
}

func (o *ordered) order(i int, row []valued) ([]any, error) {
	to := make([]any, len(o.names))
next:
	for _, f := range row {
		for k, name := range o.names {
			if name == f.name {
				to[k] = f.value
				continue next
			}
		}
		return nil, &dataset.SampleError{Node: o.node, Index: i, Err: component.Unfit(fmt.Errorf("item %s is missing in types and in the first sample; add it to types", display.Name(f.name)))}
	}
	return to, nil
}

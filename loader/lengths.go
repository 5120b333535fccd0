package loader

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/expr"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// LengthOptions say how the lengths of samples are found.
type LengthOptions struct {
	// Item is the item to measure: the first dimension of an array or a list,
	// the number of bytes of text and bytes, the pixels of an image. An integer
	// is itself the length.
	Item string
	// Expression computes the length instead, such as metadata.tokens or
	// len(text).
	Expression string
	Larder     *larder.Larder // caches the lengths for the next run; nil caches nothing
	Pool       *pool.Pool     // bounds the concurrency
}

// Lengths returns the lengths of all samples of a dataset, for [Part]. One pass
// finds them and caches them as one record, so the next run over the same
// samples reads none of them.
func Lengths(ctx context.Context, ds Data, o LengthOptions) ([]int, error) {
	scan := dataset.Scan[int64]{Pool: o.Pool, Larder: o.Larder}
	if err := o.measure(ctx, &scan); err != nil {
		return nil, fmt.Errorf("loader: lengths: %w", err)
	}
	found, err := scan.Run(ctx, ds)
	if err != nil {
		return nil, fmt.Errorf("loader: lengths: %w", err)
	}
	lengths := make([]int, len(found))
	for i, n := range found {
		lengths[i] = int(n)
	}
	return lengths, nil
}

// measure sets what the scan measures of each sample.
func (o LengthOptions) measure(ctx context.Context, scan *dataset.Scan[int64]) (err error) {
	if o.Item != "" == (o.Expression != "") {
		return errors.New("name an item or an expression, and not both")
	}
	value := func(ctx context.Context, s dataset.Sample) (any, error) { return s.Value(ctx, o.Item) }
	code, from, what := lengthCode, o.Item, "item "+o.Item
	scan.Reads = []string{o.Item}
	if o.Expression != "" {
		e, err := expr.Compile(o.Expression)
		if err != nil {
			return err
		}
		id, err := known.CodeOf(ctx, o.Larder, known.Component{
			Functions: []any{expr.Compile, (*expr.Expression).Eval},
			Declared:  analysis.Declared{Values: true, Through: []string{"github.com/larder-data/larder/dataset"}},
		})
		if err != nil {
			return err
		}
		value, scan.Reads, scan.May = e.Eval, e.Reads(), e.May()
		code, from, what = id.Code, e.Text(), "expression "+expr.Brief(e.Text())
	}
	scan.Each = func(ctx context.Context, s dataset.Sample) (int64, error) {
		v, err := value(ctx, s)
		if err != nil {
			return 0, err
		}
		n, ok := lengthOf(v)
		if !ok || n < 0 {
			return 0, fmt.Errorf("%s has no length; text, bytes, lists, arrays, images and integers have one", what)
		}
		return n, nil
	}
	scan.Op, err = key.NewOp("loader-lengths", code, key.Param{Name: "of", Value: from}, key.Param{Name: "expression", Value: o.Expression != ""}, key.Param{Name: "lengths", Value: lengthVersion})
	return err
}

// lengthVersion must change when lengthOf returns other lengths.
const lengthVersion = "1"

var lengthCode = key.Version(lengthVersion)

// lengthOf returns the length of a value.
func lengthOf(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int: // from an expression
		return int64(v), true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case string:
		return int64(len(v)), true
	case []byte:
		return int64(len(v)), true
	case []any:
		return int64(len(v)), true
	case *array.Array:
		if len(v.Shape) > 0 {
			return int64(v.Shape[0]), true
		}
	case image.Image:
		return int64(v.Bounds().Dx()) * int64(v.Bounds().Dy()), true
	}
	return 0, false
}

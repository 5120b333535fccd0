package loader

import (
	"context"
	"fmt"
	"image"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// LengthOptions say how the lengths of samples are found.
type LengthOptions struct {
	// Item is what is measured: of an array or a list its first dimension, of text and
	// bytes the number of bytes, of an image its pixels. A whole number is a length by
	// itself.
	Item   string
	Larder *larder.Larder // keeps the lengths for the next run; nil: nothing is kept
	Pool   *pool.Pool     // bounds what is read at once
}

// Lengths returns the lengths of all samples of a dataset, for [Part]. They are found in
// one pass, which is kept as one record, so the next run over the same samples reads
// none of them.
func Lengths(ctx context.Context, ds Data, o LengthOptions) ([]int, error) {
	op, err := key.NewOp("loader-lengths", key.Version("1"), key.Param{Name: "item", Value: o.Item})
	if err != nil {
		return nil, err
	}
	found, err := dataset.Scan[int64]{
		Op: op, Reads: []string{o.Item}, Pool: o.Pool, Larder: o.Larder,
		Each: func(ctx context.Context, s dataset.Sample) (int64, error) {
			v, err := s.Value(ctx, o.Item)
			if err != nil {
				return 0, err
			}
			n, ok := lengthOf(v)
			if !ok || n < 0 {
				return 0, fmt.Errorf("item %s has no length; text, bytes, lists, arrays, images and whole numbers have one", o.Item)
			}
			return n, nil
		},
	}.Run(ctx, ds)
	if err != nil {
		return nil, fmt.Errorf("loader: lengths: %w", err)
	}
	lengths := make([]int, len(found))
	for i, n := range found {
		lengths[i] = int(n)
	}
	return lengths, nil
}

// lengthOf is the length of a value.
func lengthOf(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
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

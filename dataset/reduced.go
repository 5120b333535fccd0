package dataset

import (
	"context"
	"fmt"
	"image"
)

// Reduced returns an image that may be read at 1/2, 1/4 or 1/8 of its sides, as long
// as that leaves those of least, and the size of the whole. Formats of which less than
// the whole is not read sooner are read whole: of these it is [Item.Value]. What is
// read in part is not remembered, as it is not the value; and it depends on the item's
// bytes and on least alone.
func (it *Item) Reduced(ctx context.Context, least image.Point) (v any, whole image.Point, err error) {
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, whole, err
	}
	c := codecFor(ext)
	if c.Reduce == nil {
		v, err = it.Value(ctx)
		if img, ok := v.(image.Image); ok {
			whole = img.Bounds().Size()
		}
		return v, whole, err
	}
	b, err := it.Bytes(ctx)
	if err != nil {
		return nil, whole, err
	}
	done, err := takeIn(ctx, claims(c, b))
	if err != nil {
		return nil, whole, err
	}
	defer done()
	if v, whole, err = c.Reduce(b, least); err != nil {
		return nil, whole, fmt.Errorf("%s: %w", Describe(it.origin), err)
	}
	return v, whole, nil
}

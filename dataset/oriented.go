package dataset

import (
	"context"
	"image"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/timing"
)

// Oriented returns the Exif orientation of an encoded image (see [codec.Orientation]), and
// the image as it is stored if it must be turned for display. img is nil if the
// orientation is [codec.Upright], or if the item is not an image. Only the bytes of the
// item determine the result.
func (it *Item) Oriented(ctx context.Context) (img image.Image, orientation int, err error) {
	if o, ok := it.origin.(interface {
		item(ctx context.Context) (*Item, error)
	}); ok { // computed or created on demand
		inner, err := o.item(ctx)
		if err != nil {
			return nil, codec.Upright, err
		}
		return inner.Oriented(ctx)
	}
	if _, ok := it.origin.(*memory); ok { // encoders write no orientation
		return nil, codec.Upright, nil
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, codec.Upright, err
	}
	b, free, err := it.borrowBytes(ctx)
	if err != nil {
		return nil, codec.Upright, err
	}
	defer free()
	c := codecFor(ext)
	orientation = codec.Orientation(b)
	if orientation == codec.Upright || c.Name == codec.Raw.Name {
		return nil, codec.Upright, nil
	}
	done, err := takeIn(ctx, claims(c, b))
	if err != nil {
		return nil, codec.Upright, err
	}
	defer done()
	_, leave := timing.Enter(ctx, timing.Decode, c.Name)
	defer leave()
	v, err := c.Decode(b)
	if err != nil {
		return nil, codec.Upright, notDecoded(ctx, it.origin, err)
	}
	if img, ok := v.(image.Image); ok {
		return img, orientation, nil
	}
	return nil, codec.Upright, nil // several pages
}

package codec

import "image"

// Borrow is Reduce, or Decode if least is zero, into reusable memory. The caller calls done
// once, when it no longer uses the image; other images may then be read into the memory.
// done is nil only if err is not. The size of the whole is zero for values that are not
// images.
func (c Codec) Borrow(b []byte, least image.Point) (v any, whole image.Point, done func(), err error) {
	decode, reduce := c.Decode, c.Reduce
	if c.borrowFunc != nil {
		if v, whole, done, ok := c.borrow(b, least); ok {
			return v, whole, done, nil
		}
		decode, reduce = c.own, c.ownReduce
	}
	if least != (image.Point{}) {
		v, whole, err = reduce(b, least)
	} else if v, err = decode(b); err == nil {
		if img, ok := v.(image.Image); ok {
			whole = img.Bounds().Size()
		}
	}
	return v, whole, func() {}, err
}

// borrow borrows an image from the library.
func (c Codec) borrow(b []byte, least image.Point) (img image.Image, whole image.Point, done func(), ok bool) {
	config, err := guarded(func() (image.Config, error) { return c.header(b) })
	if err != nil {
		return nil, whole, nil, false
	}
	whole = image.Pt(config.Width, config.Height)
	by := 1
	if least != (image.Point{}) {
		by = reduction(whole, least)
	}
	img, done, ok = c.borrowFunc(b, config, by)
	return img, whole, done, ok
}

package codec

import (
	"fmt"
	"image"
)

// A Library decodes the images of a format with a library of the machine in place of this
// package's decoder, and may encode them. It may be faster and round differently.
type Library struct {
	// Format is the name of the codec.
	Format string
	// ID identifies the library, its exact bytes, and the version of Decode. It is part of
	// the codec's ID, and so of keys.
	ID string
	// Decode reads an image with the header config and an allowed number of pixels. ok is
	// false if the library would read it differently, or finds any fault: then the codec's
	// own decoder reads it or reports the error. Decode does not change b.
	Decode func(b []byte, config image.Config) (img image.Image, ok bool)
	// Reduce is Decode with sides divided by 2, 4 or 8 and rounded up; nil if the library
	// reads only the full size.
	Reduce func(b []byte, config image.Config, by int) (img image.Image, ok bool)
	// Borrow is Decode, or Reduce if by is 2, 4 or 8, into memory that is reused once done
	// was called; nil if there is no such memory.
	Borrow func(b []byte, config image.Config, by int) (img image.Image, done func(), ok bool)
	// Encode writes an image of an allowed number of pixels, with a quality from 1 to 100,
	// as the codec does except for rounding; nil if the library only reads. Equal images
	// give equal bytes. ok is false if the library would write it differently: then the
	// codec's own encoder writes it or reports the error.
	Encode func(img image.Image, quality int) (b []byte, ok bool)
}

// Use makes a library decode a format. Like [Register], call it before the first lookup,
// and once per format.
func Use(l Library) error {
	registry.Lock()
	defer registry.Unlock()
	if registry.frozen {
		return fmt.Errorf("codec: %s: library %s registered after the first use of the registry; register from an init function", l.Format, l.ID)
	}
	if l.ID == "" || l.Decode == nil {
		return fmt.Errorf("codec: %s: a library needs an ID and Decode", l.Format)
	}
	for i, c := range registry.codecs {
		if c.Name != l.Format {
			continue
		}
		if c.header == nil {
			break
		}
		if c.Library != "" {
			return fmt.Errorf("codec: %s: library %s is in use", c.Name, c.Library)
		}
		c.Library, c.own, c.Decode = l.ID, c.Decode, decodeBy(l.Decode, c.header, c.Decode)
		if l.Reduce != nil && c.Reduce != nil {
			c.ownReduce, c.Reduce = c.Reduce, reduceBy(l.Reduce, c.header, c.Decode, c.Reduce)
		}
		if c.Reduce != nil {
			c.borrowFunc = l.Borrow
		}
		if l.Encode != nil && c.raster != nil {
			c.ownWrite, c.Encode = c.Encode, encodeBy(l.Encode, c.raster, c.Encode)
		}
		registry.codecs[i] = c
		return nil
	}
	return fmt.Errorf("codec: unknown format %q for a library", l.Format)
}

// decodeBy returns a decoder that uses a library, or else the codec's own decoder.
func decodeBy(library func([]byte, image.Config) (image.Image, bool), header func([]byte) (image.Config, error), own func([]byte) (any, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		if config, err := guarded(func() (image.Config, error) { return header(b) }); err == nil {
			if img, ok := library(b, config); ok {
				return img, nil
			}
		}
		return own(b)
	}
}

// encodeBy returns an encoder that uses a library, or else the codec's own encoder.
func encodeBy(library func(img image.Image, quality int) ([]byte, bool), raster func(image.Image) image.Image, own func(any) ([]byte, error)) func(any) ([]byte, error) {
	return func(v any) ([]byte, error) {
		img, err := guarded(func() (image.Image, error) {
			img, err := imageOf(v)
			if err == nil {
				err = checkSize(img.Bounds().Dx(), img.Bounds().Dy())
			}
			if err != nil {
				return nil, err
			}
			return raster(img), nil
		})
		if err == nil {
			if b, ok := library(img, jpegQuality); ok {
				return b, nil
			}
		}
		return own(v)
	}
}

// reduceBy returns a reducer that uses a library, or else the codec's own decoder.
func reduceBy(library func(b []byte, c image.Config, by int) (image.Image, bool), header func([]byte) (image.Config, error), whole func([]byte) (any, error), own func([]byte, image.Point) (any, image.Point, error)) func([]byte, image.Point) (any, image.Point, error) {
	return func(b []byte, least image.Point) (any, image.Point, error) {
		config, err := guarded(func() (image.Config, error) { return header(b) })
		if err != nil {
			return own(b, least)
		}
		size := image.Pt(config.Width, config.Height)
		by := reduction(size, least)
		if by == 1 {
			v, err := whole(b)
			return v, size, err
		}
		if img, ok := library(b, config, by); ok {
			return img, size, nil
		}
		return own(b, least)
	}
}

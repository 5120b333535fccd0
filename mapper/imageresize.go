package mapper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"golang.org/x/image/draw"
)

func init() {
	component.RegisterMapper("image-resize", "Scales an image; with only one side given, the aspect ratio is preserved.",
		func(_ *component.Env, p ImageResize) (dataset.Mapper, error) { return p.Transform() }).Images = true
}

// ImageResize scales an image. Filters that blend use every pixel of the original, so
// that shrinking does not alias. Their results have the channels and the depth of the
// image, except that palette and CMYK images become RGB, or RGBA for a palette with
// alpha. The filter nearest leaves pixels unchanged, as in [ImageCrop], which masks
// require.
type ImageResize struct {
	Item    string `param:"item" doc:"the image" default:"image"`
	Into    string `param:"into" doc:"the item to write; the image itself by default"`
	Width   int    `param:"width" doc:"width of the result; 0 to preserve the aspect ratio"`
	Height  int    `param:"height" doc:"height of the result; 0 to preserve the aspect ratio"`
	Shorter int    `param:"shorter" doc:"shorter side of the result, instead of width and height"`
	Longer  int    `param:"longer" doc:"longer side of the result, instead of width and height"`
	Filter  string `param:"filter" doc:"interpolation: box, bilinear, catmull-rom (bicubic) and lanczos blend 1, 2, 4 and 6 pixels; nearest copies one" default:"bilinear" enum:"nearest|box|bilinear|catmull-rom|lanczos"`
	Reduce  int    `param:"reduce" doc:"decode a JPEG faster, at 1/2, 1/4 or 1/8 of its size, if each side stays at least this many times the result's; 2 or more for little difference, 0 to decode the full size" default:"0"`
	Format  string `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
}

func filterOf(name string) *draw.Kernel {
	switch name {
	case "box":
		return &draw.Kernel{Support: 0.5 + 1e-9, At: func(float64) float64 { return 1 }} // the kernel excludes the end of its support
	case "catmull-rom":
		return draw.CatmullRom
	case "lanczos":
		return &draw.Kernel{Support: 3, At: func(t float64) float64 { return sinc(t) * sinc(t/3) }}
	}
	return draw.BiLinear
}

func sinc(t float64) float64 {
	if t == 0 {
		return 1
	}
	return math.Sin(math.Pi*t) / (math.Pi * t)
}

// Check refuses invalid sizes.
func (m ImageResize) Check() error {
	for _, side := range []struct {
		name string
		size int
	}{{"width", m.Width}, {"height", m.Height}, {"shorter", m.Shorter}, {"longer", m.Longer}} {
		if side.size < 0 || side.size > maxSide {
			return fmt.Errorf("%s is %d; give 0 to %d", side.name, side.size, maxSide)
		}
	}
	ways := 0
	for _, given := range []bool{m.Width > 0 || m.Height > 0, m.Shorter > 0, m.Longer > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return errors.New("width and height are missing; give one of them, or shorter, or longer")
	case ways > 1:
		return errors.New("the size is given twice; give width and height, or shorter, or longer")
	}
	if m.Reduce < 0 || m.Reduce > maxReduce {
		return fmt.Errorf("reduce is out of range; give 0 to %d", maxReduce)
	}
	if m.Reduce > 0 && m.Filter == "nearest" {
		return errors.New("reduce cannot be combined with filter nearest; set reduce to 0")
	}
	return nil
}

// maxReduce bounds the image after reduced decoding, as a multiple of the result.
const maxReduce = 64

// Transform returns the mapper.
func (m ImageResize) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	m.Item, m.Filter, m.Format = cmp.Or(m.Item, "image"), cmp.Or(m.Filter, "bilinear"), cmp.Or(m.Format, "png")
	into := cmp.Or(m.Into, m.Item)
	if err := m.checkFilter(); err != nil {
		return nil, fmt.Errorf("image-resize: %w", err)
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "image-resize", Formats: []string{m.Format},
		Params: []key.Param{
			{Name: "into", Value: into}, {Name: "width", Value: m.Width}, {Name: "height", Value: m.Height},
			{Name: "shorter", Value: m.Shorter}, {Name: "longer", Value: m.Longer}, {Name: "filter", Value: m.Filter}, {Name: "reduce", Value: m.Reduce}, {Name: "format", Value: m.Format},
		},
		In: []string{m.Item}, Out: []string{into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			img, whole, done, err := m.image(ctx, s)
			if err != nil {
				return dataset.Sample{}, err
			}
			defer done() // the result shares no memory with it
			out, err := m.scale(img, whole)
			if err != nil {
				return dataset.Sample{}, err
			}
			return oneItem(into, m.Format, out), nil
		},
	})
}

func (m ImageResize) checkFilter() error {
	if filters := []string{"box", "bilinear", "catmull-rom", "lanczos", "nearest"}; !slices.Contains(filters, m.Filter) {
		return fmt.Errorf("unknown filter %q%s", m.Filter, component.Suggest(m.Filter, filters))
	}
	return nil
}

// image borrows the image, which may be decoded at reduced size, and returns the size
// of the original.
func (m ImageResize) image(ctx context.Context, s dataset.Sample) (image.Image, image.Point, func(), error) {
	it, err := s.Item(m.Item)
	if err != nil {
		return nil, image.Point{}, nil, err
	}
	side := max(m.Shorter, m.Longer) // the longer side bounds both
	v, whole, done, err := it.Borrow(ctx, image.Pt(m.Reduce*max(m.Width, side), m.Reduce*max(m.Height, side)))
	if err != nil {
		return nil, image.Point{}, nil, err
	}
	img, ok := v.(image.Image)
	if !ok {
		done()
		return nil, image.Point{}, nil, notImage(m.Item, v)
	}
	return img, whole, done, nil
}

// scale scales an image whose original has size whole.
func (m ImageResize) scale(img image.Image, whole image.Point) (image.Image, error) {
	b := img.Bounds()
	if b.Empty() {
		return nil, errors.New("the image is empty")
	}
	w, h := m.size(whole)
	if err := checkSize(w, h); err != nil {
		return nil, err
	}
	if m.Filter == "nearest" {
		return rasterOf(img).nearest(w, h), nil
	}
	filter := filterOf(m.Filter)
	if out, ok := resampled(img, w, h, filter); ok {
		return out, nil
	}
	r := image.Rect(0, 0, w, h)
	dst := canvas(img, r)
	filter.Scale(dst, r, img, b, draw.Src, nil)
	return sealed(dst), nil
}

// size returns the size of the result. With a shorter or longer side, the other is rounded
// down, as Resize of torchvision does.
func (m ImageResize) size(whole image.Point) (w, h int) {
	side := m.Shorter
	if m.Longer > 0 {
		side = m.Longer
	}
	switch w, h = m.Width, m.Height; {
	case side > 0 && (whole.X <= whole.Y) == (m.Shorter > 0):
		return side, max(1, side*whole.Y/whole.X)
	case side > 0:
		return max(1, side*whole.X/whole.Y), side
	case w == 0:
		w = max(1, (whole.X*h+whole.Y/2)/whole.Y)
	case h == 0:
		h = max(1, (whole.Y*w+whole.X/2)/whole.X)
	}
	return w, h
}

// canvas returns the target image for blending img, with the channels of img.
func canvas(img image.Image, r image.Rectangle) draw.Image {
	if _, inks := img.(*image.CMYK); inks {
		return image.NewRGBA(r)
	}
	switch n, depth := array.Channels(img); {
	case n == 1 && depth == array.Uint8:
		return image.NewGray(r)
	case n == 1:
		return image.NewGray16(r)
	case n == 2 && depth == array.Uint8:
		return array.NewGrayAlpha(r)
	case n == 2:
		return array.NewGrayAlpha16(r)
	case n == 3 && depth == array.Uint8:
		return image.NewRGBA(r)
	case n == 3:
		return image.NewRGBA64(r)
	case depth == array.Uint8:
		return image.NewNRGBA(r)
	}
	return image.NewNRGBA64(r)
}

// sealed makes colour without alpha opaque, which blending may miss by a rounding
// error.
func sealed(img draw.Image) image.Image {
	switch img := img.(type) {
	case *image.RGBA:
		for i := 3; i < len(img.Pix); i += 4 {
			img.Pix[i] = 255
		}
	case *image.RGBA64:
		for i := 6; i < len(img.Pix); i += 8 {
			img.Pix[i], img.Pix[i+1] = 255, 255
		}
	}
	return img
}

package mapper

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"golang.org/x/image/draw"
)

func init() {
	component.RegisterMapper("image-resize", "Scales an image to a size; with only one of width and height the shape is kept.",
		func(_ *component.Env, p ImageResize) (dataset.Mapper, error) { return p.Maker() })
}

// ImageResize scales an image. Filters that blend (bilinear, catmull-rom) take
// in every pixel of the original, so that shrinking does not alias.
type ImageResize struct {
	Item   string `param:"item" doc:"the image" default:"image"`
	Into   string `param:"into" doc:"the item to make; the image itself if not given"`
	Width  int    `param:"width" doc:"columns of the result; 0 to keep the shape"`
	Height int    `param:"height" doc:"rows of the result; 0 to keep the shape"`
	Filter string `param:"filter" doc:"how pixels are blended" default:"bilinear" enum:"nearest|bilinear|catmull-rom"`
	Format string `param:"format" doc:"how the result is encoded" default:"png" enum:"png|jpeg|bmp|tiff"`
}

// maxSide bounds the result: larger is a mistake and would eat memory.
const maxSide = 1 << 16

// Maker returns the mapper.
func (m ImageResize) Maker() (dataset.Maker, error) {
	if m.Width < 0 || m.Height < 0 || m.Width > maxSide || m.Height > maxSide {
		return nil, fmt.Errorf("width and height must be between 0 and %d", maxSide)
	}
	if m.Width == 0 && m.Height == 0 {
		return nil, errors.New("width or height must be given")
	}
	into := first(m.Into, m.Item)
	return dataset.NewMaker(dataset.MakerFunc{
		Name: "image-resize", Code: key.Version("1"),
		Params: []key.Param{
			{Name: "into", Value: into}, {Name: "width", Value: m.Width}, {Name: "height", Value: m.Height},
			{Name: "filter", Value: m.Filter}, {Name: "format", Value: m.Format},
		},
		In: []string{m.Item}, Out: []string{into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			img, err := imageItem(ctx, s, m.Item)
			if err != nil {
				return dataset.Sample{}, err
			}
			out, err := m.scale(img)
			if err != nil {
				return dataset.Sample{}, err
			}
			return oneItem(into, m.Format, out), nil
		},
	})
}

func (m ImageResize) scale(img image.Image) (image.Image, error) {
	b := img.Bounds()
	if b.Empty() {
		return nil, errors.New("the image is empty")
	}
	w, h := m.Width, m.Height
	if w == 0 {
		w = max(1, (b.Dx()*h+b.Dy()/2)/b.Dy())
	}
	if h == 0 {
		h = max(1, (b.Dy()*w+b.Dx()/2)/b.Dx())
	}
	if w > maxSide || h > maxSide {
		return nil, fmt.Errorf("the result would be %d x %d pixels; at most %d a side", w, h, maxSide)
	}
	r := image.Rect(0, 0, w, h)
	dst := canvas(img, r)
	filters := map[string]draw.Scaler{"nearest": draw.NearestNeighbor, "bilinear": draw.BiLinear, "catmull-rom": draw.CatmullRom}
	filters[m.Filter].Scale(dst, r, img, b, draw.Src, nil)
	return dst, nil
}

// canvas is an image of the same kind as img: grey stays grey.
func canvas(img image.Image, r image.Rectangle) draw.Image {
	switch img.(type) {
	case *image.Gray:
		return image.NewGray(r)
	case *image.Gray16:
		return image.NewGray16(r)
	case *image.RGBA64, *image.NRGBA64:
		return image.NewNRGBA64(r)
	default:
		return image.NewNRGBA(r)
	}
}

package mapper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("image-orient", "Turns images by their Exif orientation; upright images stay unchanged.",
		func(_ *component.Env, p ImageOrient) (dataset.Mapper, error) { return p.Transform() }).Images = true
}

// ImageOrient turns images of JPEG, PNG, WebP and TIFF files as the tag Orientation of
// their metadata says. Pixels do not change otherwise. An image that is upright, or says
// nothing, keeps its bytes.
type ImageOrient struct {
	Items  []string `param:"items" doc:"the images, which are replaced" default:"[image]"`
	Format string   `param:"format" doc:"format of a turned image" default:"png" enum:"png|jpeg|bmp|tiff"`
}

// Transform returns the mapper.
func (m ImageOrient) Transform() (dataset.Transform, error) {
	if m.Items == nil {
		m.Items = []string{"image"}
	}
	if len(m.Items) == 0 {
		return nil, errors.New("items must name at least one image")
	}
	m.Format = cmp.Or(m.Format, "png")
	if err := dataset.CheckExt(m.Format); err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "image-orient", Formats: []string{m.Format}, PerItem: true,
		Params: []key.Param{{Name: "format", Value: m.Format}},
		In:     m.Items, Out: m.Items,
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			out := dataset.Sample{}
			for _, k := range m.Items {
				it, err := s.Item(k)
				if err != nil {
					return out, err
				}
				img, orientation, err := it.Oriented(ctx)
				if err != nil {
					return out, err
				}
				if img != nil {
					it = dataset.NewItem(m.Format, rasterOf(img).turn(orientation))
				}
				out = out.WithItem(k, it)
			}
			return out, nil
		},
	})
}

// turn returns an image as it is displayed if it is stored with an orientation.
func (r raster) turn(orientation int) image.Image {
	if orientation >= 5 { // rows are stored as columns
		r = r.transpose()
	}
	columns, rows := false, false
	switch orientation {
	case 2, 6:
		columns = true
	case 3, 7:
		columns, rows = true, true
	case 4, 8:
		rows = true
	}
	return r.flip(columns, rows)
}

// transpose exchanges rows and columns.
func (r raster) transpose() raster {
	out := r.blank(r.height(), r.width())
	for y := range r.height() {
		row := r.row(y)
		for x := range r.width() {
			copy(out.row(x)[y*r.bytes:][:r.bytes], row[x*r.bytes:])
		}
	}
	return out
}

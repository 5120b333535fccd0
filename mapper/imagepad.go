package mapper

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	registerImages[ImagePad]("image-pad", "Adds a border of one colour to images, or enlarges them to a minimum size.")
}

// ImagePad adds a border to images, of given widths or up to a size. Pixels stay
// unchanged, as in [ImageCrop]: a grey image stays grey, and the border gets the grey
// of the colour. A palette gets the colour if it has a free entry; otherwise the image
// becomes RGBA. An opaque image with a border that is not opaque becomes RGBA, too,
// except for grey images, whose border becomes opaque.
type ImagePad struct {
	Items  []string `param:"items" doc:"the images, which are replaced" default:"[image]"`
	Left   int      `param:"left" doc:"columns to add on the left"`
	Top    int      `param:"top" doc:"rows to add at the top"`
	Right  int      `param:"right" doc:"columns to add on the right"`
	Bottom int      `param:"bottom" doc:"rows to add at the bottom"`
	Width  int      `param:"width" doc:"minimum width of the result, instead of left and right; the image is centred"`
	Height int      `param:"height" doc:"minimum height of the result, instead of top and bottom; the image is centred"`
	Color  string   `param:"color" doc:"colour of the border: #rgb, #rrggbb or #rrggbbaa; the # is optional" default:"\"#000000\""`
	Format string   `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
}

// Check refuses invalid sizes and colours.
func (m ImagePad) Check() error {
	for _, n := range []int{m.Left, m.Top, m.Right, m.Bottom, m.Width, m.Height} {
		if n < 0 || n > maxSide {
			return fmt.Errorf("size %d is out of range; give 0 to %d", n, maxSide)
		}
	}
	if m.Width > 0 && m.Left+m.Right > 0 || m.Height > 0 && m.Top+m.Bottom > 0 {
		return errors.New("width excludes left and right, and height excludes top and bottom; remove one kind")
	}
	_, err := parseColor(cmp.Or(m.Color, "#000000"))
	return err
}

// Transform returns the mapper.
func (m ImagePad) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	fill, err := parseColor(cmp.Or(m.Color, "#000000"))
	if err != nil {
		return nil, err
	}
	return images{
		name: "image-pad", items: m.Items, format: m.Format,
		params: []key.Param{
			{Name: "left", Value: m.Left}, {Name: "top", Value: m.Top}, {Name: "right", Value: m.Right}, {Name: "bottom", Value: m.Bottom},
			{Name: "width", Value: m.Width}, {Name: "height", Value: m.Height}, {Name: "color", Value: fill},
		},
		change: func(all []image.Image, _ *rand.Rand) ([]image.Image, error) {
			for _, img := range all {
				size := img.Bounds().Size()
				if err := checkSize(max(size.X+m.Left+m.Right, m.Width), max(size.Y+m.Top+m.Bottom, m.Height)); err != nil {
					return nil, err
				}
			}
			return each(func(img image.Image) image.Image { return m.pad(img, fill) })(all, nil)
		},
	}.transform()
}

func (m ImagePad) pad(img image.Image, fill color.NRGBA) image.Image {
	left, top, right, bottom := m.Left, m.Top, m.Right, m.Bottom
	size := img.Bounds().Size()
	if more := m.Width - size.X; more > 0 {
		left, right = more/2, more-more/2
	}
	if more := m.Height - size.Y; more > 0 {
		top, bottom = more/2, more-more/2
	}
	return rasterOf(img).pad(left, top, right, bottom, fill)
}

// parseColor parses #rgb, #rrggbb or #rrggbbaa.
func parseColor(s string) (color.NRGBA, error) {
	digits := strings.TrimPrefix(s, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	b, err := hex.DecodeString(digits)
	switch {
	case err == nil && len(b) == 3:
		return color.NRGBA{b[0], b[1], b[2], 255}, nil
	case err == nil && len(b) == 4:
		return color.NRGBA{b[0], b[1], b[2], b[3]}, nil
	}
	return color.NRGBA{}, fmt.Errorf("%q is not a colour; write #rgb, #rrggbb or #rrggbbaa, in quotes", s)
}

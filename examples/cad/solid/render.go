package solid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
)

// A Part is one object in a picture.
type Part struct {
	Mesh   Mesh
	Colour color.RGBA // A is ignored
}

// RenderOptions configures [Render].
type RenderOptions struct {
	Width, Height int // in pixels; 0 means 1200 and 900

	// Azimuth and Elevation are the direction of the camera, in degrees. At 0 it looks
	// along the y axis. Azimuth is counter-clockwise seen from above, and Elevation is
	// upward, to at most 90.
	Azimuth, Elevation float64

	Samples int // per pixel and direction, 1 to 4; 0 means 2
}

const maxSamples = 1 << 25 // of a picture: each takes 20 bytes

func (o RenderOptions) view() (view, error) {
	if o.Width < 1 || o.Height < 1 || o.Samples < 1 || o.Samples > 4 || o.Width > maxSamples/o.Height/o.Samples/o.Samples {
		return view{}, fmt.Errorf("solid: a picture of %d by %d pixels with %d² samples each; it has to have some, and at most %d in all",
			o.Width, o.Height, o.Samples, maxSamples)
	}
	if err := checkCoordinates("the camera", o.Azimuth, o.Elevation); err != nil {
		return view{}, err
	}
	if math.Abs(o.Elevation) > 90 {
		return view{}, fmt.Errorf("solid: the camera's elevation is %v degrees; it has to be from -90 to 90", o.Elevation)
	}
	sinA, cosA := sincos(o.Azimuth)
	sinE, cosE := sincos(o.Elevation)
	ahead := Vec{sinA, -cosA, 0}
	from := ahead.Mul(cosE).Add(Vec{0, 0, sinE})
	top := ahead.Mul(-sinE).Add(Vec{0, 0, cosE})
	return looking(from, top, o.Width*o.Samples, o.Height*o.Samples), nil
}

// Render draws parts above a white floor, which is below the lowest of them, in
// perspective and with all of them in sight. Light comes from the upper left, with
// shadows, from the right and from the sky. An invalid mesh, an empty scene, and an
// option out of its range are errors.
func Render(parts []Part, o RenderOptions) (*image.RGBA, error) {
	o.Width, o.Height, o.Samples = cmp.Or(o.Width, 1200), cmp.Or(o.Height, 900), cmp.Or(o.Samples, 2)
	v, err := o.view()
	if err != nil {
		return nil, err
	}
	triangles := 0
	for _, p := range parts {
		if err := p.Mesh.Check(); err != nil {
			return nil, err
		}
		triangles += p.Mesh.Len()
	}
	if triangles == 0 {
		return nil, errors.New("solid: a picture of nothing: no part has a triangle")
	}
	v.frame(parts, 0.8)
	s := newScene(v, parts)
	img := image.NewRGBA(image.Rect(0, 0, o.Width, o.Height))
	err = parallel(context.Background(), o.Height, func() func(int) {
		return func(y int) {
			for x := range o.Width {
				img.SetRGBA(x, y, s.pixel(x, y, o.Samples))
			}
		}
	})
	return img, err
}

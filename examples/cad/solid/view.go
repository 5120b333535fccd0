package solid

import "math"

// A view maps points in space to a picture. Its eye looks against back; x grows along
// right and y against up, both in units of samples.
type view struct {
	right, up, back Vec
	eye             Vec
	focal           float64 // samples per unit at distance 1, or everywhere if parallel
	parallel        bool    // parallel projection, as of sunlight
	width, height   int     // in samples
}

// looking returns a view towards the origin from a direction; top is upward in the
// picture.
func looking(from, top Vec, width, height int) view {
	back := from.unit()
	right := top.Cross(back).unit()
	return view{right: right, up: back.Cross(right), back: back, width: width, height: height}
}

// frame moves the eye so that the vertices fill the given part of the picture.
func (v *view) frame(parts []Part, share float64) {
	box := emptyBox() // in the view's own directions
	each := func(do func(Vec)) {
		for _, p := range parts {
			for i := range len(p.Mesh.Vertices) / 3 {
				w := p.Mesh.vertex(uint32(i))
				do(Vec{w.Dot(v.right), w.Dot(v.up), w.Dot(v.back)})
			}
		}
	}
	each(func(w Vec) { box = box.hull(Box{w, w}) })
	at, size := box.Min.Add(box.Max).Mul(0.5), box.Size()
	halfX, halfY := share*float64(v.width)/2, share*float64(v.height)/2
	away := box.Max[2] + max(size.Length()/10, MinLength)
	if v.parallel {
		v.focal = min(halfX/max(size[0], 1e-9), halfY/max(size[1], 1e-9)) * 2
	} else {
		v.focal = float64(v.height) * 2.2 // an angle of 26°
		each(func(w Vec) {
			x, y := math.Abs(w[0]-at[0])/halfX, math.Abs(w[1]-at[1])/halfY
			away = max(away, w[2]+max(x, y)*v.focal)
		})
	}
	v.eye = v.right.Mul(at[0]).Add(v.up.Mul(at[1])).Add(v.back.Mul(away))
}

// project returns where a point appears, and how near it is, which grows towards the eye
// and is linear in x and y.
func (v *view) project(p Vec) (x, y, near float64) {
	d := p.Sub(v.eye)
	x, y, near = d.Dot(v.right), -d.Dot(v.up), d.Dot(v.back)
	scale := v.focal
	if !v.parallel {
		near = -1 / near
		scale *= near
	}
	return float64(v.width)/2 + x*scale, float64(v.height)/2 + y*scale, near
}

// ray returns the direction from the eye of a perspective through a sample: a point seen
// there is ray/near from the eye.
func (v *view) ray(x, y float64) Vec {
	right, up := (x-float64(v.width)/2)/v.focal, (float64(v.height)/2-y)/v.focal
	return v.right.Mul(right).Add(v.up.Mul(up)).Sub(v.back)
}

// draw calls plot for each sample that a triangle seen from the front covers, with the
// weights of the corners.
func (v *view) draw(m Mesh, plot func(triangle, sample int, near float64, weights Vec)) {
	points := make([]Vec, len(m.Vertices)/3)
	for i := range points {
		points[i][0], points[i][1], points[i][2] = v.project(m.vertex(uint32(i)))
	}
	for i := range m.Len() {
		a, b, c := points[m.Triangles[3*i]], points[m.Triangles[3*i+1]], points[m.Triangles[3*i+2]]
		// Twice the area, positive if seen from the front: y points down.
		if area := (b[1]-a[1])*(c[0]-a[0]) - (b[0]-a[0])*(c[1]-a[1]); area > 0 {
			v.fill(a, b, c, area, func(sample int, w Vec) {
				plot(i, sample, w.Dot(Vec{a[2], b[2], c[2]}), w)
			})
		}
	}
}

// fill calls plot for each sample in a triangle.
func (v *view) fill(a, b, c Vec, area float64, plot func(sample int, weights Vec)) {
	x0, x1 := span(a[0], b[0], c[0], v.width)
	y0, y1 := span(a[1], b[1], c[1], v.height)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			dx, dy := float64(x)+0.5-a[0], float64(y)+0.5-a[1]
			wb := (dy*(c[0]-a[0]) - dx*(c[1]-a[1])) / area
			wc := (dx*(b[1]-a[1]) - dy*(b[0]-a[0])) / area
			if wb >= 0 && wc >= 0 && wb+wc <= 1 {
				plot(y*v.width+x, Vec{1 - wb - wc, wb, wc})
			}
		}
	}
}

// span returns the range of n samples between the least and the greatest coordinate.
func span(a, b, c float64, n int) (from, to int) {
	lo, hi := min(a, b, c), max(a, b, c)
	return int(max(0, math.Ceil(lo-0.5))), int(min(float64(n), math.Floor(hi+0.5)))
}

package solid

import (
	"image/color"
	"math"
)

// A scene holds what the camera sees, in samples, and the data for lighting.
type scene struct {
	view    view
	samples []seen
	colours []Vec // of the parts, linear

	key, fill Vec // directions to the lights
	lamp      view
	reach     []float32 // depth map of the lamp
	texel     float64   // size of a sample of the depth map
	floor     float64   // its z
}

// seen is what a sample shows: nothing if near is 0.
type seen struct {
	near   float32
	normal [3]float32
	part   int32
}

const lampSamples = 1400 // along an edge

func newScene(v view, parts []Part) *scene {
	s := &scene{view: v, samples: make([]seen, v.width*v.height), floor: math.Inf(1)}
	s.reach = make([]float32, lampSamples*lampSamples)
	for i := range s.reach {
		s.reach[i] = float32(math.Inf(-1))
	}
	level := Vec{v.right[1], -v.right[0], 0} // horizontal part of back
	s.key = v.right.Mul(-0.75).Add(level.Mul(0.5)).Add(Vec{0, 0, 1}).unit()
	s.fill = v.right.Mul(0.9).Add(v.back.Mul(0.6)).Add(v.up.Mul(0.1)).unit()
	s.lamp = looking(s.key, v.right, lampSamples, lampSamples)
	s.lamp.parallel = true
	s.lamp.frame(parts, 0.95)
	s.texel = 1 / s.lamp.focal
	for number, p := range parts {
		s.floor = min(s.floor, p.Mesh.Bounds().Min[2])
		s.colours = append(s.colours, Vec{linear(p.Colour.R), linear(p.Colour.G), linear(p.Colour.B)})
		normals := cornerNormals(p.Mesh)
		v.draw(p.Mesh, func(triangle, sample int, near float64, w Vec) {
			if at := &s.samples[sample]; float32(near) > at.near {
				n := normals[3*triangle:][:3]
				sum := n[0].Mul(w[0]).Add(n[1].Mul(w[1])).Add(n[2].Mul(w[2])).unit()
				*at = seen{float32(near), [3]float32{float32(sum[0]), float32(sum[1]), float32(sum[2])}, int32(number)}
			}
		})
		s.lamp.draw(p.Mesh, func(_, sample int, near float64, _ Vec) {
			s.reach[sample] = max(s.reach[sample], float32(near))
		})
	}
	return s
}

// cornerNormals returns a normal for each corner of each triangle: the mean of the
// triangles around the vertex that are not across a sharp edge.
func cornerNormals(m Mesh) []Vec {
	const crease = 0.8 // cosine of 37°
	faces := make([]Vec, m.Len())
	start := make([]int, len(m.Vertices)/3+1) // start of each vertex's triangles in around
	for i := range faces {
		a, b, c := m.triangle(i)
		faces[i] = b.Sub(a).Cross(c.Sub(a))
		for _, v := range m.Triangles[3*i:][:3] {
			start[v+1]++
		}
	}
	for v := range start[1:] {
		start[v+1] += start[v]
	}
	around, filled := make([]int, len(m.Triangles)), make([]int, len(start))
	for i, v := range m.Triangles {
		around[start[v]+filled[v]] = i / 3
		filled[v]++
	}
	normals := make([]Vec, len(m.Triangles))
	for i, v := range m.Triangles {
		own := faces[i/3].unit()
		for _, f := range around[start[v]:start[v+1]] {
			if faces[f].Dot(own) >= crease*faces[f].Length() {
				normals[i] = normals[i].Add(faces[f])
			}
		}
		normals[i] = normals[i].unit()
	}
	return normals
}

// lit returns how much of the lamp a point sees, from 0 to 1: the mean over a square of
// taps² samples, gap apart.
func (s *scene) lit(p Vec, taps int, gap float64) float64 {
	x, y, near := s.lamp.project(p)
	free := 0
	for i := range taps {
		for j := range taps {
			u := int(x + (float64(i)-float64(taps-1)/2)*gap)
			v := int(y + (float64(j)-float64(taps-1)/2)*gap)
			if u < 0 || v < 0 || u >= lampSamples || v >= lampSamples || float64(s.reach[v*lampSamples+u]) <= near {
				free++
			}
		}
	}
	return float64(free) / float64(taps*taps)
}

// pixel returns the mean of per² samples.
func (s *scene) pixel(x, y, per int) color.RGBA {
	var sum Vec
	var backdrop Vec // smooth, so once a pixel suffices
	for j := range per {
		for i := range per {
			u, v := x*per+i, y*per+j
			at := s.samples[v*s.view.width+u]
			if at.near == 0 {
				if backdrop == (Vec{}) {
					backdrop = s.backdrop(float64(u)+0.5, float64(v)+0.5)
				}
				sum = sum.Add(backdrop)
				continue
			}
			ray := s.view.ray(float64(u)+0.5, float64(v)+0.5)
			sum = sum.Add(s.surface(at, s.view.eye.Add(ray.Mul(1/float64(at.near))), ray.Mul(-1).unit()))
		}
	}
	sum = sum.Mul(1 / float64(per*per))
	return color.RGBA{display(sum[0]), display(sum[1]), display(sum[2]), 255}
}

// surface returns the light from a point towards the eye.
func (s *scene) surface(at seen, p, toEye Vec) Vec {
	n := Vec{float64(at.normal[0]), float64(at.normal[1]), float64(at.normal[2])}
	key := max(0, n.Dot(s.key))
	if key > 0 { // offset from the surface to avoid self-shadowing
		key *= s.lit(p.Add(n.Mul(2.5*s.texel)).Add(s.key.Mul(1.5*s.texel)), 4, 0.9)
	}
	diffuse := 0.95*key + 0.22*max(0, n.Dot(s.fill)) + 0.16 + 0.12*n[2]
	half := s.key.Add(toEye).unit()
	gloss := 0.30*key*math.Pow(max(0, n.Dot(half)), 40) + 0.08*math.Pow(max(0, n.Dot(s.fill.Add(toEye).unit())), 25)
	// At grazing angles a surface mirrors the bright surroundings.
	rim := 0.25 * math.Pow(1-max(0, n.Dot(toEye)), 4) * (0.6 + 0.4*n[2])
	sheen := gloss + rim
	return s.colours[at.part].Mul(diffuse).Add(Vec{sheen, sheen, sheen})
}

// backdrop returns the colour of the floor and of the wall behind it, without an edge
// between them.
func (s *scene) backdrop(x, y float64) Vec {
	u, v := x/float64(s.view.width)-0.5, y/float64(s.view.height)-0.45
	light := 0.90 - 0.45*(u*u+v*v)
	if ray := s.view.ray(x, y); ray[2] < -1e-3 && s.view.eye[2] > s.floor {
		p := s.view.eye.Add(ray.Mul((s.floor - s.view.eye[2]) / ray[2]))
		light *= 0.55 + 0.45*s.lit(p, 8, 4)
	}
	return Vec{0.98, 0.99, 1.02}.Mul(light)
}

func linear(c uint8) float64 { return math.Pow(float64(c)/255, 2.2) }

func display(l float64) uint8 { return uint8(255*math.Pow(max(0, min(1, l)), 1/2.2) + 0.5) }

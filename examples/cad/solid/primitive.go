// Package solid provides solids from primitives, profiles, booleans and threads, and
// meshes and pictures of solids.
//
// A solid is a signed distance field: a function that returns how far a point is from
// the surface, negative inside. Solids with a height begin on the plane z = 0, centred
// on the z axis, unless stated otherwise. A constructor returns an error for an invalid
// size; no function panics.
package solid

import (
	"errors"
	"math"
)

// A Solid is a signed distance field. Solids are immutable and may be used by many
// goroutines.
type Solid interface {
	// Distance is negative inside, 0 on the surface and positive outside. Between two
	// points it changes by at most the distance between them, so the surface is at least as
	// far away as it says. It may be farther: near a corner of a boolean, the distance is
	// only a lower bound.
	Distance(p Vec) float64
	// Bounds returns a box around the solid, not always the smallest.
	Bounds() Box
}

// checked returns a solid, or an error if its bounds are invalid.
func checked(s Solid) (Solid, error) {
	if err := s.Bounds().check(); err != nil {
		return nil, err
	}
	return s, nil
}

type sphere struct{ radius float64 }

// Sphere returns a sphere centred on the origin.
func Sphere(radius float64) (Solid, error) {
	if err := checkLength("radius", radius); err != nil {
		return nil, err
	}
	return sphere{radius}, nil
}

func (s sphere) Distance(p Vec) float64 { return p.Length() - s.radius }
func (s sphere) Bounds() Box            { return Box{}.grown(s.radius) }

// Cuboid returns a box with edges of the given lengths along x, y and z.
func Cuboid(size Vec) (Solid, error) {
	p, err := Rectangle(size[0], size[1])
	if err != nil {
		return nil, err
	}
	return Extrude(p, size[2])
}

// Cylinder returns a cylinder around the z axis.
func Cylinder(radius, height float64) (Solid, error) {
	p, err := Circle(radius)
	if err != nil {
		return nil, err
	}
	return Extrude(p, height)
}

type extruded struct {
	profile Profile
	height  float64
}

// Extrude returns a profile extruded from z = 0 to the height.
func Extrude(p Profile, height float64) (Solid, error) {
	if p == nil {
		return nil, errors.New("solid: no profile to extrude")
	}
	if err := checkLength("height", height); err != nil {
		return nil, err
	}
	return checked(extruded{p, height})
}

func (e extruded) Distance(p Vec) float64 {
	return corner(e.profile.Distance(Point{p[0], p[1]}), slab(p[2], e.height))
}

// slab returns the distance to the planes z = 0 and z = height.
func slab(z, height float64) float64 { return math.Abs(z-height/2) - height/2 }

func (e extruded) Bounds() Box {
	lo, hi := e.profile.Bounds()
	return Box{Vec{lo[0], lo[1], 0}, Vec{hi[0], hi[1], e.height}}
}

type revolved struct{ profile Profile }

// Revolve revolves a profile about the z axis: a profile's x is the distance from the
// axis and its y becomes z. The part with negative x is cut off. A polygon may have
// sides on the axis.
func Revolve(p Profile) (Solid, error) {
	if p == nil {
		return nil, errors.New("solid: no profile to revolve")
	}
	return checked(revolved{turned(p)})
}

// turned returns the profile without sides at x <= 0, which are inside the solid.
func turned(p Profile) Profile {
	switch p := p.(type) {
	case *polygon:
		g := *p
		g.turned = true
		return &g
	case rounded:
		return rounded{turned(p.profile), p.radius}
	}
	return p
}

func (r revolved) Distance(p Vec) float64 {
	return r.profile.Distance(Point{math.Sqrt(p[0]*p[0] + p[1]*p[1]), p[2]})
}

func (r revolved) Bounds() Box {
	lo, hi := r.profile.Bounds()
	return Box{Vec{-hi[0], -hi[0], lo[1]}, Vec{hi[0], hi[0], hi[1]}}
}

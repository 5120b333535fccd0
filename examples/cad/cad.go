// Package cad provides a scripted solid modeller with an invisible cache.
//
// A script builds solids from others. Building computes nothing: every operation returns
// a description ([Solid], [Profile]), and only [Mesh], [Show] and [Export] evaluate it.
// They find results that this or another process computed before, and compute missing
// ones. A solid is a description of a few nodes and cheap to compute, so it is not
// cached; meshes and pictures are.
//
// Lengths are millimetres and angles degrees, as in package solid, which does the
// geometry.
package cad

import (
	"context"

	"github.com/larder-data/larder/examples/cad/solid"
	"github.com/larder-data/larder/lazy"
)

// A Solid is a solid that is computed on demand.
type Solid struct{ value lazy.Value[solid.Solid] }

// A Profile is a flat shape that is computed on demand.
type Profile struct{ value lazy.Value[solid.Profile] }

// Vec is a point or a direction.
type Vec = solid.Vec

// Point is a point of a profile.
type Point = solid.Point

// cheap is for operations that only describe.
var cheap = lazy.Options{Keep: lazy.KeepNot}

type background = context.Context

var (
	rectangle = lazy.Func2("rectangle", func(_ background, w, h float64) (solid.Profile, error) {
		return solid.Rectangle(w, h)
	}, cheap)
	circle = lazy.Func1("circle", func(_ background, r float64) (solid.Profile, error) {
		return solid.Circle(r)
	}, cheap)
	polygon = lazy.Func1("polygon", func(_ background, points []Point) (solid.Profile, error) {
		return solid.Polygon(points...)
	}, cheap)
	regular = lazy.Func2("regular polygon", func(_ background, sides int, flats float64) (solid.Profile, error) {
		return solid.RegularPolygon(sides, flats)
	}, cheap)
	rounded = lazy.Func2("rounded", func(_ background, p solid.Profile, r float64) (solid.Profile, error) {
		return solid.Rounded(p, r)
	}, cheap)
)

// Rectangle returns a rectangle centred on the origin.
func Rectangle(width, height float64) Profile {
	return Profile{rectangle(lazy.Of(width), lazy.Of(height))}
}

// Circle returns a circle centred on the origin.
func Circle(radius float64) Profile { return Profile{circle(lazy.Of(radius))} }

// Polygon returns a polygon with the given corners.
func Polygon(points ...Point) Profile { return Profile{polygon(lazy.Of(points))} }

// RegularPolygon returns a regular polygon with the given number of sides, and width
// across its flats.
func RegularPolygon(sides int, acrossFlats float64) Profile {
	return Profile{regular(lazy.Of(sides), lazy.Of(acrossFlats))}
}

// Rounded returns p grown by a radius.
func (p Profile) Rounded(radius float64) Profile { return Profile{rounded(p.value, lazy.Of(radius))} }

var (
	sphere = lazy.Func1("sphere", func(_ background, r float64) (solid.Solid, error) {
		return solid.Sphere(r)
	}, cheap)
	cuboid = lazy.Func1("cuboid", func(_ background, size Vec) (solid.Solid, error) {
		return solid.Cuboid(size)
	}, cheap)
	cylinder = lazy.Func2("cylinder", func(_ background, r, h float64) (solid.Solid, error) {
		return solid.Cylinder(r, h)
	}, cheap)
	extrude = lazy.Func2("extrude", func(_ background, p solid.Profile, h float64) (solid.Solid, error) {
		return solid.Extrude(p, h)
	}, cheap)
	revolve = lazy.Func1("revolve", func(_ background, p solid.Profile) (solid.Solid, error) {
		return solid.Revolve(p)
	}, cheap)
	thread = lazy.Func3("thread", func(_ background, diameter, pitch, length float64) (solid.Solid, error) {
		return solid.Thread(diameter, pitch, length)
	}, cheap)
	internalThread = lazy.Func3("internal thread", func(_ background, diameter, pitch, length float64) (solid.Solid, error) {
		return solid.InternalThread(diameter, pitch, length)
	}, cheap)
)

// Sphere returns a sphere centred on the origin.
func Sphere(radius float64) Solid { return Solid{sphere(lazy.Of(radius))} }

// Cuboid returns a cuboid on z = 0, centred on the z axis.
func Cuboid(size Vec) Solid { return Solid{cuboid(lazy.Of(size))} }

// Cylinder returns a cylinder on z = 0.
func Cylinder(radius, height float64) Solid {
	return Solid{cylinder(lazy.Of(radius), lazy.Of(height))}
}

// Extrude returns a profile extruded from z = 0 to a height.
func Extrude(p Profile, height float64) Solid { return Solid{extrude(p.value, lazy.Of(height))} }

// Revolve returns a profile revolved around the z axis; its first coordinate is the
// radius.
func Revolve(p Profile) Solid { return Solid{revolve(p.value)} }

// Thread returns a threaded rod, metric and right-handed.
func Thread(diameter, pitch, length float64) Solid {
	return Solid{thread(lazy.Of(diameter), lazy.Of(pitch), lazy.Of(length))}
}

// InternalThread returns the solid to cut out for a [Thread].
func InternalThread(diameter, pitch, length float64) Solid {
	return Solid{internalThread(lazy.Of(diameter), lazy.Of(pitch), lazy.Of(length))}
}

// Without a radius there are no fillets: package solid has separate functions for that.
var (
	union = lazy.Func2("union", func(_ background, radius float64, s []solid.Solid) (solid.Solid, error) {
		if radius == 0 {
			return solid.Union(s...)
		}
		return solid.FilletUnion(radius, s...)
	}, cheap)
	difference = lazy.Func2("difference", func(_ background, radius float64, s []solid.Solid) (solid.Solid, error) {
		if radius == 0 {
			return solid.Difference(s[0], s[1:]...)
		}
		return solid.FilletDifference(radius, s[0], s[1:]...)
	}, cheap)
	intersection = lazy.Func2("intersection", func(_ background, radius float64, s []solid.Solid) (solid.Solid, error) {
		if radius == 0 {
			return solid.Intersection(s...)
		}
		return solid.FilletIntersection(radius, s...)
	}, cheap)
)

// list combines several solids into one lazy value.
func list(solids ...Solid) lazy.Value[[]solid.Solid] {
	values := make([]lazy.Value[solid.Solid], len(solids))
	for i, s := range solids {
		values[i] = s.value
	}
	return lazy.Slice(values...)
}

// Union returns the union of the solids.
func Union(solids ...Solid) Solid { return FilletUnion(0, solids...) }

// FilletUnion is [Union] with fillets where the solids meet.
func FilletUnion(radius float64, solids ...Solid) Solid {
	return Solid{union(lazy.Of(radius), list(solids...))}
}

// Difference returns s without the others.
func Difference(s Solid, others ...Solid) Solid { return FilletDifference(0, s, others...) }

// FilletDifference is [Difference] with rounded edges at the cuts.
func FilletDifference(radius float64, s Solid, others ...Solid) Solid {
	return Solid{difference(lazy.Of(radius), list(append([]Solid{s}, others...)...))}
}

// Intersection returns the intersection of the solids.
func Intersection(solids ...Solid) Solid { return FilletIntersection(0, solids...) }

// FilletIntersection is [Intersection] with rounded edges.
func FilletIntersection(radius float64, solids ...Solid) Solid {
	return Solid{intersection(lazy.Of(radius), list(solids...))}
}

var (
	translate = lazy.Func2("translate", func(_ background, s solid.Solid, by Vec) (solid.Solid, error) {
		return solid.Translate(s, by)
	}, cheap)
	rotate = lazy.Func3("rotate", func(_ background, s solid.Solid, axis Vec, degrees float64) (solid.Solid, error) {
		return solid.Rotate(s, axis, degrees)
	}, cheap)
	scale = lazy.Func2("scale", func(_ background, s solid.Solid, factor float64) (solid.Solid, error) {
		return solid.Scale(s, factor)
	}, cheap)
	mirror = lazy.Func2("mirror", func(_ background, s solid.Solid, normal Vec) (solid.Solid, error) {
		return solid.Mirror(s, normal)
	}, cheap)
	round = lazy.Func2("round", func(_ background, s solid.Solid, radius float64) (solid.Solid, error) {
		return solid.Round(s, radius)
	}, cheap)
)

// Translate moves s.
func (s Solid) Translate(by Vec) Solid { return Solid{translate(s.value, lazy.Of(by))} }

// Rotate turns s around an axis through the origin.
func (s Solid) Rotate(axis Vec, degrees float64) Solid {
	return Solid{rotate(s.value, lazy.Of(axis), lazy.Of(degrees))}
}

// Scale scales s.
func (s Solid) Scale(factor float64) Solid { return Solid{scale(s.value, lazy.Of(factor))} }

// Mirror reflects s at the plane through the origin with that normal.
func (s Solid) Mirror(normal Vec) Solid { return Solid{mirror(s.value, lazy.Of(normal))} }

// Round grows s by a radius.
func (s Solid) Round(radius float64) Solid { return Solid{round(s.value, lazy.Of(radius))} }

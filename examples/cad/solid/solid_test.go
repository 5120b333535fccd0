package solid_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/larder-data/larder/examples/cad/solid"
)

// must panics on errors in preparations of tests.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// bolt is an M8 bolt with a chamfered hexagonal head below z = 0 and a threaded shank
// above.
func bolt(length float64) solid.Solid {
	const diameter, pitch = 8, 1.25
	const r = diameter / 2
	const height, flats = 0.65 * diameter, 1.625 * diameter
	head := must(solid.Extrude(must(solid.RegularPolygon(6, flats)), height))
	cone := must(solid.Revolve(must(solid.Polygon(
		solid.Point{0, 0}, solid.Point{0.95 * flats / 2, 0}, solid.Point{0.95*flats/2 + height, height * math.Tan(math.Pi/6)},
		solid.Point{0.95*flats/2 + height, height}, solid.Point{0, height}))))
	head = must(solid.Translate(must(solid.Intersection(head, cone)), solid.Vec{0, 0, -height}))
	tip := must(solid.Revolve(must(solid.Polygon(
		solid.Point{0, 0}, solid.Point{r + 1, 0}, solid.Point{r + 1, length - pitch - 1}, solid.Point{r - pitch, length}, solid.Point{0, length}))))
	shank := must(solid.Intersection(must(solid.Thread(diameter, pitch, length)), tip))
	return must(solid.FilletUnion(0.4, head, shank))
}

func nut() solid.Solid {
	const diameter, pitch = 8, 1.25
	const height = 0.8 * diameter
	body := must(solid.Extrude(must(solid.RegularPolygon(6, 1.625*diameter)), height))
	hole := must(solid.Translate(must(solid.InternalThread(diameter, pitch, height+2*pitch)), solid.Vec{0, 0, -pitch}))
	return must(solid.Difference(body, hole))
}

func solids(t testing.TB) map[string]solid.Solid {
	t.Helper()
	box := must(solid.Cuboid(solid.Vec{2, 3, 4}))
	ball := must(solid.Sphere(1.5))
	rod := must(solid.Cylinder(0.5, 6))
	star := must(solid.Polygon(solid.Point{3, 0}, solid.Point{1, 1}, solid.Point{0, 3}, solid.Point{-1, 1}, solid.Point{-3, 0}, solid.Point{0, -1}))
	cup := must(solid.Polygon(solid.Point{0, 0}, solid.Point{2, 0}, solid.Point{3, 4}, solid.Point{2.5, 4}, solid.Point{1.6, 0.5}, solid.Point{0, 0.5}))
	return map[string]solid.Solid{
		"box": box, "ball": ball, "rod": rod,
		"star":           must(solid.Extrude(star, 1)),
		"rounded star":   must(solid.Extrude(must(solid.Rounded(star, 0.3)), 1)),
		"cup":            must(solid.Revolve(cup)),
		"rounded cup":    must(solid.Revolve(must(solid.Rounded(cup, 0.2)))),
		"turned plate":   must(solid.Revolve(must(solid.Rectangle(4, 1)))),
		"union":          must(solid.Union(box, ball, rod)),
		"filleted union": must(solid.FilletUnion(0.4, box, ball, rod)),
		"difference":     must(solid.Difference(box, ball, rod)),
		"rounded cut":    must(solid.FilletDifference(0.3, box, ball, rod)),
		"intersection":   must(solid.Intersection(box, ball)),
		"rounded lens":   must(solid.FilletIntersection(0.3, box, ball)),
		"round":          must(solid.Round(box, 0.5)),
		"turned":         must(solid.Rotate(box, solid.Vec{1, 1, 0}, 77)),
		"mirrored":       must(solid.Mirror(must(solid.Revolve(cup)), solid.Vec{1, 2, 3})),
		"scaled":         must(solid.Scale(must(solid.Thread(8, 1.25, 4)), 0.5)),
		"thread":         must(solid.Thread(8, 1.25, 6)),
		"steep thread":   must(solid.Thread(6, 2, 6)),
		"internal":       must(solid.InternalThread(8, 1.25, 6)),
		"bolt":           bolt(12),
		"nut":            nut(),
	}
}

// TestDistanceLaw checks that the distance changes between two points by at most their
// distance, and that points out of bounds are outside.
func TestDistanceLaw(t *testing.T) {
	for name, s := range solids(t) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			b := s.Bounds()
			size := b.Size()
			random := func(around solid.Vec, reach float64) solid.Vec {
				for a := range 3 {
					around[a] += (r.Float64() - 0.5) * reach * size[a]
				}
				return around
			}
			for range 20000 {
				p := random(b.Min.Add(b.Max).Mul(0.5), 1.5)
				q := random(p, math.Pow(10, -4*r.Float64()))
				dp, dq := s.Distance(p), s.Distance(q)
				if apart := p.Sub(q).Length(); math.Abs(dp-dq) > apart*(1+1e-9)+1e-12 {
					t.Fatalf("distance %v at %v and %v at %v, %v away", dp, p, dq, q, apart)
				}
				out := false
				for a := range 3 {
					out = out || p[a] < b.Min[a]-1e-9 || p[a] > b.Max[a]+1e-9
				}
				if out && dp <= 0 {
					t.Fatalf("%v is out of bounds %v, but %v inside", p, b, dp)
				}
			}
		})
	}
}

// TestExactDistances checks that distances of shapes other than booleans are exact, not
// only bounds.
func TestExactDistances(t *testing.T) {
	box := must(solid.Cuboid(solid.Vec{2, 2, 2}))
	for _, c := range []struct {
		solid solid.Solid
		at    solid.Vec
		want  float64
	}{
		{box, solid.Vec{0, 0, 1}, -1},
		{box, solid.Vec{4, 5, 1}, 5},
		{box, solid.Vec{3, 3, 3}, 3},
		{must(solid.Sphere(2)), solid.Vec{0, 3, 4}, 3},
		{must(solid.Cylinder(1, 2)), solid.Vec{3, 3, 1}, math.Sqrt(18) - 1},
		{must(solid.Translate(box, solid.Vec{10, 0, -1})), solid.Vec{10, 0, 3}, 2},
		{must(solid.Rotate(box, solid.Vec{0, 0, 5}, 45)), solid.Vec{2, 0, 1}, 2 - math.Sqrt2},
		{must(solid.Rotate(box, solid.Vec{1, 0, 0}, 90)), solid.Vec{0, -1, 0}, -1}, // z = 0 to 2 becomes y = 0 to -2
		{must(solid.Scale(box, 2)), solid.Vec{0, 0, 7}, 3},
		{must(solid.Mirror(box, solid.Vec{0, 0, 2})), solid.Vec{0, 0, -1}, -1},
		{must(solid.Thread(8, 1.25, 9)), solid.Vec{0, 0, 3}, -3}, // to the lower end
		{must(solid.Thread(8, 1.25, 9)), solid.Vec{5, 0, 5}, 1},  // a crest is at z = 0, pitch, ...
		{must(solid.Thread(8, 1.25, 9)), solid.Vec{0, 5, 5 + 1.25/4}, 1},
	} {
		if got := c.solid.Distance(c.at); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%T at %v: distance %v, want %v", c.solid, c.at, got, c.want)
		}
	}
}

func TestTransformsCompose(t *testing.T) {
	s := must(solid.Union(must(solid.Cuboid(solid.Vec{1, 2, 3})), must(solid.Translate(must(solid.Sphere(1)), solid.Vec{2, 0, 0}))))
	axis := solid.Vec{1, -2, 0.5}
	rotate := func(s solid.Solid, d float64) solid.Solid { return must(solid.Rotate(s, axis, d)) }
	move := func(s solid.Solid, x, y, z float64) solid.Solid {
		return must(solid.Translate(s, solid.Vec{x, y, z}))
	}
	mirror := func(s solid.Solid) solid.Solid { return must(solid.Mirror(s, axis)) }
	scale := func(s solid.Solid, f float64) solid.Solid { return must(solid.Scale(s, f)) }
	for name, pair := range map[string][2]solid.Solid{
		"angles add":                         {rotate(rotate(s, 30), 50), rotate(s, 80)},
		"a turn and back":                    {rotate(rotate(s, 123), -123), s},
		"a whole turn":                       {rotate(s, 360), s},
		"moves add":                          {move(move(s, 1, 2, 3), 4, 5, 6), move(s, 5, 7, 9)},
		"mirrored twice":                     {mirror(mirror(s)), s},
		"scales multiply":                    {scale(scale(s, 2), 3), scale(s, 6)},
		"a move is scaled":                   {scale(move(s, 1, 2, 3), 2), move(scale(s, 2), 2, 4, 6)},
		"a move is turned":                   {must(solid.Rotate(move(s, 1, 0, 0), solid.Vec{0, 0, 1}, 90)), move(must(solid.Rotate(s, solid.Vec{0, 0, 1}, 90)), 0, 1, 0)},
		"a mirror across the axis of a turn": {mirror(rotate(s, 40)), rotate(mirror(s), 40)},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		for range 1000 {
			p := solid.Vec{20 * (r.Float64() - 0.5), 20 * (r.Float64() - 0.5), 20 * (r.Float64() - 0.5)}
			if a, b := pair[0].Distance(p), pair[1].Distance(p); math.Abs(a-b) > 1e-9 {
				t.Fatalf("%s: distances %v and %v at %v", name, a, b, p)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	box := must(solid.Cuboid(solid.Vec{1, 1, 1}))
	disc := must(solid.Circle(1))
	polygon := func(p ...solid.Point) func() (any, error) {
		return func() (any, error) { return solid.Polygon(p...) }
	}
	for name, c := range map[string]struct {
		make func() (any, error)
		says string
	}{
		"sphere of NaN":    {func() (any, error) { return solid.Sphere(nan) }, "radius is NaN"},
		"sphere of 0":      {func() (any, error) { return solid.Sphere(0) }, "radius is 0"},
		"negative sphere":  {func() (any, error) { return solid.Sphere(-1) }, "radius is -1"},
		"endless cylinder": {func() (any, error) { return solid.Cylinder(1, inf) }, "height is +Inf"},
		"cuboid":           {func() (any, error) { return solid.Cuboid(solid.Vec{1, 1e9, 1}) }, "height is 1e+09"},
		"extruded nil":     {func() (any, error) { return solid.Extrude(nil, 1) }, "no profile"},
		"revolved nil":     {func() (any, error) { return solid.Revolve(nil) }, "no profile"},
		"rounded nil":      {func() (any, error) { return solid.Rounded(nil, 1) }, "no profile"},
		"rounded by NaN":   {func() (any, error) { return solid.Rounded(disc, nan) }, "radius is NaN"},
		"left of the axis": {func() (any, error) {
			return solid.Revolve(must(solid.Polygon(solid.Point{-2, 0}, solid.Point{-1, 0}, solid.Point{-1, 1})))
		}, "along x"},
		"two points":         {polygon(solid.Point{}, solid.Point{1, 0}), "2 points"},
		"twice the same":     {polygon(solid.Point{}, solid.Point{}, solid.Point{1, 0}), "same"},
		"a line":             {polygon(solid.Point{}, solid.Point{1, 1}, solid.Point{2, 2}), "line"},
		"a bow tie":          {polygon(solid.Point{}, solid.Point{1, 1}, solid.Point{1, 0}, solid.Point{0, 1}), "touch"},
		"point of NaN":       {polygon(solid.Point{}, solid.Point{1, nan}, solid.Point{1, 0}), "NaN"},
		"two sides":          {func() (any, error) { return solid.RegularPolygon(2, 1) }, "2 sides"},
		"thread too steep":   {func() (any, error) { return solid.Thread(2, 1, 9) }, "third"},
		"thread of NaN":      {func() (any, error) { return solid.Thread(nan, 1, 9) }, "diameter is NaN"},
		"union of none":      {func() (any, error) { return solid.Union() }, "no solids"},
		"union of nil":       {func() (any, error) { return solid.Union(box, nil) }, "nil"},
		"fillet of NaN":      {func() (any, error) { return solid.FilletUnion(nan, box) }, "NaN"},
		"apart":              {func() (any, error) { return solid.Intersection(box, must(solid.Translate(box, solid.Vec{5, 0, 0}))) }, "apart"},
		"difference of nil":  {func() (any, error) { return solid.Difference(nil, box) }, "nil"},
		"moved by NaN":       {func() (any, error) { return solid.Translate(box, solid.Vec{0, nan, 0}) }, "NaN"},
		"moved too far":      {func() (any, error) { return solid.Translate(box, solid.Vec{solid.MaxLength, 0, 0}) }, "within"},
		"no axis":            {func() (any, error) { return solid.Rotate(box, solid.Vec{}, 1) }, "axis is 0"},
		"angle of NaN":       {func() (any, error) { return solid.Rotate(box, solid.Vec{0, 0, 1}, nan) }, "angle"},
		"scaled by 0":        {func() (any, error) { return solid.Scale(box, 0) }, "factor is 0"},
		"scaled too far":     {func() (any, error) { return solid.Scale(must(solid.Scale(box, 1e4)), 1e4) }, "within"},
		"no normal":          {func() (any, error) { return solid.Mirror(box, solid.Vec{}) }, "normal is 0"},
		"moved nil":          {func() (any, error) { return solid.Translate(nil, solid.Vec{}) }, "nil"},
		"rounded negatively": {func() (any, error) { return solid.Round(box, -1) }, "radius is -1"},
		"rounded nil solid":  {func() (any, error) { return solid.Round(nil, 1) }, "nil"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
}

package solid

import (
	"errors"
	"fmt"
	"math"
)

// thread is a core with a helical ridge of 60°.
type thread struct {
	root, crest   float64 // radii
	pitch, length float64
	steep         float64 // how much faster than 1 the flank's distance may change
}

// Thread returns a right-handed ISO metric screw thread (ISO 68-1) for a bolt: M8 is
// Thread(8, 1.25, length). Its crests are pitch/8 wide, and its minor diameter is
// diameter - 1.2269 pitch. Both ends are flat; for a chamfer, intersect it with a
// revolved profile. The pitch is at most a third of the diameter.
func Thread(diameter, pitch, length float64) (Solid, error) {
	return makeThread(diameter, pitch, length, 17./24)
}

// InternalThread returns the solid to subtract for a threaded hole: a [Thread] whose
// minor diameter is diameter - 1.0825 pitch. Use [Round] for clearance.
func InternalThread(diameter, pitch, length float64) (Solid, error) {
	return makeThread(diameter, pitch, length, 15./24)
}

// makeThread returns a thread with a depth in heights of the sharp triangle, pitch·√3/2.
func makeThread(diameter, pitch, length, depth float64) (Solid, error) {
	err := errors.Join(checkLength("diameter", diameter), checkLength("pitch", pitch), checkLength("length", length))
	if err != nil {
		return nil, err
	}
	if pitch > diameter/3 {
		return nil, fmt.Errorf("solid: a thread of diameter %v with pitch %v; the pitch has to be at most a third of the diameter", diameter, pitch)
	}
	t := thread{root: diameter/2 - depth*pitch*math.Sqrt(3)/2, crest: diameter / 2, pitch: pitch, length: length}
	// Nearer to the axis than this, only the core counts (see Distance). Farther out, one
	// turn climbs a pitch on at least this circumference.
	core := 2*t.root - t.crest - pitch*math.Sqrt(3)/16
	t.steep = math.Hypot(1, math.Sqrt(0.75)*pitch/(2*math.Pi*core))
	return t, nil
}

func (t thread) Distance(p Vec) float64 {
	r := math.Sqrt(p[0]*p[0] + p[1]*p[1])
	turns := p[2]/t.pitch - math.Atan2(p[1], p[0])/(2*math.Pi)
	along := math.Abs(turns-math.Round(turns)) * t.pitch // from the middle of a crest
	// The ridge is pitch/16 wide on each side at the crest and widens inwards.
	flank := (along-t.pitch/16)*math.Sqrt(0.75) - (t.crest-r)/2
	d := min(r-t.root, max(r-t.crest, flank/t.steep))
	return max(d, slab(p[2], t.length))
}

func (t thread) Bounds() Box {
	return Box{Vec{-t.crest, -t.crest, 0}, Vec{t.crest, t.crest, t.length}}
}

package codec

import (
	"fmt"
	"reflect"
	"sync"
	"time"
)

// How the zone of a time is kept.
const (
	zoneUTC   = 0 // time.UTC
	zoneLocal = 1 // time.Local, where it gives the same name and offset again
	zoneFixed = 2 // a time.FixedZone
	zoneNamed = 3 // of the IANA database, where it gives the same offset again
)

// planTime keeps a time as an array: seconds since 1970, nanoseconds, kind of
// zone, and except for UTC its name and offset in seconds (for time.Local the
// name is that at the time). A zone that is another one where the time is read
// makes the value unreadable rather than wrong.
func planTime(p *plan) {
	p.plain, p.key = true, true
	p.least = 6
	p.write = func(w *cborWriter, v reflect.Value) error {
		t := v.Interface().(time.Time)
		kind, name, offset, err := zoneOf(t)
		if err != nil {
			return err
		}
		w.head(majorArray, 5)
		w.int(t.Unix())
		w.int(int64(t.Nanosecond()))
		w.int(kind)
		w.string(name)
		w.int(int64(offset))
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		r.exactly(5)
		sec, nsec, kind, name, offset := r.int(), r.int(), r.int(), r.string(), r.int()
		if r.err != nil {
			return
		}
		t, err := timeIn(time.Unix(sec, nsec), kind, name, int(offset))
		if err != nil {
			r.fail("%v", err)
			return
		}
		v.Set(reflect.ValueOf(t))
	}
}

func zoneOf(t time.Time) (kind int64, name string, offset int, err error) {
	loc := t.Location()
	if loc == time.UTC {
		return zoneUTC, "", 0, nil
	}
	name, offset = t.Zone()
	if loc == time.Local {
		return zoneLocal, name, offset, nil
	}
	if reflect.DeepEqual(loc, time.FixedZone(loc.String(), offset)) {
		return zoneFixed, loc.String(), offset, nil
	}
	if known, err := location(loc.String()); err != nil || !sameRules(t, t.In(known)) {
		return 0, "", 0, fmt.Errorf("codec: a time in the zone %q, which is not that of the IANA database here, cannot be kept; use its UTC method", loc)
	}
	return zoneNamed, loc.String(), offset, nil
}

// sameRules reports whether two zones agree around a time, half a year to both
// sides.
func sameRules(a, b time.Time) bool {
	const halfYear = 182 * 24 * time.Hour
	for _, d := range []time.Duration{-halfYear, 0, halfYear} {
		nameA, offsetA := a.Add(d).Zone()
		nameB, offsetB := b.Add(d).Zone()
		if nameA != nameB || offsetA != offsetB {
			return false
		}
	}
	return true
}

func timeIn(t time.Time, kind int64, name string, offset int) (time.Time, error) {
	switch kind {
	case zoneUTC:
		return t.UTC(), nil
	case zoneFixed:
		return t.In(time.FixedZone(name, offset)), nil
	case zoneLocal:
		if n, o := t.Zone(); n != name || o != offset {
			return t, fmt.Errorf("a local time of zone %s, and here it is %s", name, n)
		}
		return t, nil
	case zoneNamed:
		loc, err := location(name)
		if err != nil {
			return t, err
		}
		t = t.In(loc)
		if _, o := t.Zone(); o != offset {
			return t, fmt.Errorf("zone %s has another offset here", name)
		}
		return t, nil
	}
	return t, fmt.Errorf("unknown kind of zone %d", kind)
}

var locations sync.Map // by name; only names of the IANA database

// location is time.LoadLocation with a memory.
func location(name string) (*time.Location, error) {
	if loc, ok := locations.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	locations.Store(name, loc)
	return loc, nil
}

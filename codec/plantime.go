package codec

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// Encodings of the zone of a time.
const (
	zoneUTC   = 0 // time.UTC
	zoneLocal = 1 // time.Local, if it has the same rules
	zoneFixed = 2 // a time.FixedZone
	zoneNamed = 3 // of the IANA database, if it has the same rules
)

// planTime encodes a time as an array: seconds since 1970, nanoseconds, kind of zone, name
// and offset in seconds of the zone (for time.Local the name at that time), and the digest
// of its rules, if any. If the zone has other rules where the time is read, the value is
// unreadable rather than wrong.
func planTime(p *plan) {
	p.plain, p.key = true, true
	p.least = 7
	p.write = func(w *cborWriter, v reflect.Value) error {
		t := *v.Addr().Interface().(*time.Time)
		z, err := zoneOf(t)
		if err != nil {
			return err
		}
		w.head(majorArray, 6)
		w.int(t.Unix())
		w.int(int64(t.Nanosecond()))
		w.int(z.kind)
		w.string(z.name)
		w.int(int64(z.offset))
		w.bytes(z.rules)
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		r.exactly(6)
		sec, nsec := r.int(), r.int()
		z := zoned{r.int(), r.string(), int(r.int()), r.bytes()}
		if r.err != nil {
			return
		}
		t, err := z.of(time.Unix(sec, nsec))
		if err != nil {
			r.fail("%v", err)
			return
		}
		v.Set(reflect.ValueOf(t))
	}
}

// zoned is the encoded zone of a time.
type zoned struct {
	kind   int64
	name   string
	offset int
	rules  []byte
}

func zoneOf(t time.Time) (zoned, error) {
	loc := t.Location()
	if loc == time.UTC {
		return zoned{kind: zoneUTC}, nil
	}
	rules, ok := deepequal.LocationDigest(loc)
	name, offset := t.Zone()
	known := loc
	if loc != time.Local {
		name = loc.String()
		if deepequal.FixedLocation(loc) {
			return zoned{zoneFixed, name, offset, nil}, nil
		}
		known, _ = location(name)
	}
	if !ok || known == nil || !deepequal.SameLocation(loc, known) {
		return zoned{}, &UnencodableError{What: "a time in the zone " + strconv.Quote(loc.String()) + ", which differs from the local IANA database,",
			Type: reflect.TypeOf(t), Fix: "use its UTC method"}
	}
	kind := int64(zoneNamed)
	if loc == time.Local {
		kind = zoneLocal
	}
	return zoned{kind, name, offset, rules[:]}, nil
}

// of returns t in the zone.
func (z zoned) of(t time.Time) (time.Time, error) {
	loc := time.Local
	switch z.kind {
	case zoneUTC:
		return t.UTC(), nil
	case zoneFixed:
		return t.In(time.FixedZone(z.name, z.offset)), nil
	case zoneLocal:
	case zoneNamed:
		var err error
		if loc, err = location(z.name); err != nil {
			return t, err
		}
	default:
		return t, fmt.Errorf("unknown kind of zone %d", z.kind)
	}
	if rules, ok := deepequal.LocationDigest(loc); !ok || !bytes.Equal(rules[:], z.rules) {
		return t, fmt.Errorf("time zone %s has other rules on this machine", z.name)
	}
	return t.In(loc), nil
}

var locations sync.Map // by name; only names of the IANA database

// location is time.LoadLocation with a cache.
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

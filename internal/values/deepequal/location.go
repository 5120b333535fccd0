package deepequal

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"
)

// LocationDigest returns the SHA-256 of all that a location is: its name, its zones and
// the times at which they change. It is false where this version of Go keeps
// these otherwise than is known here.
func LocationDigest(l *time.Location) (sum [sha256.Size]byte, ok bool) {
	known.Lock()
	defer known.Unlock()
	if sum, ok := known.digests[l]; ok {
		return sum, true
	}
	_, _ = time.Time{}.In(l).Zone() // fills in time.Local
	text, ok := describe(nil, reflect.ValueOf(l).Elem(), 0)
	if !ok {
		return sum, false
	}
	if len(known.digests) >= maxKnown {
		clear(known.digests)
	}
	sum = sha256.Sum256(text)
	known.digests[l] = sum
	return sum, true
}

// SameLocation reports whether two locations have the same name and rules.
func SameLocation(a, b *time.Location) bool {
	if a == b {
		return true
	}
	x, okX := LocationDigest(a)
	y, okY := LocationDigest(b)
	return okX && okY && x == y
}

// FixedLocation reports whether a location is one that [time.FixedZone] makes.
func FixedLocation(l *time.Location) bool {
	_, offset := time.Time{}.In(l).Zone()
	return SameLocation(l, time.FixedZone(l.String(), offset))
}

// maxKnown bounds the locations whose digests are remembered: a program may
// load one again for each read.
const maxKnown = 1 << 10

var known = struct {
	sync.Mutex
	digests map[*time.Location][sha256.Size]byte
}{digests: map[*time.Location][sha256.Size]byte{}}

// fields are those of a location that make it what it is, and those of their
// elements; the others remember what was looked up.
var fields = [...][]string{{"name", "zone", "tx", "extend"}, {"name", "offset", "isDST"}, {"when", "index", "isstd", "isutc"}}

// describe writes out a struct by the fields of one row.
func describe(text []byte, v reflect.Value, row int) ([]byte, bool) {
	for _, name := range fields[row] {
		f := v.FieldByName(name)
		switch f.Kind() {
		case reflect.String:
			text = strconv.AppendQuote(text, f.String())
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint8:
			text = fmt.Appendf(text, "%v ", f)
		case reflect.Slice:
			text = fmt.Appendf(text, "[%d]", f.Len())
			elements := 1
			if name == "tx" {
				elements = 2
			}
			for i := range f.Len() {
				var ok bool
				if text, ok = describe(text, f.Index(i), elements); !ok {
					return nil, false
				}
			}
		default:
			return nil, false
		}
	}
	return text, true
}

package deepequal

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// A Sharing notes of two values that are compared which memory of the one
// corresponds to which of the other, and so whether they share memory within
// themselves in the same way. Its zero value is ready.
type Sharing struct {
	pairs   []shared
	outside []span // of which there is no other
}

// span is memory.
type span struct{ at, size uintptr }

type shared struct {
	a, b unsafe.Pointer
	size uintptr
}

// Compare is [Values], and notes what the two refer to, strings and zones of
// times left out: they cannot be written to.
func (s *Sharing) Compare(a, b reflect.Value) (path string, same bool) {
	c := comparison{seen: map[pair]bool{}, shared: s}
	same = c.same(a.Elem(), b.Elem())
	return c.path, same
}

// Note notes memory of the two values that corresponds.
func (s *Sharing) Note(a, b unsafe.Pointer, size uintptr) {
	if s == nil || size == 0 {
		return
	}
	p := shared{a, b, size}
	if n := len(s.pairs); n == 0 || s.pairs[n-1] != p { // many may refer to one table
		s.pairs = append(s.pairs, p)
	}
}

// Outside notes memory that will not be shared with any other.
func (s *Sharing) Outside(at, size uintptr) { s.outside = append(s.outside, span{at, size}) }

// Add notes all that another has noted.
func (s *Sharing) Add(other *Sharing) { s.pairs = append(s.pairs, other.pairs...) }

// Any reports whether anything was noted but what is outside.
func (s *Sharing) Any() bool { return len(s.pairs) > 0 }

// Lost reports whether the two values do not share their memory alike.
func (s *Sharing) Lost() bool {
	ofA := func(p shared) uintptr { return uintptr(p.a) }
	ofB := func(p shared) uintptr { return uintptr(p.b) }
	return differ(s.pairs, ofB, ofA) || differ(s.pairs, ofA, ofB) || s.meets()
}

// differ reports whether what overlaps in the one memory does not in the other,
// or otherwise.
func differ(pairs []shared, one, other func(shared) uintptr) bool {
	slices.SortFunc(pairs, func(p, q shared) int { return cmp.Compare(one(p), one(q)) })
	var last shared // that reaches farthest
	for i, p := range pairs {
		if i > 0 && one(p) < one(last)+last.size && one(p)-one(last) != other(p)-other(last) {
			return true
		}
		if i == 0 || one(p)+p.size > one(last)+last.size {
			last = p
		}
	}
	return false
}

// meets reports whether memory outside is among what is noted, which is sorted
// by now.
func (s *Sharing) meets() bool {
	var ends []uintptr // up to where the memory noted so far reaches
	for i, p := range s.pairs {
		end := uintptr(p.a) + p.size
		if i > 0 {
			end = max(end, ends[i-1])
		}
		ends = append(ends, end)
	}
	return slices.ContainsFunc(s.outside, func(o span) bool {
		// the last that begins before the end of o
		i, _ := slices.BinarySearchFunc(s.pairs, o.at+o.size, func(p shared, end uintptr) int { return cmp.Compare(uintptr(p.a), end) })
		return i > 0 && ends[i-1] > o.at
	})
}

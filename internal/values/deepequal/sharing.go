package deepequal

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// A Sharing records which memory of two compared values corresponds, and so whether
// they share memory within themselves in the same way. Its zero value is ready to use.
type Sharing struct {
	pairs   []shared
	outside []span // memory without counterpart
}

type span struct{ at, size uintptr }

type shared struct {
	a, b unsafe.Pointer
	size uintptr
}

// Compare is [Values], and records the memory of the two. It omits strings and zones of
// times, which cannot be written to.
func (s *Sharing) Compare(a, b reflect.Value) (path string, same bool) {
	c := comparison{seen: map[pair]bool{}, shared: s}
	same = c.same(a.Elem(), b.Elem())
	return c.path, same
}

// Note records memory of the two values that corresponds.
func (s *Sharing) Note(a, b unsafe.Pointer, size uintptr) {
	if s == nil || size == 0 {
		return
	}
	p := shared{a, b, size}
	if n := len(s.pairs); n == 0 || s.pairs[n-1] != p { // many may refer to one table
		s.pairs = append(s.pairs, p)
	}
}

// Outside records memory that must not overlap any other.
func (s *Sharing) Outside(at, size uintptr) { s.outside = append(s.outside, span{at, size}) }

// Add adds the records of another Sharing.
func (s *Sharing) Add(other *Sharing) { s.pairs = append(s.pairs, other.pairs...) }

// Any reports whether anything but Outside was recorded.
func (s *Sharing) Any() bool { return len(s.pairs) > 0 }

// Lost reports whether the two values share their memory in different ways.
func (s *Sharing) Lost() bool {
	ofA := func(p shared) uintptr { return uintptr(p.a) }
	ofB := func(p shared) uintptr { return uintptr(p.b) }
	return differ(s.pairs, ofB, ofA) || differ(s.pairs, ofA, ofB) || s.meets()
}

// differ reports whether memory overlaps in one value differently than in the other.
func differ(pairs []shared, one, other func(shared) uintptr) bool {
	slices.SortFunc(pairs, func(p, q shared) int { return cmp.Compare(one(p), one(q)) })
	var last shared // the one with the largest end
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

// meets reports whether outside memory overlaps the recorded memory, which is sorted.
func (s *Sharing) meets() bool {
	var ends []uintptr // largest end so far
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

package deepequal

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/larder-data/larder/internal/values/executable"
)

// A Sum detects writes to memory.
type Sum [4]uint64

// Sight says how much of a value's memory a [Sum] covers.
type Sight int

// Values of Sight.
const (
	Seen   Sight = iota // all
	Shared              // a lock, an atomic or a channel is inside: others may write to it
	Hidden              // a function is inside that captures variables, or may: they are not accessible
)

// SumOf sums up all memory that v refers to, including unexported fields.
func SumOf(v any) (Sum, Sight) {
	s := summer{seen: map[region]bool{}}
	if v == nil {
		return s.sum, Seen
	}
	s.refs(addressable(reflect.ValueOf(v)))
	for len(s.queue) > 0 && !s.shared {
		at := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.visit(at)
	}
	switch {
	case s.shared:
		return s.sum, Shared
	case s.hidden:
		return s.sum, Hidden
	}
	return s.sum, Seen
}

// A region is memory that holds n values of a type, or a map.
type region struct {
	at  unsafe.Pointer
	n   int
	typ reflect.Type // of an element, or of the map
}

type summer struct {
	sum    Sum
	seen   map[region]bool
	queue  []region
	shared bool // found memory that others may write to
	hidden bool // found a function with variables
}

// add adds a piece of memory to the sum. The order of calls does not matter.
func (s *summer) add(at unsafe.Pointer, parts ...[]byte) {
	h := sha256.New()
	var place [8]byte
	binary.LittleEndian.PutUint64(place[:], uint64(uintptr(at)))
	h.Write(place[:])
	for _, p := range parts {
		h.Write(p)
	}
	d := h.Sum(nil)
	carry := uint64(0)
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.LittleEndian.Uint64(d[8*i:]), carry)
	}
}

func raw(at unsafe.Pointer, size uintptr) []byte { return unsafe.Slice((*byte)(at), size) }

func (s *summer) visit(r region) {
	if r.typ.Kind() == reflect.Map {
		for it := reflect.NewAt(r.typ, unsafe.Pointer(&r.at)).Elem().MapRange(); it.Next(); {
			k, e := addressable(it.Key()), addressable(it.Value())
			s.add(r.at, raw(k.Addr().UnsafePointer(), k.Type().Size()), raw(e.Addr().UnsafePointer(), e.Type().Size()))
			s.refs(k)
			s.refs(e)
		}
		return
	}
	size := r.typ.Size()
	s.add(r.at, raw(r.at, size*uintptr(r.n)))
	if !refers(r.typ) {
		return
	}
	for i := range r.n {
		s.refs(reflect.NewAt(r.typ, unsafe.Add(r.at, uintptr(i)*size)).Elem())
	}
}

func (s *summer) follow(r region) {
	if r.n > 0 && !s.seen[r] {
		s.seen[r] = true
		s.queue = append(s.queue, r)
	}
}

// refs follows the references of an addressable value.
func (s *summer) refs(v reflect.Value) {
	t := v.Type()
	if s.shared = s.shared || isShared(t); s.shared || !refers(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			s.follow(region{v.UnsafePointer(), 1, t.Elem()})
		}
	case reflect.Slice:
		s.follow(region{v.UnsafePointer(), v.Cap(), t.Elem()}) // append writes beyond the length
	case reflect.Map:
		if !v.IsNil() {
			s.follow(region{v.UnsafePointer(), 1, t})
		}
	case reflect.Func:
		static, _ := executable.Static(uintptr(*(*unsafe.Pointer)(v.Addr().UnsafePointer())))
		s.hidden = s.hidden || !v.IsNil() && !static
	case reflect.Interface:
		if !v.IsNil() { // the value in an interface cannot be written to
			s.refs(addressable(v.Elem()))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			s.refs(field(v, i))
		}
	case reflect.Array:
		for i := range v.Len() {
			s.refs(v.Index(i))
		}
	}
}

var traits sync.Map // of reflect.Type

type trait struct{ refers, shared bool }

func refers(t reflect.Type) bool   { return traitOf(t).refers }
func isShared(t reflect.Type) bool { return traitOf(t).shared }

func traitOf(t reflect.Type) trait {
	if known, ok := traits.Load(t); ok {
		return known.(trait)
	}
	found := trait{inside(t), reaches(t, map[reflect.Type]bool{})}
	traits.Store(t, found)
	return found
}

// inside reports whether values of t refer to memory that can be written to.
func inside(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Func:
		return true
	case reflect.Array:
		return t.Len() > 0 && inside(t.Elem())
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return false
		}
		for i := range t.NumField() {
			if inside(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// reaches reports whether a lock, an atomic or a channel can be reached from a t
// without an interface in between.
func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t == reflect.TypeFor[time.Time]() {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.UnsafePointer:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return reaches(t.Elem(), seen)
	case reflect.Map:
		return reaches(t.Key(), seen) || reaches(t.Elem(), seen)
	case reflect.Struct:
		if p := t.PkgPath(); p == "sync" || strings.HasPrefix(p, "sync/") || p == "internal/sync" {
			return true
		}
		for i := range t.NumField() {
			if reaches(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// Package deepequal compares values deeply by their memory, including unexported
// fields, and floats by their bits. It encodes values by methods of their types, if a round
// trip returns an equal value, and compares time zones by their rules.
package deepequal

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// maxDepth bounds the depth of comparisons; deeper values count as different.
const maxDepth = 10_000

// Values compares what two pointers of one type point to. If they differ, path leads to
// the first difference, such as ".User.name".
//
// Two pointers are the same if they are equal or point to the same values. The same
// holds for slices and maps, but nil differs from empty, and the capacity of a slice
// does not matter. Functions are the same only if they are nil. Times are the same if
// the instant and the rules of the zone are. For numbers of package big, the number,
// precision, rounding mode and accuracy count.
func Values(a, b reflect.Value) (path string, same bool) {
	c := comparison{seen: map[pair]bool{}}
	same = c.same(a.Elem(), b.Elem())
	return c.path, same
}

// A pair is a comparison in progress or done.
type pair struct {
	a, b unsafe.Pointer
	len  int
	typ  reflect.Type
}

type comparison struct {
	seen   map[pair]bool
	shared *Sharing // may be nil
	depth  int
	path   string // of the difference, built on return
}

// at prepends a step to the path of a difference.
func (c *comparison) at(same bool, step string) bool {
	if !same {
		c.path = step + c.path
	}
	return same
}

// met reports whether a pair was already met. If it differs, the first comparison finds
// that.
func (c *comparison) met(a, b unsafe.Pointer, n int, t reflect.Type) bool {
	p := pair{a, b, n, t}
	met := a == b || c.seen[p]
	c.seen[p] = true
	return met
}

// note records that two references correspond.
func (c *comparison) note(a, b reflect.Value, size uintptr) {
	if !a.IsNil() && !b.IsNil() {
		c.shared.Note(a.UnsafePointer(), b.UnsafePointer(), size)
	}
}

// special compares types whose fields do not determine their meaning.
var special = map[reflect.Type]func(a, b any) bool{
	reflect.TypeFor[time.Time](): func(a, b any) bool {
		x, y := a.(*time.Time), b.(*time.Time)
		return x.Equal(*y) && SameLocation(x.Location(), y.Location())
	},
	reflect.TypeFor[time.Location](): func(a, b any) bool { return SameLocation(a.(*time.Location), b.(*time.Location)) },
	reflect.TypeFor[big.Int]():       func(a, b any) bool { return a.(*big.Int).Cmp(b.(*big.Int)) == 0 },
	reflect.TypeFor[big.Rat]():       func(a, b any) bool { return a.(*big.Rat).Cmp(b.(*big.Rat)) == 0 },
	reflect.TypeFor[big.Float](): func(a, b any) bool {
		x, y := a.(*big.Float), b.(*big.Float)
		return x.Cmp(y) == 0 && x.Signbit() == y.Signbit() && x.Prec() == y.Prec() && x.Mode() == y.Mode() && x.Acc() == y.Acc()
	},
}

func (c *comparison) same(a, b reflect.Value) bool {
	t := a.Type()
	if equal := special[t]; equal != nil {
		return equal(a.Addr().Interface(), b.Addr().Interface())
	}
	if c.depth++; c.depth > maxDepth {
		return false
	}
	defer func() { c.depth-- }()
	switch t.Kind() {
	case reflect.Func:
		return a.IsNil() && b.IsNil()
	case reflect.String:
		return a.String() == b.String()
	case reflect.Pointer:
		if t.Elem() != reflect.TypeFor[time.Location]() {
			c.note(a, b, t.Elem().Size())
		}
		if a.IsNil() || b.IsNil() || c.met(a.UnsafePointer(), b.UnsafePointer(), 0, t) {
			return a.IsNil() == b.IsNil()
		}
		return c.same(a.Elem(), b.Elem())
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Elem().Type() != b.Elem().Type() {
			return a.IsNil() && b.IsNil()
		}
		return c.at(c.same(addressable(a.Elem()), addressable(b.Elem())), ".("+a.Elem().Type().String()+")")
	case reflect.Struct:
		for i := range t.NumField() {
			if name := t.Field(i).Name; name != "_" && !c.at(c.same(field(a, i), field(b, i)), "."+name) {
				return false
			}
		}
		return true
	case reflect.Slice:
		return c.slices(a, b)
	case reflect.Array:
		return c.elements(a, b)
	case reflect.Map:
		return c.maps(a, b)
	}
	// Numbers, bools, channels and addresses are compared as memory.
	size := t.Size()
	return bytes.Equal(unsafe.Slice((*byte)(a.Addr().UnsafePointer()), size), unsafe.Slice((*byte)(b.Addr().UnsafePointer()), size))
}

func (c *comparison) slices(a, b reflect.Value) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	c.note(a, b, uintptr(a.Len())*a.Type().Elem().Size())
	if a.Len() == 0 || c.met(a.UnsafePointer(), b.UnsafePointer(), a.Len(), a.Type()) {
		return true
	}
	return c.elements(a, b)
}

func (c *comparison) elements(a, b reflect.Value) bool {
	if a.Type().Elem().Size() == 0 {
		return true
	}
	if a.Type().Elem().Kind() == reflect.Uint8 {
		return bytes.Equal(a.Slice(0, a.Len()).Bytes(), b.Slice(0, b.Len()).Bytes())
	}
	for i := range a.Len() {
		if !c.at(c.same(a.Index(i), b.Index(i)), "["+strconv.Itoa(i)+"]") {
			return false
		}
	}
	return true
}

func (c *comparison) maps(a, b reflect.Value) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	c.note(a, b, 1)
	if a.IsNil() || c.met(a.UnsafePointer(), b.UnsafePointer(), 0, a.Type()) {
		return true
	}
	var odd [][2]reflect.Value // entries of b whose keys are not equal to themselves
	keys := reflect.MakeMap(reflect.MapOf(a.Type().Key(), a.Type().Key()))
	for it := b.MapRange(); it.Next(); {
		keys.SetMapIndex(it.Key(), it.Key())
		if !it.Key().Equal(it.Key()) {
			odd = append(odd, [2]reflect.Value{addressable(it.Key()), addressable(it.Value())})
		}
	}
	for it := a.MapRange(); it.Next(); {
		k, v := it.Key(), addressable(it.Value())
		var same bool
		if k.Equal(k) { //nolint:gocritic // what is not equal to itself is NaN
			// Equal keys may differ: 0 and -0.
			own, other := keys.MapIndex(k), b.MapIndex(k)
			same = other.IsValid() && c.same(addressable(k), addressable(own)) && c.same(v, addressable(other))
		} else if i := c.find(odd, addressable(k), v); i >= 0 {
			odd, same = slices.Delete(odd, i, i+1), true
		}
		if !c.at(same, fmt.Sprintf("[%v]", k)) {
			return false
		}
	}
	return true
}

// find returns the index of an entry with the same key and value.
func (c *comparison) find(entries [][2]reflect.Value, k, v reflect.Value) int {
	return slices.IndexFunc(entries, func(e [2]reflect.Value) bool {
		try := comparison{seen: maps.Clone(c.seen), depth: c.depth}
		return try.same(k, e[0]) && try.same(v, e[1])
	})
}

func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

func addressable(v reflect.Value) reflect.Value {
	at := reflect.New(v.Type()).Elem()
	at.Set(v)
	return at
}

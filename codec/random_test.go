package codec

import (
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/values/deepequal"
	"github.com/larder-data/larder/key"
)

// A maker draws types, and values of them in which parts are shared.
type maker struct {
	t    *rapid.T
	made map[reflect.Type][]reflect.Value // may be used again
}

func (m *maker) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(m.t, label) }

var leafTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](),
	reflect.TypeFor[complex64](), reflect.TypeFor[string](), reflect.TypeFor[time.Duration](), reflect.TypeFor[time.Time](), reflect.TypeFor[url.URL](),
	reflect.TypeFor[big.Int](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[any](), reflect.TypeFor[fmt.Stringer](),
}

// keyTypes may be keys of maps.
var keyTypes = leafTypes[:9]

func (m *maker) typ(depth int) reflect.Type {
	if depth == 0 {
		return leafTypes[m.pick("leaf", len(leafTypes))]
	}
	switch m.pick("kind", 7) {
	case 0:
		return reflect.SliceOf(m.typ(depth - 1))
	case 1:
		return reflect.ArrayOf(m.pick("length", 4), m.typ(depth-1))
	case 2:
		return reflect.MapOf(keyTypes[m.pick("key", len(keyTypes))], m.typ(depth-1))
	case 3, 4:
		return reflect.PointerTo(m.typ(depth - 1))
	case 5:
		fields := make([]reflect.StructField, m.pick("fields", 4))
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: m.typ(depth - 1)}
		}
		return reflect.StructOf(fields)
	}
	return leafTypes[m.pick("leaf", len(leafTypes))]
}

// value draws an addressable value, sometimes one that was drawn before.
func (m *maker) value(t reflect.Type, depth int) reflect.Value {
	if before := m.made[t]; len(before) > 0 && m.pick("again", 4) == 0 {
		return before[m.pick("which", len(before))]
	}
	v := reflect.New(t).Elem()
	m.fill(v, depth)
	m.made[t] = append(m.made[t], v)
	return v
}

var (
	texts  = []string{"", "a", "ab", "\xff", "caf\u00e9", "long text that is long enough to be written once and referred to after that"}
	floats = []uint64{0, 1 << 63, math.Float64bits(1.5), 0x7ff0000000000001, 0x7ff8000000000001, 0xfff8dead0000beef, math.Float64bits(math.Inf(1)), 1}
	times  = []time.Time{{}, time.Unix(1, 2).UTC(), time.Unix(1, 2), time.Unix(1, 2).In(time.FixedZone("A", 60)), time.Unix(1, 2).In(time.FixedZone("A", 61))}
	urls   = []url.URL{{}, {Host: "h"}, {Host: "h", ForceQuery: true}, {User: url.User("u")}, {User: url.UserPassword("u", "")}, {Path: "/a b", RawPath: "/a%20b"}}
	addrs  = []netip.Addr{{}, netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("::ffff:1.2.3.4"), netip.MustParseAddr("fe80::1%a")}
)

func (m *maker) fill(v reflect.Value, depth int) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = times[m.pick("time", len(times))]
		return
	case *url.URL:
		*at = urls[m.pick("url", len(urls))]
		return
	case *big.Int:
		at.SetInt64(int64(m.pick("big", 3))-1).Lsh(at, uint(m.pick("shift", 80)))
		return
	case *netip.Addr:
		*at = addrs[m.pick("addr", len(addrs))]
		return
	case *fmt.Stringer:
		*at = []fmt.Stringer{nil, time.Second, time.Unix(1, 0).UTC(), big.NewInt(7), &urls[1], addrs[1], (*big.Int)(nil)}[m.pick("stringer", 7)]
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(m.pick("bool", 2) == 1)
	case reflect.Int, reflect.Int8, reflect.Int64:
		v.SetInt(int64(m.pick("int", 4)) - 2)
	case reflect.Uint64:
		v.SetUint(math.MaxUint64 - uint64(m.pick("uint", 3)))
	case reflect.Float32:
		*(*uint32)(v.Addr().UnsafePointer()) = []uint32{0, 1 << 31, 0x7f800001, 0x7fc00000, 1}[m.pick("float32", 5)]
	case reflect.Float64:
		*(*uint64)(v.Addr().UnsafePointer()) = floats[m.pick("float64", len(floats))]
	case reflect.Complex64:
		*(*[2]uint32)(v.Addr().UnsafePointer()) = [2]uint32{0x7f800001, uint32(m.pick("imag", 2))}
	case reflect.String:
		v.SetString(texts[m.pick("text", len(texts))])
	case reflect.Slice:
		if n := m.pick("length", 5) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n+m.pick("capacity", 2)))
			m.elements(v, depth)
		}
	case reflect.Array:
		m.elements(v, depth)
	case reflect.Map:
		if n := m.pick("entries", 4) - 1; n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				v.SetMapIndex(m.value(v.Type().Key(), depth), m.value(v.Type().Elem(), depth))
			}
		}
	case reflect.Pointer:
		if m.pick("nil", 4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			v.Field(i).Set(m.value(v.Field(i).Type(), depth))
		}
	case reflect.Interface:
		if depth > 0 && m.pick("nil", 4) > 0 {
			if t := m.typ(2); namable(t) {
				v.Set(m.value(t, depth-1))
			}
		}
	}
}

// namable reports whether a type can be found again behind an interface.
func namable(t reflect.Type) bool {
	_, err := typeText(t)
	return err == nil
}

func (m *maker) elements(v reflect.Value, depth int) {
	for i := range v.Len() {
		v.Index(i).Set(m.value(v.Type().Elem(), depth))
	}
}

// sharing numbers the memory that a value refers to, in walk order. Equal values share alike if the numbers are equal.
func sharing(v reflect.Value) []int {
	type region struct {
		at  uintptr
		len int
		typ reflect.Type
	}
	var list []int
	seen := map[region]int{}
	met := func(r region) bool {
		n, ok := seen[r]
		if !ok {
			n = len(seen)
			seen[r] = n
		}
		list = append(list, n)
		return ok
	}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Pointer:
			if !v.IsNil() && v.Type().Elem().Size() > 0 && v.Type() != reflect.TypeFor[*url.Userinfo]() && !met(region{v.Pointer(), 0, v.Type()}) {
				walk(v.Elem())
			}
		case reflect.Slice:
			if v.Len() > 0 && v.Type().Elem().Size() > 0 && met(region{v.Pointer(), v.Len(), v.Type()}) {
				return
			}
			fallthrough
		case reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			if v.IsNil() || met(region{v.Pointer(), 0, v.Type()}) {
				return
			}
			keys := v.MapKeys()
			keys = slices.DeleteFunc(keys, func(k reflect.Value) bool { return !k.Equal(k) }) //nolint:gocritic // NaN
			slices.SortFunc(keys, func(a, b reflect.Value) int {
				x, _ := key.Of(a.Interface())
				y, _ := key.Of(b.Interface())
				return slices.Compare(x[:], y[:])
			})
			for _, k := range keys {
				walk(v.MapIndex(k))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		}
	}
	walk(v)
	return list
}

// TestRandomTypesComeBack checks that values come back with their sharing and the same key, and that other values have
// other keys.
func TestRandomTypesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &maker{t: t, made: map[reflect.Type][]reflect.Value{}}
		typ := m.typ(3)
		v, other := m.value(typ, 2), m.value(typ, 2)
		got, b := throughCodec(t, v)
		if again, c := throughCodec(t, got); string(c) != string(b) || !again.IsValid() {
			t.Fatalf("%v: written as % x and then % x", typ, b, c)
		}
		x, err := key.Of(v.Interface())
		if err != nil {
			return // two keys of a map with equal content
		}
		if y, err := key.Of(got.Interface()); x != y || err != nil {
			t.Fatalf("%v: %#v came back with another key (%v)", typ, v, err)
		}
		if path, same := deepequal.Values(v.Addr(), got.Addr()); !same {
			t.Fatalf("%v: %#v came back as %#v: another %s", typ, v, got, path)
		}
		if before, after := sharing(v), sharing(got); !slices.Equal(before, after) {
			t.Fatalf("%v: %#v shares %v, and came back sharing %v", typ, v, before, after)
		}
		_, same := deepequal.Values(v.Addr(), other.Addr())
		same = same && slices.Equal(sharing(v), sharing(other))
		if y, err := key.Of(other.Interface()); err == nil && same != (x == y) {
			t.Fatalf("%v: same %v, one key %v:\n%#v\n%#v", typ, same, x == y, v, other)
		}
	})
}

func throughCodec(t *rapid.T, v reflect.Value) (got reflect.Value, b []byte) {
	p, err := (&planner{plans: map[reflect.Type]*plan{}}).plan("v", v.Type())
	if err != nil {
		t.Fatal(err)
	}
	w := cborWriter{}
	if err := p.write(&w, v); err != nil {
		t.Fatal(err)
	}
	r := cborReader{b: w.dst, all: len(w.dst)}
	got = reflect.New(v.Type()).Elem()
	if p.read(&r, got); r.err != nil || len(r.b) > 0 {
		t.Fatalf("%v: %v, %d bytes left", v.Type(), r.err, len(r.b))
	}
	return got, w.dst
}

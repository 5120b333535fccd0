package key

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type lawful struct {
	Any  any
	List []any
	Map  map[string]any
	Next *lawful
	F    float64
	Skip int `key:"-"`
}

// values draws nested values from few distinct parts, so that values that are equal, or differ only in framing, are
// common.
func values(depth int) *rapid.Generator[any] {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "\x01a", "a\x01b"})
	small := rapid.IntRange(-1, 2)
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(text, func(s string) any { return word(s) }),
		rapid.Map(text, func(s string) any { return []byte(s) }),
		rapid.Map(small, func(i int) any { return i }),
		rapid.Map(small, func(i int) any { return int8(i) }),
		rapid.Map(small, func(i int) any { return count(i) }),
		rapid.Map(small, func(i int) any { return i > 0 }),
		rapid.Map(small, func(i int) any { return time.Unix(int64(i), 0).UTC() }),
		rapid.SampledFrom([]any{0.0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff0000000000001), 1.0, float32(1)}),
		rapid.Map(rapid.SliceOfN(small, 0, 3), func(s []int) any { return s }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]float32{0, 1, float32(math.NaN())}), 0, 3), func(s []float32) any { return s }),
		rapid.Map(rapid.SliceOfN(text, 0, 3), func(s []string) any { return s }),
		rapid.Map(rapid.SliceOfN(text, 2, 2), func(s []string) any { return [2]string(s) }),
		rapid.Map(small, func(i int) any { return pair{A: i} }),
		rapid.Map(small, func(i int) any { return couple{A: i} }),
		rapid.Map(small, func(i int) any { return &i }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := values(depth - 1)
	list := rapid.SliceOfN(inner, 0, 3)
	named := rapid.MapOfN(text, inner, 0, 3)
	return rapid.OneOf(append(leaves,
		rapid.Map(list, func(l []any) any { return l }),
		rapid.Map(list, func(l []any) any { return &l }),
		rapid.Map(named, func(m map[string]any) any { return m }),
		rapid.Map(rapid.MapOfN(small, list, 0, 3), func(m map[int][]any) any { return m }),
		rapid.Custom(func(t *rapid.T) any {
			s := lawful{Any: inner.Draw(t, "any"), Skip: small.Draw(t, "skip")}
			if small.Draw(t, "more") > 0 {
				s.List, s.Map = list.Draw(t, "list"), named.Draw(t, "map")
				s.Next = &lawful{F: float64(small.Draw(t, "f"))}
			}
			return s
		}),
	)...)
}

// same is an independent definition of the equality that encodings must match.
func same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	if t, ok := a.Interface().(time.Time); ok {
		return t == b.Interface()
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		return math.Float64bits(x) == math.Float64bits(y)
	case reflect.Pointer, reflect.Interface:
		return a.IsNil() == b.IsNil() && (a.IsNil() || same(a.Elem(), b.Elem()))
	case reflect.Slice:
		return a.IsNil() == b.IsNil() && sameElements(a, b)
	case reflect.Array:
		return sameElements(a, b)
	case reflect.Map:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		for _, k := range a.MapKeys() {
			if v := b.MapIndex(k); !v.IsValid() || !same(a.MapIndex(k), v) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Tag.Get("key") != "-" && !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}

func sameElements(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// law checks that encodings are equal if and only if types and values are.
func law(t *rapid.T) {
	g := values(3)
	a, b := g.Draw(t, "a"), g.Draw(t, "b")
	x, err := Encode(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := Encode(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	if equal := same(reflect.ValueOf(a), reflect.ValueOf(b)); bytes.Equal(x, y) != equal {
		t.Fatalf("%#v\n%#v\nequal: %v, equal encodings: %v", a, b, equal, !equal)
	}
	// No encoding is a prefix of another, which makes concatenation safe.
	if len(x) != len(y) && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
		t.Fatalf("the encoding of one begins that of the other:\n%#v\n%#v", a, b)
	}
	z, err := Encode([]byte("before"), clone(reflect.ValueOf(a)))
	if err != nil || string(z) != "before"+string(x) {
		t.Fatalf("%#v: its copy has another encoding (%v)", a, err)
	}
}

// clone rebuilds maps and slices, so that addresses and map order change.
func clone(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	switch x := v.Interface().(type) {
	case []any:
		if x == nil {
			return x
		}
		c := make([]any, 0, len(x)+3)
		for _, e := range x {
			c = append(c, clone(reflect.ValueOf(e)))
		}
		return c
	case map[string]any:
		if x == nil {
			return x
		}
		c := make(map[string]any, 100)
		for k, e := range x {
			c[k] = clone(reflect.ValueOf(e))
		}
		return c
	default:
		return x
	}
}

func TestLaw(t *testing.T) { rapid.Check(t, law) }

func FuzzLaw(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 2048)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(law))
}

// TestMutations checks that each changed bit of a value changes the digest.
func TestMutations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3*spillAt).Draw(t, "n")
		data := make([]byte, n)
		before, _ := Of(data)
		data[rapid.IntRange(0, n-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if after, _ := Of(data); after == before {
			t.Fatal("a changed bit is not in the digest")
		}
	})
}

package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

type (
	// lossy drops all but its first field when it marshals itself.
	lossy struct{ cached, lost int }
	// shy panics when it is nil inside.
	shy    struct{ at *int }
	hollow struct{ *shy }
	shape  interface{ Area() float64 }
	square struct{ Side float64 }
	disc   struct{ R *float64 }
	alien  struct{ A float64 }
)

func (l lossy) MarshalBinary() ([]byte, error)    { return []byte{byte(l.cached)}, nil }
func (l *lossy) UnmarshalBinary(b []byte) error   { l.cached = int(b[0]); return nil }
func (s *shy) MarshalBinary() ([]byte, error)     { return []byte{byte(*s.at)}, nil }
func (s *shy) UnmarshalBinary(b []byte) error     { s.at = ptr(int(b[0])); return nil }
func (h hollow) MarshalBinary() ([]byte, error)   { return h.shy.MarshalBinary() }
func (h *hollow) UnmarshalBinary(b []byte) error  { h.shy = &shy{}; return h.shy.UnmarshalBinary(b) }
func (s square) Area() float64                    { return s.Side * s.Side }
func (d *disc) Area() float64                     { return *d.R * *d.R * math.Pi }
func (a alien) Area() float64                     { return a.A }
func (octets) MarshalText() ([]byte, error)       { return nil, errors.New("not requested") }
func (o *octets) UnmarshalText(text []byte) error { return errors.New("not requested") }
func (name) MarshalText() ([]byte, error)         { return []byte("always the same"), nil }
func (n *name) UnmarshalText(text []byte) error   { *n = name(text); return nil }

func init() {
	codec.RegisterType[square]()
	codec.RegisterType[disc]()
	codec.RegisterType[celsius]()
	codec.RegisterType[node]()
}

// TestTypesThatLoseSomething checks that data that a type's own methods drop is stored by its structure, or gives an
// error.
func TestTypesThatLoseSomething(t *testing.T) {
	for _, u := range []url.URL{
		{}, {Path: "/a b", RawPath: "/a%20b"}, {Host: "h", ForceQuery: true}, {Scheme: "x", Opaque: "y"}, {Path: "//a"}, {User: url.User("")},
		{User: url.UserPassword("", "")}, {User: url.User("u")}, {User: url.UserPassword("u", "p")}, {Host: "a b"}, {Scheme: "http", Path: "relative"},
		{Fragment: "f", RawFragment: "other"}, {OmitHost: true, Path: "/"}, {RawQuery: "%"}, {Scheme: "UPPER"}, {Host: "[::1%eth0]"},
	} {
		exact(t, u)
		exact(t, &u)
		exact[any](t, u)
	}
	exact(t, lossy{cached: 1})
	exact(t, regexp.MustCompile("a+(b|c)*$"))
	longest := regexp.MustCompile("a+|b")
	longest.Longest()
	inexact(t, longest, "*regexp.Regexp")
	inexact(t, lossy{1, 2}, "lossy")
	inexact(t, []map[string]*lossy{nil, {"x": {1, 2}}}, `[]map[string]*codec_test.lossy[1]["x"]`)
	inexact(t, hollow{}, "hollow")
	inexact(t, struct{ V hollow }{hollow{&shy{}}}, "struct { V codec_test.hollow }.V")
	exact(t, hollow{&shy{ptr(3)}})
	for _, x := range []*big.Float{new(big.Float), big.NewFloat(math.Inf(-1)), big.NewFloat(math.Copysign(0, -1)), new(big.Float).SetPrec(5000).Quo(big.NewFloat(1), big.NewFloat(3))} {
		got, _ := restored(t, x)
		if got.Cmp(x) != 0 || got.Prec() != x.Prec() || got.Signbit() != x.Signbit() {
			t.Errorf("%v came back as %v", x, got)
		}
	}
	exact(t, *big.NewRat(0, 1))
}

// knot is two references that may be one.
type knot struct{ a, b *int }

// table is the value to which all knots that hold 0 refer.
var table = new(int)

func (k knot) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d %d", *k.a, *k.b), nil
}

func (k *knot) UnmarshalText(text []byte) error {
	k.a, k.b = new(int), new(int)
	_, err := fmt.Sscan(string(text), k.a, k.b)
	if *k.b == 0 {
		k.b = table
	}
	return err
}

// window is a list and a part of it.
type window struct{ all, part []byte }

func (w window) MarshalBinary() ([]byte, error) { return w.all, nil }
func (w *window) UnmarshalBinary(b []byte) error {
	w.all, w.part = b, b[1:2]
	return nil
}

// TestSharingThatIsLost checks that a value that marshals itself is stored only if all sharing is restored, within it
// and around it.
func TestSharingThatIsLost(t *testing.T) {
	one, list := ptr(1), []byte{1, 2, 3}
	exact(t, knot{ptr(1), ptr(1)})
	exact(t, []knot{{ptr(1), table}, {ptr(2), table}})
	exact(t, window{list, list[1:2]})
	inexact(t, knot{one, one}, "knot")
	inexact(t, []knot{{ptr(2), ptr(3)}, {one, one}}, "[]codec_test.knot[1]")
	inexact(t, []knot{{one, ptr(1)}, {one, ptr(2)}}, "[]codec_test.knot")
	type around struct {
		P *int
		K knot
	}
	exact(t, around{ptr(1), knot{ptr(1), ptr(1)}})
	inexact(t, around{one, knot{ptr(2), one}}, "around")
	inexact(t, around{table, knot{ptr(2), table}}, "around")
	type adjacent struct {
		List []byte
		W    window
	}
	inexact(t, adjacent{list[2:], window{list, list[1:2]}}, "adjacent")
	exact(t, adjacent{list[3:], window{list, list[1:2]}})
}

// TestLongListsOfNothing checks that long lists of empty values take only their length.
func TestLongListsOfNothing(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 33, math.MaxInt} {
		v := make([]struct{}, n)
		got, b := restored(t, [][]struct{}{v, nil})
		if len(got[0]) != n || got[0] == nil || got[1] != nil || len(b) > 20 {
			t.Errorf("%d came back as %d, by %d bytes", n, len(got[0]), len(b))
		}
	}
	exact(t, map[string][][0]int{"a": make([][0]int, 7), "b": {}})
	exact(t, make([]struct{ _ [0]int }, 3))
}

func inexact[T any](t *testing.T, v T, path string) {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Encode([]byte("before"), v)
	e, ok := errors.AsType[*codec.UnencodableError](err)
	if !ok || e.Path != path || string(b) != "before" {
		t.Errorf("%v: %v, not at %s, %q", v, err, path, b)
	}
}

func TestValuesBehindInterfaces(t *testing.T) {
	for _, v := range []any{
		[]string{"a"}, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), json.Number("1e400"), map[string]any{"a": []int{1}}, map[int][]string{1: nil},
		time.Minute, [2]string{"x", "y"}, [0]int{}, ptr(ptr(1)), []any{[]any(nil), (*int)(nil), [][]float32{{1}}}, square{2}, &square{3}, []square{{1}}, &disc{ptr(1.0)},
		celsius(3), map[celsius]*square{1: {2}}, complex64(1i), json.RawMessage("{"), []url.URL{{Host: "h"}}, url.Values{"a": {"b"}}, image.Pt(1, 2), big.NewInt(1), *big.NewInt(7),
		[]time.Duration{1}, [][2]any{{1, "a"}}, any(node{1, []*node{{Value: 2}}}), []*square{nil, {1}}, map[string]map[string][]*time.Time{"a": nil},
		big.NewRat(1, 3), big.NewFloat(1.5), (*big.Int)(nil), netip.MustParseAddr("fe80::1%eth0"), netip.MustParsePrefix("10.0.0.0/8"), [16]byte{7},
		array.NewGrayAlpha(image.Rect(1, 1, 3, 2)), array.NewGrayAlpha16(image.Rect(0, 0, 2, 2)), map[string]struct{}{"a": {}}, struct{}{}, []struct{}{{}, {}},
		strings.Repeat("long", 100), float32(math.MaxFloat32), map[bool]any{true: nil}, []byte{}, [3]byte{1, 2, 3},
	} {
		exact(t, v)
		exact(t, []any{v, v, map[string]any{"v": v}})
	}
	exact(t, []shape{square{1}, &square{2}, &disc{ptr(2.0)}, nil, (*disc)(nil)})
	exact[interface{ String() string }](t, time.Second)
	inexact(t, []shape{square{}, alien{1}}, "[]codec_test.shape[1].(codec_test.alien)")
	inexact[any](t, []any{struct{ A any }{}}, "interface {}.([]interface {})[0].(struct { A interface {} })")
}

func TestTypesOfOneNameAreNotTakenForOneAnother(t *testing.T) {
	type twin struct{ A int }
	codec.RegisterType[twin]()
	exact[any](t, twin{1})
	c, _ := codec.For[any]()
	before, err := c.Encode(nil, twin{1})
	if err != nil {
		t.Fatal(err)
	}
	other := func() any {
		type twin struct{ A int }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a second type of one name was registered")
				}
			}()
			codec.RegisterType[twin]()
		}()
		return twin{1}
	}()
	for _, v := range []any{twin{1}, other} {
		if _, err := c.Encode(nil, v); err == nil {
			t.Errorf("a %T of two was cached", v)
		}
	}
	if v, err := c.Decode(before); err == nil {
		t.Errorf("a twin was read as %T", v)
	}
	for _, register := range []func(){codec.RegisterType[struct{}], codec.RegisterType[shape], codec.RegisterType[connected]} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("what cannot be cached was registered")
				}
			}()
			register()
		}()
	}
}

type turtle *turtle

// TestSharing checks that shared memory is shared again.
func TestSharing(t *testing.T) {
	one := ptr(1)
	if got, _ := restored(t, []*int{one, ptr(1), one}); got[0] != got[2] || got[0] == got[1] || *got[1] != 1 {
		t.Errorf("%v", got)
	}
	m := map[string]int{"a": 1}
	if got, _ := restored(t, []map[string]int{m, {"a": 1}, m}); reflect.ValueOf(got[0]).Pointer() != reflect.ValueOf(got[2]).Pointer() || reflect.ValueOf(got[0]).Pointer() == reflect.ValueOf(got[1]).Pointer() {
		t.Errorf("%v", got)
	}
	s := []float64{1, 2}
	if got, _ := restored(t, struct{ A, B, C []float64 }{s, s, s[:1]}); &got.A[0] != &got.B[0] || &got.C[0] == &got.A[0] {
		t.Errorf("%v", got)
	}
	if got, _ := restored(t, map[string]any{"x": one, "y": []*int{one}, "z": [1]*int{one}}); got["x"] != got["y"].([]*int)[0] || got["x"] != got["z"].([1]*int)[0] {
		t.Errorf("%v", got)
	}

	n := &node{Children: make([]*node, 2)}
	n.Children[0], n.Children[1] = n, n
	if got, _ := restored(t, n); got.Children[0] != got || got.Children[1] != got {
		t.Error("a node is not its own child")
	}
	list := []any{nil, 1}
	list[0] = list
	if got, _ := restored(t, list); &got[0].([]any)[1] != &got[0].([]any)[0].([]any)[1] {
		t.Error("a list is not in itself")
	}
	l := loop{}
	l["l"] = l
	if got, _ := restored(t, l); reflect.ValueOf(got["l"]).Pointer() != reflect.ValueOf(got["l"]["l"]).Pointer() {
		t.Error("a map is not in itself")
	}
	var p turtle
	p = &p
	if got, _ := restored(t, p); *got != *(*got) {
		t.Error("a pointer does not point to itself")
	}
}

// TestSharedPartsAreWrittenOnce covers values that would take 2^40 parts, or many gigabytes, without sharing.
func TestSharedPartsAreWrittenOnce(t *testing.T) {
	small := func(b []byte) {
		t.Helper()
		if len(b) > 16<<10 {
			t.Errorf("%d bytes", len(b))
		}
	}
	dag := &node{Value: 1}
	var lists, boxes, structs any = 1, 1, 1
	maps := loop{}
	for range 40 {
		dag = &node{Children: []*node{dag, dag}}
		lists = []any{lists, lists}
		boxes = [2]any{boxes, boxes}
		structs = pair{structs, structs}
		maps = loop{"a": maps, "b": maps}
	}
	small(second(restored(t, dag)))
	small(second(restored(t, lists)))
	small(second(restored(t, boxes)))
	small(second(restored(t, structs)))
	small(second(restored(t, maps)))
	long := strings.Repeat("x", 8<<10)
	texts, anys, bytes := make([]string, 1000), make([]any, 1000), make([][]byte, 1000)
	data := []byte(long)
	for i := range texts {
		texts[i], anys[i], bytes[i] = long, long, data
	}
	small(second(restored(t, texts)))
	small(second(restored(t, anys)))
	small(second(restored(t, bytes)))
}

type pair struct{ A, B any }

func init() { codec.RegisterType[pair]() }

// TestReferencesThatLead checks that references to nothing, or to another kind of value, are errors.
func TestReferencesThatLeadNowhere(t *testing.T) {
	c, err := codec.For[struct {
		A *int
		B *string
	}]()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"\x82\x81\x01\xd8\x1d\x00", "\x82\x81\x01\xd8\x1d\x01", "\x82\xd8\x1d\x00\xf6", "\x82\xd8\x1d", "\x82\xd8\x1d\x1b\xff\xff\xff\xff\xff\xff\xff\xff\xf6"} {
		if v, err := c.Decode([]byte(b)); err == nil {
			t.Errorf("% x: %v", b, v)
		}
	}
}

func TestSignallingNaNs(t *testing.T) {
	f, d := uint32(0x7f800001), uint64(0x7ff0000000000001)
	type floats struct {
		F float32
		D float64
		C complex64
		Z complex128
	}
	got, _ := restored(t, floats{math.Float32frombits(f), math.Float64frombits(d),
		complex(math.Float32frombits(f), math.Float32frombits(f)), complex(math.Float64frombits(d), math.Float64frombits(d))})
	if math.Float32bits(got.F) != f || math.Float64bits(got.D) != d || math.Float32bits(real(got.C)) != f || math.Float64bits(imag(got.Z)) != d {
		t.Errorf("%x %x %v %v", math.Float32bits(got.F), math.Float64bits(got.D), got.C, got.Z)
	}
}

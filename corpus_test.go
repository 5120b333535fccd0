package larder_test

import (
	"context"
	"encoding/json"
	"image"
	"image/color"
	"math"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/values/deepequal"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

type (
	point  struct{ X, Y float64 }
	labels map[string][]string
	tree   struct {
		Name            string
		Kids            []*tree
		Up              *tree
		AddDependencies any
	}
	mixed struct {
		point
		Labels *labels
		At     time.Time
		Any    any
		Lists  [2][]int
		_      int
		Ptr    **int
	}
	level  int8
	source struct {
		URL  *url.URL
		Addr netip.AddrPort
		Size big.Int
	}
)

func init() {
	codec.RegisterType[point]()
	codec.RegisterType[labels]()
	codec.RegisterType[level]()
	codec.RegisterType[tree]()
}

// corpus collects values, each tried separately, and their names.
type corpus struct {
	t     *testing.T
	count int
	keys  map[key.Digest]string
}

// keyed fails if another value of the corpus has the key of this one.
type keyed bool

// try passes values through the codec, a computation and the cache, and compares them with the originals. No two values
// have the same key.
func try[T any](c *corpus, distinct keyed, values ...T) {
	c.t.Helper()
	for _, v := range values {
		c.count++
		name := reflect.TypeFor[T]().String()
		check := func(where string, got T, err error) {
			c.t.Helper()
			if err != nil {
				c.t.Errorf("%s: %#v: %s: %v", name, v, where, err)
			} else if path, same := deepequal.Values(reflect.ValueOf(&v), reflect.ValueOf(&got)); !same {
				c.t.Errorf("%s: %#v %s came back as %#v: another %s", name, v, where, got, path)
			}
		}
		value, err := codec.For[T]()
		if err != nil {
			c.t.Errorf("%s: %v", name, err)
			continue
		}
		b, err := value.Encode(nil, v)
		if err != nil {
			c.t.Errorf("%s: %#v: %v", name, v, err)
			continue
		}
		got, err := value.Decode(b)
		check("from the codec", got, err)
		s := memory.New(memory.Options{})
		runs := 0
		for range 2 {
			l := open(c.t, s)
			for range 2 {
				got, err := larder.Do(c.t.Context(), l, action(c.t, "corpus"), func(context.Context) (T, error) { runs++; return v, nil })
				check("from Do", got, err)
			}
		}
		if runs != 1 {
			c.t.Errorf("%s: %#v was computed %d times", name, v, runs)
		}
		if !distinct {
			continue
		}
		d, err := key.Of(&v)
		if err != nil {
			c.t.Errorf("%s: %#v: %v", name, v, err)
		} else if other, taken := c.keys[d]; taken {
			c.t.Errorf("%s: %#v has the key of another %s", name, v, other)
		}
		c.keys[d] = name
	}
}

func to[T any](v T) *T { return &v }

// TestCorpus checks that values come back unchanged, both computed and as a hit.
func TestCorpus(t *testing.T) {
	c := &corpus{t: t, keys: map[key.Digest]string{}}
	at := time.Date(2026, 7, 1, 12, 30, 0, 999, time.UTC)
	try(c, true, false, true)
	try(c, true, 0, 1, -1, math.MaxInt, math.MinInt, 1<<53+1)
	try(c, true, int8(-128), 127)
	try(c, true, uint64(math.MaxUint64), 1<<63, 0)
	try(c, true, 0.0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), math.Float64frombits(0x7ff0000000000001), math.SmallestNonzeroFloat64, 0.1)
	try(c, true, float32(0.1), math.Float32frombits(0x7f800001), math.Float32frombits(0xffc00000), math.MaxFloat32)
	try(c, true, complex(0, math.Copysign(0, -1)), complex(math.NaN(), 1), complex(1, math.Inf(1)))
	try(c, true, complex64(complex(math.Float32frombits(0x7fc00001), 1)), 1i)
	try(c, true, "", "a", "\x00", "\xff\xfe", "caf\u00e9", "cafe\u0301", "\U0001f600", strings.Repeat("x", 100_000), "k1-00", "line\r\n")
	try(c, true, level(3), -3)
	try(c, true, time.Duration(0), time.Hour, math.MinInt64)
	try(c, true, time.March)
	try(c, true, []byte(nil), []byte{}, []byte{0}, []byte("text"))
	try(c, true, json.RawMessage(nil), json.RawMessage(`{"a":1}`), json.RawMessage("not JSON"))
	try(c, true, json.Number("1e400"), json.Number(""), json.Number("not a number"))
	try(c, true, net.IP(nil), net.IPv4(1, 2, 3, 4), net.IP{1, 2, 3, 4}, net.IP{1})
	try(c, true, []int(nil), []int{}, []int{1, 2, 3}, []int{1, 2, 3}[:2])
	try(c, false, make([]int, 0, 10))
	try(c, true, []string(nil), []string{""}, []string{"a", "b"}, []string{"ab"})
	try(c, true, [][]float32{nil, {}, {1}}, [][]float32{})
	try(c, true, [3]int{1, 2, 3})
	try(c, true, [0]string{})
	try(c, true, [2][]string{{"a"}, nil})
	try(c, true, struct{}{})
	try(c, true, []struct{}{{}, {}}, []struct{}{})
	try(c, true, map[string]int(nil), map[string]int{}, map[string]int{"": 0, "a": 1})
	try(c, true, map[point]bool{{1, 2}: true, {math.NaN(), 0}: false})
	try(c, true, map[[2]string]map[int][]byte{{"a", ""}: {1: nil}, {"", "a"}: nil})
	try(c, true, labels(nil), labels{"a": nil, "b": {}, "c": {"d"}})
	try(c, true, (*int)(nil), to(0), to(7))
	try(c, true, (**int)(nil), to((*int)(nil)), to(to(0)))
	try(c, true, at, time.Time{}, at.In(time.FixedZone("A", 60)), at.In(time.FixedZone("A", 61)), at.In(time.FixedZone("", 60)), time.Unix(-1<<40, 1).UTC(), at.In(time.FixedZone("UTC", 0)), at.Local())
	if rome, err := time.LoadLocation("Europe/Rome"); err == nil {
		try(c, true, at.In(rome), time.Date(1850, 1, 1, 0, 0, 0, 0, rome), at.In(time.FixedZone("Europe/Rome", 7200)))
	}
	for _, u := range []url.URL{
		{}, {Scheme: "http"}, {Scheme: "http", Host: "h"}, {Host: "h", ForceQuery: true}, {Path: "/a b"}, {Path: "/a b", RawPath: "/a%20b"}, {Path: "//a"}, {Opaque: "o"}, {Scheme: "m", Opaque: "o"},
		{User: url.User("")}, {User: url.User("u")}, {User: url.UserPassword("u", "")}, {Fragment: "f"}, {Fragment: "f", RawFragment: "%66"}, {OmitHost: true}, {RawQuery: "a=%"}, {Host: "h", Path: "a"},
	} {
		try(c, true, u)
	}
	try(c, true, (*url.URL)(nil), &url.URL{Host: "h"})
	try(c, true, url.Values(nil), url.Values{"a": {"b", "c"}})
	try(c, true, *big.NewInt(0), *big.NewInt(-1), *new(big.Int).Lsh(big.NewInt(1), 1000))
	try(c, true, big.NewInt(5), (*big.Int)(nil))
	try(c, true, big.NewRat(1, 3), big.NewRat(-2, 4), new(big.Rat))
	try(c, true, big.NewFloat(0.1), new(big.Float), big.NewFloat(0.1).SetPrec(20), big.NewFloat(math.Inf(1)), big.NewFloat(math.Copysign(0, -1)), big.NewFloat(1).SetMode(big.ToZero))
	try(c, true, netip.Addr{}, netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("::ffff:1.2.3.4"), netip.MustParseAddr("fe80::1%a"), netip.MustParseAddr("fe80::1%b"))
	try(c, true, netip.Prefix{}, netip.MustParsePrefix("10.0.0.0/8"))
	try(c, true, source{}, source{&url.URL{User: url.User("u")}, netip.MustParseAddrPort("1.2.3.4:5"), *big.NewInt(9)})
	try(c, true, regexp.MustCompile("a|b"), regexp.MustCompile("(?i)a|b"))
	try[image.Image](c, true, nil, image.NewGray(image.Rect(0, 0, 2, 2)), image.NewRGBA(image.Rect(1, 1, 2, 2)), image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black, color.NRGBA{1, 2, 3, 4}}), (*image.Gray)(nil))
	try(c, true, image.Rect(1, 2, 3, 4), image.Rectangle{})
	try[color.Color](c, true, nil, color.Gray{1}, color.RGBA{1, 1, 1, 255}, color.NRGBA{1, 1, 1, 255})
	a, err := array.From([]float64{1, math.NaN()}, 2)
	if err != nil {
		t.Fatal(err)
	}
	try(c, true, a, nil)
	try(c, true, []*array.Array{a, nil})
	try[any](c, true, nil, 1, int8(1), uint(1), 1.0, float32(1), "1", true, []byte{1}, []any{1}, []any{}, []any(nil), map[string]any{"a": nil}, map[string]any{}, []string{"a"}, []string(nil), []int{1},
		time.Second, at, json.Number("1"), json.RawMessage("1"), point{1, 2}, &point{1, 2}, []point{{1, 2}}, map[string]*point{"a": nil}, labels{"a": nil}, level(1), 1i, [2]int{1, 2}, [2]any{1, "2"},
		map[int]string{1: "a"}, []map[string]any{{"a": []any{1}}}, big.NewInt(1), url.URL{Host: "h"}, &url.URL{Host: "h"}, netip.MustParseAddr("::1"), color.Gray{1}, image.Pt(1, 2), to(to(1)), [][]string{{"a"}}, (*point)(nil), a)
	try(c, true, map[string]any{"list": []any{map[string]any{"x": 1.5}, nil, "s"}, "n": json.Number("9007199254740993"), "t": at, "strings": []string{"a"}})
	try(c, false, mixed{}, mixed{point{1, 2}, &labels{"a": {"b"}}, at, []any{point{}, []string{}}, [2][]int{{1}, nil}, 0, to(to(1))})
	try(c, true, tree{Name: "root", Kids: []*tree{{Name: "a"}, nil, {Kids: []*tree{}}}, AddDependencies: []string{"n"}})

	// Values that share memory or contain themselves.
	leaf := &tree{Name: "leaf"}
	up := &tree{Name: "root"}
	up.Kids, up.AddDependencies = []*tree{{Up: up}}, map[string]any{"up": up}
	self := []any{nil}
	self[0] = self
	loop := map[string]any{}
	loop["me"] = &loop
	list := []int{1, 2}
	try(c, true, tree{Kids: []*tree{leaf, leaf}, Up: leaf, AddDependencies: leaf}, *up)
	try(c, true, up)
	try(c, true, self)
	try(c, true, loop)
	try(c, true, [][]int{list, list, list[:1]})
	if c.count < 150 {
		t.Errorf("%d values", c.count)
	}
	t.Logf("%d values", c.count)
}

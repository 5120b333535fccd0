package codec_test

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

var deepCBOR = func() cbor.DecMode {
	m, err := cbor.DecOptions{MaxNestedLevels: 65535}.DecMode()
	if err != nil {
		panic(err)
	}
	return m
}()

// restored encodes v after other bytes and decodes it.
func restored[T any](t testing.TB, v T) (T, []byte) {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	const before = "before"
	b, err := c.Encode([]byte(before), v)
	if err != nil {
		t.Fatal(err)
	}
	encoded := b[len(before):]
	if string(b[:len(before)]) != before {
		t.Fatalf("%T: encoding changed what was there: %q", v, b[:len(before)])
	}
	was := bytes.Clone(encoded)
	got, err := c.Decode(encoded)
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	if !bytes.Equal(was, encoded) {
		t.Fatalf("%T: decoding changed its input", v)
	}
	if c.ID == "cbor/2" {
		if err := deepCBOR.Wellformed(encoded); err != nil {
			t.Fatalf("%T: % x: %v", v, encoded, err)
		}
	}
	return got, encoded
}

// exact checks that v comes back equal, and that its copy encodes to the same bytes.
func exact[T any](t *testing.T, v T) {
	t.Helper()
	got, b := restored(t, v)
	if !reflect.DeepEqual(got, v) {
		t.Errorf("%#v came back as %#v", v, got)
	}
	if _, again := restored(t, got); !bytes.Equal(b, again) {
		t.Errorf("%#v: encoded % x and then % x", v, b, again)
	}
}

func ptr[T any](v T) *T { return &v }

type (
	celsius float64
	name    string
	flags   uint8
	octets  []byte
	embeds  struct {
		hidden
		Exported
		*Pointed
		Own int
	}
	hidden   struct{ A, B int }
	Exported struct{ A string }
	Pointed  struct{ C int }
	tagged   struct {
		Dropped int      `cbor:"-" json:"-" yaml:"-"`
		Same    int      `cbor:"x"`
		Renamed int      `cbor:"x"`
		Omitted []string `cbor:",omitempty" json:",omitempty"`
		Zero    *int     `json:",omitzero"`
	}
	stamped struct {
		time.Time
		Label string
	}
	node struct {
		Value    int
		Children []*node
	}
	list struct {
		Next *list
	}
	loop map[string]loop
)

func TestValuesComeBackExactly(t *testing.T) {
	t.Run("scalars", func(t *testing.T) {
		exact(t, true)
		exact(t, math.MinInt)
		exact(t, uint64(math.MaxUint64))
		exact(t, int8(-128))
		exact(t, float32(0.1))
		exact(t, complex(1, math.Inf(-1)))
		exact(t, celsius(-273.15))
		exact(t, name("caf\u00e9"))
		exact(t, "not UTF-8: \xff")
		exact(t, flags(7))
	})
	t.Run("nil and empty", func(t *testing.T) {
		exact(t, []byte(nil))
		exact(t, []byte{})
		exact(t, octets{0})
		exact(t, []string(nil))
		exact(t, []string{})
		exact(t, map[int]int(nil))
		exact(t, map[int]int{})
		exact(t, [][]int{nil, {}, {1}})
		exact(t, []float64(nil))
		exact(t, []float64{})
		exact(t, (*int)(nil))
		exact(t, (**int)(nil))
		exact(t, ptr((*int)(nil)))
		exact(t, ptr(ptr(0)))
		exact(t, ptr([]byte(nil)))
		exact(t, struct{}{})
		restored(t, [1 << 40]struct{}{}) // in no time
		exact(t, []struct{}{{}, {}})
		exact(t, any(nil))
		exact(t, []any{nil, []any(nil), []any{}, map[string]any(nil), map[string]any{}, []byte(nil)})
	})
	t.Run("structs", func(t *testing.T) {
		exact(t, embeds{hidden{1, 2}, Exported{"x"}, nil, 3})
		exact(t, embeds{Pointed: &Pointed{4}})
		exact(t, tagged{1, 2, 3, []string{}, ptr(0)})
		exact(t, stamped{time.Unix(1, 2).UTC(), "stored"})
		exact(t, struct {
			_ int
			A map[[2]name]*[]int
		}{A: map[[2]name]*[]int{{"x", "y"}: {1}, {}: nil}})
	})
	t.Run("interfaces", func(t *testing.T) {
		exact(t, map[string]any{"a": []any{1, int64(2), uint8(3), 0.5, float32(2), "x", true, nil, []byte{1}}})
		exact[color.Color](t, color.NRGBA{1, 2, 3, 4})
	})
	t.Run("recursive", func(t *testing.T) {
		exact(t, &node{1, []*node{{2, nil}, nil, {3, []*node{}}}})
		exact(t, loop{"a": {"b": nil}, "c": {}})
		shared := &node{Value: 1}
		exact(t, node{Children: []*node{shared, shared}})
	})
	t.Run("marshalers", func(t *testing.T) {
		exact(t, netip.MustParseAddrPort("[fe80::1%eth0]:80"))
		exact(t, map[netip.Addr]int{netip.MustParseAddr("::1"): 1, netip.MustParseAddr("1.2.3.4"): 2})
		exact(t, &url.URL{Scheme: "https", User: url.UserPassword("a", "b"), Host: "h", Path: "/x y"})
		exact(t, big.NewInt(-1<<62))
		exact(t, *new(big.Int).Lsh(big.NewInt(3), 200))
		exact(t, []*big.Rat{big.NewRat(1, 3), nil})
		exact(t, big.NewFloat(0.1).SetPrec(100).SetMode(big.ToZero))
	})
}

func TestFloatsKeepTheirBits(t *testing.T) {
	for _, f := range []float64{math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8dead0000beef), math.Inf(-1), math.SmallestNonzeroFloat64} {
		bits := math.Float64bits(f)
		if got, _ := restored(t, f); math.Float64bits(got) != bits {
			t.Errorf("%x became %x", bits, math.Float64bits(got))
		}
		if got, _ := restored(t, struct{ F []any }{[]any{f}}); math.Float64bits(got.F[0].(float64)) != bits {
			t.Errorf("%x became %v", bits, got)
		}
		if got, _ := restored(t, [1]float64{f}); math.Float64bits(got[0]) != bits {
			t.Errorf("%x became %v", bits, got)
		}
	}
	nan := map[float64]int{math.NaN(): 1, math.NaN(): 2}
	if got, _ := restored(t, nan); len(got) != 2 {
		t.Errorf("%v came back as %v", nan, got)
	}
}

func TestTimes(t *testing.T) {
	rome, err := time.LoadLocation("Europe/Rome")
	if err != nil {
		t.Skip("no time zones on this machine:", err)
	}
	for _, v := range []time.Time{
		{}, time.Unix(1<<40, 999999999).UTC(), time.Unix(0, 0), time.Unix(-1, 1).In(rome),
		time.Date(2026, 7, 1, 0, 0, 0, 0, rome), time.Date(1850, 1, 1, 0, 0, 0, 0, rome),
		time.Unix(5, 6).In(time.FixedZone("odd", 12345)), time.Unix(5, 6).In(time.FixedZone("", -3600)),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("CET", 3600)),
	} {
		got, _ := restored(t, []time.Time{v})
		if !got[0].Equal(v) || got[0].Location().String() != v.Location().String() || got[0].String() != v.String() {
			t.Errorf("%v came back as %v", v, got[0])
		}
		later := v.AddDate(0, 6, 0)
		if got := got[0].AddDate(0, 6, 0); !got.Equal(later) || got.String() != later.String() {
			t.Errorf("half a year after %v is %v", later, got)
		}
	}
	mine, err := time.LoadLocationFromTZData("Europe/Rome", tzUTC)
	if err != nil {
		t.Fatal(err)
	}
	c, err := codec.For[time.Time]()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Encode(nil, time.Unix(0, 0).In(mine)); err == nil {
		t.Errorf("a zone of the same name and other rules was cached: % x", b)
	}
	now := time.Now()
	if got, _ := restored(t, now); !got.Equal(now) || got.Location() != time.Local {
		t.Errorf("%v came back as %v", now, got)
	}
}

// tzUTC is a TZif file (RFC 8536) with two names for UTC and one transition, so that it is not a fixed zone.
var tzUTC = []byte("TZif\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x08" +
	"\x00\x00\x00\x00" + "\x01" + "\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x04" + "UTC\x00UCT\x00")

func TestImagesComeBackByType(t *testing.T) {
	rect := image.Rect(1, 2, 9, 8)
	palette := color.Palette{color.Black, color.NRGBA{1, 2, 3, 4}}
	whole := []image.Image{
		image.NewRGBA(rect), image.NewNRGBA(rect), image.NewGray(rect), image.NewGray16(rect), image.NewRGBA64(rect),
		image.NewNRGBA64(rect), image.NewAlpha(rect), image.NewAlpha16(rect), image.NewCMYK(rect), image.NewPaletted(rect, palette),
		image.NewYCbCr(rect, image.YCbCrSubsampleRatio420), image.NewNYCbCrA(rect, image.YCbCrSubsampleRatio422),
		image.NewUniform(color.Gray{3}), nil, (*image.Gray)(nil), &image.Gray{}, array.NewGrayAlpha(rect), array.NewGrayAlpha16(rect),
		&image.Paletted{}, &image.Paletted{Palette: color.Palette{}},
	}
	for _, img := range whole {
		exact(t, img)
	}
	exact(t, image.NewGray(rect))
	exact(t, *image.NewRGBA(rect))
	for i, part := range []image.Rectangle{{}, image.Rect(2, 3, 4, 6), image.Rect(1, 2, 9, 3), image.Rect(8, 7, 9, 8)} {
		img := image.NewNRGBA(rect)
		for j := range img.Pix {
			img.Pix[j] = byte(j)
		}
		want := img.SubImage(part)
		got, b := restored(t, want)
		if got.Bounds() != want.Bounds() || len(b) > 32+4*part.Dx()*part.Dy() {
			t.Errorf("part %d: %v of %d bytes, want %v", i, got.Bounds(), len(b), want.Bounds())
		}
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				if got.At(x, y) != want.At(x, y) {
					t.Fatalf("part %d at %d, %d: %v, want %v", i, x, y, got.At(x, y), want.At(x, y))
				}
			}
		}
	}
}

// kinds has a field of every kind that can be drawn at random.
type kinds struct {
	Bool    bool
	Int     int
	Int16   int16
	Uint8   uint8
	Uint64  uint64
	F32     float32
	F64     float64
	String  string
	Bytes   []byte
	Ints    []int
	Floats  []float32
	Array   [3]int16
	Strings []string
	Map     map[string][]uint16
	ByFloat map[float64]bool
	Pointer *kinds
	Twice   **int
	Inner   struct {
		A [2]map[int8]*string
		B [][]bool
	}
}

func TestDrawnValuesComeBackExactly(t *testing.T) {
	c, err := codec.For[kinds]()
	if err != nil {
		t.Fatal(err)
	}
	gen := rapid.Make[kinds]()
	rapid.Check(t, func(t *rapid.T) {
		v := gen.Draw(t, "v")
		b, err := c.Encode(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, got, cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
		again, err := c.Encode(nil, got)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("% x and then % x, %v", b, again, err)
		}
	})
}

func TestAnyOfDocumentsComesBackExactly(t *testing.T) {
	var document *rapid.Generator[any]
	document = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.String().AsAny(),
			rapid.SliceOfN(document, 0, 3).AsAny(), rapid.MapOfN(rapid.String(), document, 0, 3).AsAny(),
		)
	})
	rapid.Check(t, func(t *rapid.T) {
		v := document.Draw(t, "v")
		c, err := codec.For[any]()
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Encode(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Decode(b)
		if err != nil || !cmp.Equal(v, got, cmpopts.EquateNaNs()) {
			t.Fatalf("%#v came back as %#v, %v", v, got, err)
		}
	})
}

func TestMapsEncodeInOneOrder(t *testing.T) {
	m := map[string]int{}
	for i := range 100 {
		m[string(rune('a'+i))] = i
	}
	_, want := restored(t, m)
	for range 10 {
		if _, got := restored(t, m); !bytes.Equal(got, want) {
			t.Fatal("equal maps have two encodings")
		}
	}
}

func TestArraysAlias(t *testing.T) {
	a, err := array.From([]float64{1, 2, 3, 4}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, b := restored(t, a)
	if !got.Equal(*a) || &got.Data[0] != &b[64] || len(b) != 64+32 {
		t.Errorf("%v of %d bytes does not share them", got, len(b))
	}
	if got, _ := restored(t, *a); !got.Equal(*a) {
		t.Errorf("%v", got)
	}
	if got, _ := restored(t, (*array.Array)(nil)); got != nil {
		t.Errorf("nil came back as %v", got)
	}
	deep, err := array.New(array.Uint8, make([]int, array.MaxRank), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := restored(t, deep); !got.Equal(*deep) {
		t.Errorf("%v", got)
	}
	c, err := codec.For[array.Array]()
	if err != nil || !c.Aliases {
		t.Fatal(c, err)
	}
	if _, err := c.Encode(nil, array.Array{}); err == nil {
		t.Error("an invalid array was cached")
	}
}

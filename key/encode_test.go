package key

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := Encode(nil, v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	d, err := Of(v)
	if err != nil || d != DigestOf(b) {
		t.Fatalf("%T: Of gives %v, %v; the digest of the encoding is %v", v, d, err, DigestOf(b))
	}
	return b
}

type (
	word   string
	count  int
	pair   struct{ A, B int }
	couple struct{ A, B int }
	point  struct{ X, Y float32 }
	padded struct {
		A int8
		B int64
	}
	labeled struct {
		Name  string
		Cache map[string]int `key:"-"`
		mu    chan int       `key:"-"`
		_     int
		Size  int
	}
	list struct {
		Value int
		Next  *list
	}
	tree struct {
		Name  string
		Nodes []tree
		Named map[string]*tree
	}
	box[T any] struct{ V T }
)

// TestDistinct checks that no two of these values share an encoding. They include known collisions of other memoizers:
// values hashed as strings or partially, without type, length or shape.
func TestDistinct(t *testing.T) {
	zero, one := 0, 1
	berlin, paris := time.FixedZone("Europe/Berlin", 3600), time.FixedZone("Europe/Paris", 3600)
	instant := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	long, longer := make([]float32, 150_528), make([]float32, 150_528)
	longer[75_001] = 1e-30
	values := []any{
		// strings that imitate the framing
		[]any{"a", "b"}, []any{"a<splitter><class 'int'>1<class 'str'>b"}, []any{"ab"}, []any{"", "ab"}, []any{"ab", ""},
		[]string{"a", "b"}, []string{"ab"}, []string{"a", "b", ""}, "a\x01b", "x<class 'str'>y",
		map[string]string{"value": "x", "hint": "y"}, map[string]string{"value": "x<class 'str'>y"},
		// values of different types that print alike
		nil, 1, "1", true, "True", "true", int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1), uint32(1), uint64(1),
		float32(1), float64(1), complex64(1), complex128(1), count(1), word("1"), [1]int{1}, []int{1}, []any{1}, []any{"1"}, &one,
		false, 0, "", "0", "nil", word(""), int8(0), 0.0, math.Copysign(0, -1), float32(0), &zero, (*int)(nil), (**int)(nil), (*string)(nil),
		math.NaN(), -math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Float32frombits(0x7f800001), float32(math.NaN()), []float64{1, math.NaN()}, []float64{1, -math.NaN()},
		point{1, float32(math.NaN())}, point{1, math.Float32frombits(0x7f800001)}, complex(-math.NaN(), 0), math.Inf(1), math.Inf(-1), complex(0, 1), complex(1, 1), complex(math.NaN(), 0),
		// empty values, with and without shape and type
		[]int{}, []int(nil), []string{}, []any{}, []any(nil), [0]int{}, [0]string{}, [][]int{}, [][0]int{{}}, [][0]int{{}, {}},
		map[string]int{}, map[string]int(nil), map[int]string{}, map[string]struct{}{}, struct{}{}, []struct{}{{}}, []struct{}{{}, {}}, make([]struct{}, 1<<30), make([][0]string, 1<<30),
		[]byte{}, []byte(nil), []byte("1"), []byte{1}, [][]int{nil}, [][]int{{}}, []any{nil}, []any{nil, nil}, []any{[]any{}}, []any{[]any{nil}},
		// shapes and boundaries
		[2][3]int{{1, 2, 3}, {4, 5, 6}}, [3][2]int{{1, 2}, {3, 4}, {5, 6}}, [6]int{1, 2, 3, 4, 5, 6}, []int{1, 2, 3, 4, 5, 6},
		[][]float32{{1, 2}, {3}}, [][]float32{{1}, {2, 3}}, [][]float32{{1, 2, 3}}, []float32{1, 2, 3},
		// floats that are equal after a sum, a cast or sampling
		[]float32{.10, .20, .05}, []float32{.30, .45, .20}, []float32{3, 1}, []float32{1, 2}, []float32{1, 2, 0}, []float32{1, 2, 0, 0}, []float32{2, 1},
		long, longer, long[:len(long)-1], slices.Concat(long, []float32{0}),
		// arguments in order, and by name
		[]any{1, 2}, []any{2, 1}, []any{3, 3}, []any{7, 7}, map[string]int{"a": 5}, map[string]int{"b": 5}, map[string]int{"a": 5, "b": 5},
		// structs of different types with equal fields, and nested structs
		pair{1, 2}, couple{1, 2}, struct{ A, B int }{1, 2}, struct{ A, C int }{1, 2}, struct{ B, A int }{2, 1}, pair{2, 1}, &pair{1, 2},
		struct{ Pair pair }{pair{1, 2}}, struct{ Pair couple }{couple{1, 2}},
		box[int]{1}, box[uint]{1}, box[any]{1}, box[*int]{&one}, box[pair]{pair{1, 2}}, box[couple]{couple{1, 2}},
		struct {
			A int `json:"a"`
		}{1}, struct {
			A int `json:"b"`
		}{1}, struct{ A int }{1},
		// differences deep inside
		nested(10, 1), nested(10, 2), nested(10, "1"), nested(11, 1),
		&list{1, &list{2, nil}}, &list{1, nil}, list{1, &list{2, nil}}, list{1, &list{2, &list{}}},
		tree{Name: "a"}, tree{Name: "a", Nodes: []tree{}}, tree{Nodes: []tree{{Name: "a"}}}, tree{Named: map[string]*tree{"a": nil}}, tree{Named: map[string]*tree{"a": {}}},
		[]point{{1, 2}}, []point{{2, 1}}, [][2]float32{{1, 2}}, []padded{{1, 2}}, []padded{{2, 1}},
		// sets and maps
		map[any]any{1: 1}, map[any]any{"1": 1}, map[any]any{1: "1"}, map[string]bool{"a": true}, map[string]bool{"a": false},
		// times, durations, numbers
		instant, instant.In(berlin), instant.In(paris), instant.Add(1), instant.In(time.FixedZone("", 3600)), instant.Unix(), instant.String(), time.Time{},
		time.Duration(1), time.Second, big.NewInt(0), big.NewInt(1), big.NewInt(-1), big.NewInt(256), big.NewRat(1, 2), big.NewRat(2, 1), big.NewRat(1, 256),
		big.NewFloat(1), big.NewFloat(1).SetPrec(64), big.NewFloat(-1), big.NewFloat(math.Inf(1)), new(big.Float), big.NewFloat(math.Copysign(0, -1)),
		month{instant}, event{Time: instant, Name: "a"}, event{Time: instant, Name: "b"}, override{Time: instant, Name: "a"},
		pointerOverride{name: "a"}, pointerOverride{name: "b"}, &pointerOverride{name: "a"},
		mustURL(t, "http://a/b"), mustURL(t, "http://a/c"), keyed{1, "same"}, pointerKeyed{1}, &pointerKeyed{2}, careless("a"), []careless{"a", "b"}, []careless{"ab", ""},
	}
	seen := map[string]string{}
	for i, v := range values {
		name := fmt.Sprintf("%d: %T", i, v)
		enc := string(encoded(t, v))
		if other, ok := seen[enc]; ok {
			t.Errorf("values %s and %s have one encoding", name, other)
		}
		seen[enc] = name
	}
}

func nested(depth int, v any) any {
	for range depth {
		v = []any{v}
	}
	return v
}

func mustURL(t *testing.T, s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

type month struct{ time.Time }

type event struct {
	time.Time // promotes MarshalBinary, which ignores the name
	Name      string
}

type override struct {
	time.Time
	Name string
	hide func()
}

func (o override) AppendKey(dst []byte) ([]byte, error) { return append(dst, o.Name...), nil }

type pointerOverride struct {
	*time.Time
	name string
}

func (o *pointerOverride) AppendKey(dst []byte) ([]byte, error) { return append(dst, o.name...), nil }

type keyed struct {
	id    int
	extra string
}

func (k keyed) AppendKey(dst []byte) ([]byte, error) { return append(dst, byte(k.id)), nil }

type pointerKeyed struct{ id int }

func (k *pointerKeyed) AppendKey(dst []byte) ([]byte, error) { return append(dst, byte(k.id)), nil }

// careless ignores the slice that it must append to.
type careless string

func (c careless) AppendKey([]byte) ([]byte, error) { return []byte(c), nil }

type colliding struct {
	pointerKeyed
	More int
}

// TestEqual checks that these pairs share an encoding, so that no hit is missed.
func TestEqual(t *testing.T) {
	now := time.Now()
	a, b := 1, 1
	shared, other := &pair{1, 2}, &pair{1, 2}
	wide := make([]int, 3, 100)
	trailing := new(big.Float).SetPrec(200).SetInt(new(big.Int).Lsh(big.NewInt(1), 128))
	exact := new(big.Float).SetMantExp(big.NewFloat(1), 128)
	exact.SetPrec(200)
	pairs := map[string][2]any{
		"monotonic clock":   {now, now.Round(0)},
		"pointers":          {&a, &b},
		"sharing":           {[]*pair{shared, shared}, []*pair{other, other}},
		"capacity":          {wide, make([]int, 3)},
		"excluded fields":   {labeled{Name: "a", Cache: map[string]int{"a": 1}}, labeled{Name: "a", mu: make(chan int)}},
		"map order":         {manyKeys(0), manyKeys(1)},
		"big.Int":           {new(big.Int).SetBit(new(big.Int).Lsh(big.NewInt(1), 500), 500, 0), big.NewInt(0)},
		"big.Rat":           {big.NewRat(2, 4), big.NewRat(1, 2)},
		"big.Rat zero":      {new(big.Rat), big.NewRat(0, 7)},
		"big.Float":         {trailing, exact},
		"unkeyed part":      {keyed{1, "a"}, keyed{1, "b"}},
		"interface":         {[]fmt.Stringer{now}, []fmt.Stringer{now.Round(0)}},
		"set":               {map[string]struct{}{"a": {}, "b": {}}, map[string]struct{}{"b": {}, "a": {}}},
		"method of its own": {override{Name: "a", hide: func() {}}, override{Name: "a"}},
	}
	for name, p := range pairs {
		if !bytes.Equal(encoded(t, p[0]), encoded(t, p[1])) {
			t.Errorf("%s: two encodings of equal values", name)
		}
	}
}

func manyKeys(seed int) map[any]int {
	m := map[any]int{}
	for i := range 200 {
		k := (i*7 + seed*13) % 200
		m[k], m[fmt.Sprint(k)] = k, k
	}
	return m
}

// TestPromotedMethods checks that a method of an embedded field does not encode the whole struct.
func TestPromotedMethods(t *testing.T) {
	a, b := encoded(t, event{Name: "a"}), encoded(t, event{Name: "b"})
	if bytes.Equal(a, b) {
		t.Error("the field next to an embedded time is not encoded")
	}
	if _, err := Of(colliding{}); err == nil {
		t.Error("a struct with an unexported embedded field is keyed by that field alone")
	}
	if _, err := Of(tagged{Image: image.NewGray(image.Rect(0, 0, 1, 1))}); err == nil {
		t.Error("a struct with a hidden field is keyed by the image embedded in it")
	}
}

type tagged struct {
	image.Image
	label string
}

type hidden struct {
	Model  model
	Models []model
	ByName map[string]model
	Any    any
}

type model struct {
	Size int
	fn   func()
}

func TestUnkeyable(t *testing.T) {
	type Options struct{ Model model }
	self := map[any]int{}
	self[&self] = 1
	chain := &list{}
	for i := range 1_000_000 {
		chain = &list{i, chain}
	}
	cases := []struct {
		v            any
		path, reason string
	}{
		{Options{}, "Options.Model.fn", "func value"},
		{&Options{}, "Options.Model.fn", "func value"},
		{hidden{}, "hidden.Model.fn", "func value"},
		{[]model{}, "[]key.model[].fn", "func value"},
		{map[string]model{}, "map[string]key.model[].fn", "func value"},
		{box[any]{[]any{1, map[string]any{"a": model{}}}}, `box[interface {}].V.([]interface {})[1].(map[string]interface {})["a"].(model).fn`, "func value"},
		{func() {}, "func()", "func value"},
		{make(chan int), "chan int", "channel value"},
		{uintptr(1), "uintptr", "uintptr value"},
		{unsafe.Pointer(nil), "Pointer", "unsafe pointer value"},
		{struct{ a int }{}, "struct { a int }.a", "unexported field"},
		{struct{ pair }{}, "struct { key.pair }.pair", "unexported field"},
		{errors.New("x"), "errorString.s", "unexported field"},
		{chain, "list.Next.Next.Next", "deeper than"},
		{self, "map[interface {}]int[key *map[interface {}]int].(map[interface {}]int)", "contains itself"},
		{map[float64]int{math.NaN(): 1, math.NaN(): 2}, "map[float64]int", "two keys of equal content"},
		{map[*pair]int{{1, 2}: 1, {1, 2}: 2}, "map[*key.pair]int", "two keys of equal content"},
		{map[any]int{[1]any{&model{}}: 1}, "map[interface {}]int[key ", "func value"},
		{failing{}, "failing", "AppendKey failed: no"},
		{box[failing]{}, "box[github.com/larder-data/larder/key.failing].V", "AppendKey failed: no"},
		{&image.RGBA{Rect: image.Rect(0, 0, math.MaxInt, math.MaxInt), Stride: 4}, "RGBA", "not valid"},
		{&image.Gray{Rect: image.Rect(math.MinInt, 0, math.MaxInt, 1), Stride: 1, Pix: make([]byte, 9)}, "Gray", "not valid"},
		{&image.YCbCr{Rect: image.Rect(0, 0, 2, 2), Y: make([]byte, 4), YStride: 2, CStride: 1}, "YCbCr", "not valid"},
		{vast{}, "vast", "too large"},
		{box[image.Image]{&unset{}}, "box[image.Image].V.(unset).At(0, 0).(secret).s", "unexported field"},
		{&image.Paletted{Palette: color.Palette{secret{}}}, "Paletted.Palette[0].(secret).s", "unexported field"},
		{broken{}, "broken", "MarshalBinary does not distinguish it from every other value: no"},
		{time.Now, "func() time.Time", "func value"},
		{time.Now().String, "func() string", "func value"},
	}
	for _, c := range cases {
		b, err := Encode([]byte("dst"), c.v)
		var u *UnkeyableError
		if !errors.As(err, &u) || !strings.HasPrefix(u.Path, c.path) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%T: error %v; want path %s and reason %s", c.v, err, c.path, c.reason)
			continue
		}
		if string(b) != "dst" {
			t.Errorf("%T: Encode returned %q with an error", c.v, b)
		}
		if u.Type == nil || len(u.Path) > pathMax+100 {
			t.Errorf("%T: type %v, path of %d bytes", c.v, u.Type, len(u.Path))
		}
		if _, again := Of(c.v); again == nil || again.Error() != err.Error() {
			t.Errorf("%T: Of says %v, Encode %v", c.v, again, err)
		}
	}
	want := `Options.Model.fn: func value cannot be keyed; implement key.Keyer or exclude it with the tag key:"-"`
	if _, err := Of(Options{}); err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// TestSharedTooOften checks that a small value is refused if walking it takes too long. Values in interfaces are walked
// again each time, those in slices once. The walk begins near its end to save time.
func TestSharedTooOften(t *testing.T) {
	laughs, reported := any(1), any(1)
	for range 64 {
		laughs = [3]any{laughs, laughs, laughs}
		reported = []any{reported, reported, reported}
	}
	encoded(t, reported)
	e := newEncoder(layerValue)
	defer e.free()
	e.steps = maxSteps - 1000
	err := e.root(laughs)
	if err == nil || !strings.Contains(err.Error(), "shared too often") {
		t.Errorf("error %v", err)
	}
}

type failing struct{}

var errNo = errors.New("no")

func (failing) AppendKey(dst []byte) ([]byte, error) { return nil, errNo }

func TestKeyerError(t *testing.T) {
	if _, err := Of([]any{failing{}}); !errors.Is(err, errNo) {
		t.Errorf("error %v does not wrap that of the Keyer", err)
	}
}

// TestLocalTypes checks that two types that differ only in the surrounding function do not share a key.
func TestLocalTypes(t *testing.T) {
	first := func() any {
		type local struct{ A int }
		return local{1}
	}()
	second := func() any {
		type local struct{ A int }
		return local{1}
	}()
	if _, err := Of(first); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(second); err == nil {
		t.Error("two types of one name share a key")
	}
	if _, err := Of([]any{second}); err == nil {
		t.Error("two types of one name share a key within a slice")
	}
}

func TestImages(t *testing.T) {
	full := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range full.Pix {
		full.Pix[i] = byte(i)
	}
	part := full.SubImage(image.Rect(2, 2, 5, 6)).(*image.RGBA)
	copied := image.NewRGBA(part.Rect)
	for y := 2; y < 6; y++ {
		for x := 2; x < 5; x++ {
			copied.SetRGBA(x, y, part.RGBAAt(x, y))
		}
	}
	if !bytes.Equal(encoded(t, part), encoded(t, copied)) {
		t.Error("the same pixels with another stride have another key")
	}
	before := encoded(t, part)
	full.Set(7, 7, color.White)
	if !bytes.Equal(encoded(t, part), before) {
		t.Error("a pixel outside of the bounds is in the key")
	}
	full.Set(4, 5, color.White)
	if bytes.Equal(encoded(t, part), before) {
		t.Error("a pixel is not in the key")
	}
}

// TestImageKinds checks that each pixel of each kind of image changes the key.
func TestImageKinds(t *testing.T) {
	r := image.Rect(-3, -5, 4, 4)
	brown := color.RGBA{200, 100, 50, 255}
	palette := color.Palette{color.Black, color.White, brown}
	kinds := []func() image.Image{
		func() image.Image { return image.NewRGBA(r) },
		func() image.Image { return image.NewRGBA64(r) },
		func() image.Image { return image.NewNRGBA(r) },
		func() image.Image { return image.NewNRGBA64(r) },
		func() image.Image { return image.NewAlpha(r) },
		func() image.Image { return image.NewAlpha16(r) },
		func() image.Image { return image.NewGray(r) },
		func() image.Image { return image.NewGray16(r) },
		func() image.Image { return image.NewCMYK(r) },
		func() image.Image { return image.NewPaletted(r, palette) },
		func() image.Image { return &opaque{gray: image.NewGray(r)} },
	}
	seen := map[string]reflect.Type{}
	for _, make := range kinds {
		m, same := make(), make()
		typ := reflect.TypeOf(m)
		plain := encoded(t, m)
		if !bytes.Equal(plain, encoded(t, same)) {
			t.Errorf("%v: equal images, two keys", typ)
		}
		if other := seen[string(plain)]; other != nil {
			t.Errorf("%v and %v share a key", typ, other)
		}
		seen[string(plain)] = typ
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				changed := make()
				changed.(interface{ Set(x, y int, c color.Color) }).Set(x, y, brown)
				enc := string(encoded(t, changed))
				if other := seen[enc]; other != nil {
					t.Errorf("%v: pixel %d, %d is not in the key", typ, x, y)
				}
				seen[enc] = typ
			}
		}
	}
}

// TestPalettes checks that a nil palette differs from an empty one.
func TestPalettes(t *testing.T) {
	none, empty, one := image.Paletted{}, image.Paletted{Palette: color.Palette{}}, image.Paletted{Palette: color.Palette{nil}}
	a, b, c := encoded(t, none), encoded(t, empty), encoded(t, one)
	if bytes.Equal(a, b) || bytes.Equal(b, c) || bytes.Equal(a, c) {
		t.Errorf("% x, % x, % x", a, b, c)
	}
}

func TestYCbCr(t *testing.T) {
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		m := image.NewNYCbCrA(image.Rect(-4, 3, 6, 10), ratio)
		part := m.SubImage(image.Rect(-3, 5, 4, 8)).(*image.NYCbCrA)
		before := encoded(t, part)
		planes := map[string]struct {
			pix  []byte
			used func(x, y int) int
		}{
			"Y":  {m.Y, m.YOffset},
			"Cb": {m.Cb, m.COffset},
			"Cr": {m.Cr, m.COffset},
			"A":  {m.A, m.AOffset},
		}
		for name, plane := range planes {
			used := map[int]bool{}
			for y := part.Rect.Min.Y; y < part.Rect.Max.Y; y++ {
				for x := part.Rect.Min.X; x < part.Rect.Max.X; x++ {
					used[plane.used(x, y)] = true
				}
			}
			for i := range plane.pix {
				plane.pix[i] ^= 1
				if changed := !bytes.Equal(encoded(t, part), before); changed != used[i] {
					t.Errorf("%v, %s[%d]: change seen %v, want %v", ratio, name, i, changed, used[i])
				}
				plane.pix[i] ^= 1
			}
		}
	}
}

// opaque is an image that hides its data.
type opaque struct{ gray *image.Gray }

func (o *opaque) ColorModel() color.Model     { return o.gray.ColorModel() }
func (o *opaque) Bounds() image.Rectangle     { return o.gray.Rect }
func (o *opaque) At(x, y int) color.Color     { return o.gray.At(x, y) }
func (o *opaque) Set(x, y int, c color.Color) { o.gray.Set(x, y, c) }

type vast struct{ opaque }

func (vast) At(x, y int) color.Color { return color.Black }
func (vast) ColorModel() color.Model { return color.GrayModel }
func (vast) Bounds() image.Rectangle { return image.Rect(-1e9, -1e9, 1e9, 1e9) }

// unset is an image whose colors have no key.
type unset struct{ opaque }

func (*unset) Bounds() image.Rectangle { return image.Rect(0, 0, 1, 1) }
func (*unset) At(x, y int) color.Color { return secret{} }

type secret struct{ s int }

func (secret) RGBA() (r, g, b, a uint32) { return 0, 0, 0, 0 }

type broken struct{ hidden int }

func (broken) MarshalBinary() ([]byte, error) { return nil, errNo }
func (*broken) UnmarshalBinary([]byte) error  { return nil }

// TestStreaming compares streamed digests with those of the encoding, at sizes around the buffer's.
func TestStreaming(t *testing.T) {
	for _, n := range []int{0, 1, spillAt - 40, spillAt - 1, spillAt, spillAt + 1, 3*spillAt + 7} {
		text := strings.Repeat("x", n)
		encoded(t, text)
		encoded(t, []any{text, []byte(text), text})
		encoded(t, map[string]any{text: text, "b": 1})
		encoded(t, make([]float32, n))
		encoded(t, make([]float64, n))
		encoded(t, make([]string, n))
		encoded(t, careless(text))
	}
}

// TestFormat pins bytes: later versions must find keys stored on disk.
func TestFormat(t *testing.T) {
	cases := []struct {
		v    any
		want string
	}{
		{nil, "0102" + "00"},
		{true, "0102" + "01" + "01"},
		{-2, "0102" + "02" + "feffffffffffffff"},
		{uint16(258), "0102" + "09" + "0201"},
		{"hé", "0102" + "18" + "03" + "68c3a9"},
		{1.5, "0102" + "0e" + "000000000000f83f"},
		{float32(math.NaN()), "0102" + "0d" + "0000c07f"},
	}
	for _, c := range cases {
		if got := fmt.Sprintf("%x", encoded(t, c.v)); got != c.want {
			t.Errorf("%T %v: %s, want %s", c.v, c.v, got, c.want)
		}
	}
	digests := []struct {
		v    any
		want string
	}{
		{pair{1, 2}, "d1-c3120c3c7c5ea7d6b6b733fd863ed627d6f4bfc5b62c8493667fbf1a370547e5"},
		{map[string][]any{"b": {1, "x"}, "a": nil}, "d1-e83fa8d2da6c54b67b85ed21005adc4d592af09b86e17b93168f263f8e2c58d8"},
		{&tree{Name: "a", Nodes: []tree{{Name: "b"}}}, "d1-9691ba2b5adcfc16f4682ae96fde8ee85e57edaa208b268d3bb993a6d50cd0ca"},
		{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), "d1-9c7b98d5f8a9219eda9c0b93ed72ef99c215047bc25ac710a9bb71c5c399fe33"},
	}
	for _, c := range digests {
		d, err := Of(c.v)
		if err != nil || d.String() != c.want {
			t.Errorf("%T: %v, %v; want %s", c.v, d, err, c.want)
		}
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	type fresh struct {
		Name string
		Next *fresh
	}
	results := make(chan Digest)
	for range 8 {
		go func() {
			d, _ := Of(fresh{"a", &fresh{Name: "b"}})
			results <- d
		}()
	}
	first := <-results
	if first.IsZero() {
		t.Error("not keyed")
	}
	for range 7 {
		if d := <-results; d != first {
			t.Error("two digests of one value")
		}
	}
}

// TestAllocations reuses one encoder, because the pool drops some under the race detector.
func TestAllocations(t *testing.T) {
	e := newEncoder(layerValue)
	defer e.free()
	for _, v := range []any{benchOptions{Name: "a"}, []fmt.Stringer{time.Time{}}, make([]float32, 1<<18), strings.Repeat("a", 1<<20)} {
		n := testing.AllocsPerRun(10, func() {
			e.restart(layerValue)
			if err := e.root(v); err != nil {
				t.Fatal(err)
			}
			e.sum()
		})
		if n > 0 {
			t.Errorf("%T: %v allocations", v, n)
		}
	}
}

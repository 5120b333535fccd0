package dataset_test

import (
	"context"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
)

type box struct {
	X, Y int
	Tags []string `json:"tags" yaml:"tags"`
}

type base struct {
	ID string `json:"id" yaml:"id"`
}

type annotation struct {
	base  `yaml:",inline"`
	Boxes []box          `json:"boxes" yaml:"boxes"`
	Best  *box           `json:"best" yaml:"best"`
	Score float64        `json:"score" yaml:"score"`
	By    map[string]int `json:"by" yaml:"by"`
	When  time.Time      `json:"when" yaml:"when"`
	Small uint8          `json:"small" yaml:"small"`
	Pair  [2]int         `json:"pair" yaml:"pair"`
	Any   any            `json:"any" yaml:"any"`
}

// everything has a field of each kind.
type everything struct {
	Image image.Image   `item:"image" ext:"png"`
	Array array.Array   `item:"array" ext:"npy"`
	Point *array.Array  `item:"point" ext:"npy"`
	JSON  annotation    `item:"json" ext:"json"`
	YAML  annotation    `item:"yaml,shared" ext:"yaml"`
	Raw   []byte        `item:"raw" ext:"dat"`
	Text  string        `item:"text" ext:"txt"`
	Lazy  *dataset.Item `item:"lazy"`
	Extra *box          `item:"extra,optional" ext:"json"`
}

func everythingOnce(t *testing.T) everything {
	t.Helper()
	a, err := array.New(array.Uint8, []int{2}, []byte{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	doc := annotation{
		base: base{"one"}, Boxes: []box{{1, 2, []string{"a"}}}, Best: &box{X: 3, Tags: []string{}}, Score: 2,
		By: map[string]int{"x": 1}, When: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Small: 255, Pair: [2]int{4, 5}, Any: []any{int64(1), "y"},
	}
	return everything{
		Image: &image.Gray{Pix: []uint8{7}, Stride: 1, Rect: image.Rect(0, 0, 1, 1)},
		Array: *a, Point: a, JSON: doc, YAML: doc, Raw: []byte{0, 255}, Text: "täxt", Lazy: dataset.NewItem("txt", "later"),
	}
}

// TestEncodeAndDecode checks that a struct survives its sample, through values in memory
// and through bytes.
func TestEncodeAndDecode(t *testing.T) {
	want := everythingOnce(t)
	s, err := dataset.Encode(&want)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Keys(), " "); got != "image array point json yaml raw text lazy" {
		t.Errorf("the sample has %s", got)
	}
	for f := range s.Fields() {
		if f.Shared != (f.Key == "yaml") {
			t.Errorf("item %s: shared is %v", f.Key, f.Shared)
		}
	}
	var atRest dataset.Sample
	for f := range s.Fields() {
		b, err := f.Item.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ext, err := f.Item.Ext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		atRest = atRest.WithItem(f.Key, dataset.NewBytes(ext, b))
	}
	for what, s := range map[string]dataset.Sample{"in memory": s, "at rest": atRest} {
		got, err := dataset.Decode[everything](t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if v, err := got.Lazy.Value(t.Context()); v != "later" || err != nil {
			t.Errorf("%s: the lazy item is %v, %v", what, v, err)
		}
		want, got := want, got
		want.Lazy, got.Lazy = nil, nil
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(annotation{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestDecodeOtherTypes(t *testing.T) {
	s := dataset.NewSample(
		dataset.Field{Key: "meta", Item: dataset.NewBytes("yaml", []byte("LETTER: y\ncolor: null\nextra: 1\n"))},
		dataset.Field{Key: "list", Item: dataset.NewBytes("json", []byte(`[1, 2]`))},
		dataset.Field{Key: "image", Item: dataset.NewItem("png", image.NewGray(image.Rect(0, 0, 3, 2)))},
	)
	type view struct {
		Meta struct{ Letter, Color string } `item:"meta"`
		Map  map[string]any                 `item:"meta"`
		List []float32                      `item:"list"`
		Any  any                            `item:"list"`
		As   array.Array                    `item:"image"`
		Raw  []byte                         `item:"list"`
	}
	v, err := dataset.Decode[view](t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if v.Meta.Letter != "y" || v.Meta.Color != "" || v.Map["extra"] != int64(1) || !cmp.Equal(v.List, []float32{1, 2}) ||
		!cmp.Equal(v.Any, []any{int64(1), int64(2)}) || !cmp.Equal(v.As.Shape, []int{2, 3}) || string(v.Raw) != "[1, 2]" {
		t.Errorf("%+v", v)
	}
}

func TestDecodeErrors(t *testing.T) {
	s := dataset.NewSample(
		dataset.Field{Key: "meta", Item: dataset.NewItem("yaml", map[string]any{
			"boxes": []any{map[string]any{"x": int64(1)}, map[string]any{"x": "one"}},
			"score": "high", "small": int64(256), "pair": []any{int64(1)}, "by": []any{}, "best": true, "when": "yesterday",
		})},
		dataset.Field{Key: "text", Item: dataset.NewItem("txt", "x")},
		dataset.Field{Key: "bad", Item: dataset.NewBytes("json", []byte("{"))},
	)
	check := func(says string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
	type boxes struct {
		Meta struct{ Boxes []box } `item:"meta"`
	}
	_, err := dataset.Decode[boxes](t.Context(), s)
	check(`item meta: Boxes.1.X: "one" cannot be assigned to a field of type int`, err)
	type score struct {
		Meta struct{ Score float64 } `item:"meta"`
	}
	_, err = dataset.Decode[score](t.Context(), s)
	check(`item meta: Score: "high" cannot be assigned to a field of type float64`, err)
	type small struct {
		Meta struct{ Small uint8 } `item:"meta"`
	}
	_, err = dataset.Decode[small](t.Context(), s)
	check(`item meta: Small: 256 cannot be assigned to a field of type uint8`, err)
	type pair struct {
		Meta struct{ Pair [2]int } `item:"meta"`
	}
	_, err = dataset.Decode[pair](t.Context(), s)
	check(`item meta: Pair: a list of 1 elements`, err)
	type by struct {
		Meta struct {
			By map[string]int `yaml:"by"`
		} `item:"meta"`
	}
	_, err = dataset.Decode[by](t.Context(), s)
	check(`item meta: by: a list cannot be assigned to a field of type map[string]int`, err)
	type best struct {
		Meta struct{ Best *box } `item:"meta"`
	}
	_, err = dataset.Decode[best](t.Context(), s)
	check(`item meta: Best: true cannot be assigned`, err)
	type when struct {
		Meta struct{ When time.Time } `item:"meta"`
	}
	_, err = dataset.Decode[when](t.Context(), s)
	check(`item meta: When: parsing time`, err)
	type wrong struct {
		Text image.Image `item:"text"`
	}
	_, err = dataset.Decode[wrong](t.Context(), s)
	check(`item text: "x" cannot be assigned to a field of type image.Image`, err)
	type bad struct {
		Bad struct{} `item:"bad"`
	}
	_, err = dataset.Decode[bad](t.Context(), s)
	check("item bad: ", err)
	type missing struct {
		Other string `item:"other"`
	}
	_, err = dataset.Decode[missing](t.Context(), s)
	check(`item "other" not found; the sample has meta, text, bad`, err)
}

type embedded struct {
	Text string `item:"text" ext:"txt"`
}

func TestTagErrors(t *testing.T) {
	check := func(what, says string, v any) {
		t.Helper()
		if _, err := dataset.Encode(v); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want %q", what, err, says)
		}
	}
	check("no struct", "is not a struct", 1)
	check("nothing", "a nil *", (*everything)(nil))
	check("nil", "a nil <nil>", nil)
	check("no tags", "no field with an `item", struct{ A int }{})
	check("no key", "has no key", struct {
		A int `item:",optional"`
	}{})
	check("an unknown option", `unknown option "lazy"`, struct {
		A int `item:"a,lazy"`
	}{})
	check("not exported", "unexported field", struct {
		a int `item:"a"` //nolint:unused // that is the point
	}{})
	check("no extension", "the ext tag is missing", struct {
		A int `item:"a"`
	}{})
	check("a nil item", "the item is nil", struct {
		A *dataset.Item `item:"a"`
	}{})
	check("a nil image", "nil value", struct {
		A image.Image `item:"a" ext:"png"`
	}{})
	check("an embedded pointer", "embed the struct itself", struct{ *embedded }{&embedded{}})
	check("one item twice", "two fields for item a", struct {
		A string `item:"a" ext:"txt"`
		B string `item:"a" ext:"txt"`
	}{})
	s, err := dataset.Encode(struct{ embedded }{embedded{"x"}})
	if err != nil || s.Len() != 1 {
		t.Errorf("an embedded struct: %v, %v", s.Keys(), err)
	}
}

func TestTyped(t *testing.T) {
	type view struct {
		A string `item:"a"`
	}
	ds := dataset.Typed[view](texts(3, "a", "b"))
	v, err := ds.At(t.Context(), 2)
	if err != nil || v.A != "a2" || ds.Len() != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := ds.At(context.Background(), 3); err == nil {
		t.Error("a sample behind the end")
	}
	if _, err := dataset.Typed[view](texts(3, "b")).At(t.Context(), 1); err == nil || !strings.HasPrefix(err.Error(), "sample 1: ") {
		t.Errorf("the error is %v", err)
	}
}

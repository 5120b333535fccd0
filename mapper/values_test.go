package mapper_test

import (
	"image"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

func TestConvert(t *testing.T) {
	gray := image.NewGray(image.Rect(0, 0, 2, 1))
	gray.Pix[1] = 200
	jpeg := dataset.NewItem("jpg", gray)
	in := dataset.NewSample(
		dataset.Field{Key: "photo", Item: jpeg},
		dataset.Field{Key: "meta", Item: dataset.NewBytes("yml", []byte("a: y # words\n"))},
		dataset.Field{Key: "all", Item: dataset.NewBytes("yml", []byte("b: 1\n")), Shared: true},
	)
	bytesOf := func(s dataset.Sample, k string) (string, string) {
		t.Helper()
		it, err := s.Item(k)
		if err != nil {
			t.Fatal(err)
		}
		ext, err := it.Ext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := it.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ext, string(b)
	}
	m, err := mapper.Convert{To: map[string]string{"photo": "jpeg", "meta": "yml", "all": "json", "missing": "png"}}.Transform()
	out, err := mapped(t.Context(), t, m, err, in)
	if err != nil {
		t.Fatal(err)
	}
	if ext, b := bytesOf(out, "meta"); ext != "yml" || b != "a: y # words\n" {
		t.Errorf("an item of the extension that is requested became %q (%s)", b, ext)
	}
	if ext, b := bytesOf(out, "all"); ext != "json" || b != `{"b":1}` {
		t.Errorf("a document became %q (%s)", b, ext)
	}
	_, before := bytesOf(in, "photo")
	if ext, b := bytesOf(out, "photo"); ext != "jpeg" || b != before {
		t.Errorf("an image was encoded again for another extension of its format (%s)", ext)
	}
	for f := range out.Fields() {
		if f.Shared != (f.Key == "all") {
			t.Errorf("item %s: shared is %v", f.Key, f.Shared)
		}
	}
	m, err = mapper.Convert{To: map[string]string{"photo": "npy"}}.Transform()
	out, err = mapped(t.Context(), t, m, err, in)
	if err != nil {
		t.Fatal(err)
	}
	v, err := out.Value(t.Context(), "photo")
	if a, ok := v.(*array.Array); err != nil || !ok || !cmp.Equal(a.Shape, []int{1, 2}) {
		t.Errorf("an image as an array is %v, %v", v, err)
	}
	m, err = mapper.Convert{To: map[string]string{"missing": "png"}, Missing: "error"}.Transform()
	if _, err = mapped(t.Context(), t, m, err, in); err == nil || !strings.Contains(err.Error(), `item "missing" not found`) {
		t.Errorf("the error is %v", err)
	}
	m, err = mapper.Convert{To: map[string]string{"meta": "png"}}.Transform()
	out, err = mapped(t.Context(), t, m, err, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Value(t.Context(), "meta"); err == nil || !strings.Contains(err.Error(), "item meta: encode as png") {
		t.Errorf("the error is %v", err)
	}
	for _, bad := range []map[string]string{nil, {"a": "xyz"}, {"a": "webp"}, {"a": ".png"}} {
		if err := (mapper.Convert{To: bad}).Check(); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestSetValue(t *testing.T) {
	in := dataset.NewSample(
		dataset.Field{Key: "meta", Item: dataset.NewBytes("yaml", []byte("color: red\nboxes: [{x: 1}, {x: 2}]\n"))},
		dataset.Field{Key: "all", Item: dataset.NewBytes("json", []byte(`{"k": 1}`)), Shared: true},
		dataset.Field{Key: "text", Item: dataset.NewItem("txt", "words")},
	)
	boxes := func(a, b any) []any { return []any{map[string]any{"x": a}, map[string]any{"x": b}} }
	for _, c := range []struct {
		m         mapper.SetValue
		item, ext string
		want      any
		shared    bool
	}{
		{mapper.SetValue{Key: "meta.color", Value: "blue"}, "meta", "yaml", map[string]any{"color": "blue", "boxes": boxes(int64(1), int64(2))}, false},
		{mapper.SetValue{Key: "meta.boxes[-1].x", Value: nil}, "meta", "yaml", map[string]any{"color": "red", "boxes": boxes(int64(1), nil)}, false},
		{mapper.SetValue{Key: "meta.boxes.0.x", Value: 7}, "meta", "yaml", map[string]any{"color": "red", "boxes": boxes(int64(7), int64(2))}, false},
		{mapper.SetValue{Key: "all.new", Value: []component.Entry{{Key: "a", Value: []any{true, []component.Entry{}}}}}, "all", "json",
			map[string]any{"k": int64(1), "new": map[string]any{"a": []any{true, map[string]any{}}}}, true},
		{mapper.SetValue{Key: "label", Value: "cat"}, "label", "json", "cat", false},
		{mapper.SetValue{Key: "label", Value: "cat", Format: "txt"}, "label", "txt", "cat", false},
		{mapper.SetValue{Key: "text", Value: "others", Format: "txt"}, "text", "txt", "others", false},
		{mapper.SetValue{Key: "made.a", Value: 1.5, Format: "yaml"}, "made", "yaml", map[string]any{"a": 1.5}, false},
	} {
		m, err := c.m.Transform()
		out, err := mapped(t.Context(), t, m, err, in)
		if err != nil {
			t.Errorf("%s: %v", c.m.Key, err)
			continue
		}
		v, err := out.Value(t.Context(), c.item)
		if err != nil || !cmp.Equal(v, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.m.Key, v, err, c.want)
			continue
		}
		f, _ := out.Field(c.item)
		if ext, err := f.Item.Ext(t.Context()); ext != c.ext || err != nil || f.Shared != c.shared {
			t.Errorf("%s: extension %s, shared %v, %v", c.m.Key, ext, f.Shared, err)
		}
	}
	for says, bad := range map[string]mapper.SetValue{
		"a name is missing": {Key: "a..b"}, "the item key at the beginning": {}, "not a known extension": {Key: "a", Format: "xyz"},
	} {
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v", bad, err)
		}
	}
	m, err := mapper.SetValue{Key: "text.x", Value: 1}.Transform()
	out, err := mapped(t.Context(), t, m, err, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Value(t.Context(), "text"); err == nil || !strings.Contains(err.Error(), "text.x: a string has no parts") {
		t.Errorf("the error is %v", err)
	}
}

package dataset_test

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/dataset"
)

func documents() dataset.Sample {
	return dataset.NewSample(
		dataset.Field{Key: "meta", Item: dataset.NewItem("json", map[string]any{
			"color": "red", "a.b": int64(1), "nothing": nil, "0": "zero",
			"boxes": []any{map[string]any{"x": int64(1)}, map[string]any{"x": int64(2)}},
		})},
		dataset.Field{Key: "list", Item: dataset.NewItem("yaml", []any{int64(1), []any{"in", "out"}})},
		dataset.Field{Key: "text", Item: dataset.NewItem("txt", "words")},
		dataset.Field{Key: "image", Item: dataset.NewItem("png", image.NewGray(image.Rect(0, 0, 1, 1)))},
		dataset.Field{Key: "every", Item: dataset.NewItem("json", map[string]any{"k": int64(1)}), Shared: true},
	)
}

func TestGet(t *testing.T) {
	for path, want := range map[string]any{
		"meta.color":            "red",
		`meta["a.b"]`:           int64(1),
		`meta['color']`:         "red",
		`["meta"].color`:        "red",
		"meta.nothing":          nil,
		"meta.0":                "zero",
		"meta[0]":               "zero",
		"meta.boxes.1.x":        int64(2),
		"meta.boxes[1].x":       int64(2),
		"meta.boxes.-1.x":       int64(2),
		"meta.boxes[-2].x":      int64(1),
		"list[1][0]":            "in",
		"list.1.-1":             "out",
		"text":                  "words",
		`meta["boxes"][0].x`:    int64(1),
		`meta["boxes"][0]["x"]`: int64(1),
	} {
		got, err := documents().Get(t.Context(), path)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s is %v, %v; want %v", path, got, err, want)
		}
	}
}

func TestGetErrors(t *testing.T) {
	for path, says := range map[string]string{
		"meta.colour":       "meta.colour: no such field; fields are 0, a.b, boxes, color, nothing",
		"meta.boxes.2.x":    "meta.boxes.2: the list has 2 elements",
		"meta.boxes.-3":     "meta.boxes.-3: the list has 2 elements",
		"meta.boxes.x":      "meta.boxes.x: a list has indices, not fields",
		`meta.boxes["0"]`:   "a list has indices, not fields",
		"meta.color.x":      "meta.color.x: a string has no parts",
		"meta.nothing.x":    "meta.nothing.x: null has no parts",
		"text.0":            "text.0: a string has no parts",
		"image.width":       "image.width: an image has no parts",
		`meta["a.b"].c`:     `meta["a.b"].c: an integer has no parts`,
		"other.x":           `item "other" not found`,
		"":                  "the item key at the beginning is missing",
		".meta":             "a name is missing",
		"meta.":             "name after the last dot is missing",
		"meta..color":       "a name is missing",
		"meta[":             "brackets need",
		"meta[x]":           "brackets need",
		"meta[]":            "brackets need",
		`meta["x]`:          "is unterminated",
		"meta]":             "a dot is missing",
		"meta[0]x":          "a dot is missing",
		"meta.boxes[1.5].x": "brackets need",
	} {
		_, err := documents().Get(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: the error is %v, want %q", path, err, says)
		}
	}
	var none *dataset.NoValueError
	if _, err := documents().Get(t.Context(), "meta.boxes.7.x"); !errors.As(err, &none) || none.Path != "meta.boxes.7" {
		t.Errorf("the error is %#v", none)
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct {
		path  string
		value any
		item  string
		want  any
	}{
		{"list.0", "one", "list", []any{"one", []any{"in", "out"}}},
		{"list.-1.1", "IN", "list", []any{int64(1), []any{"in", "IN"}}},
		{"list[2]", nil, "list", []any{int64(1), []any{"in", "out"}, nil}},
		{"list.2.new", true, "list", []any{int64(1), []any{"in", "out"}, map[string]any{"new": true}}},
		{"every.k", int64(2), "every", map[string]any{"k": int64(2)}},
		{"every.deep.er", 1.5, "every", map[string]any{"k": int64(1), "deep": map[string]any{"er": 1.5}}},
		{"text", "other", "text", "other"},
		{"made.a.b", "c", "made", map[string]any{"a": map[string]any{"b": "c"}}},
		{"label", "cat", "label", "cat"},
	} {
		s := documents()
		before := valuesOf(t, s)
		out, err := s.Set(t.Context(), c.path, c.value)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		got, err := out.Value(t.Context(), c.item)
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.path, got, err, c.want)
		}
		if after := valuesOf(t, s); !cmp.Equal(before, after) {
			t.Errorf("%s: the sample it was set in changed: %s", c.path, cmp.Diff(before, after))
		}
		if f, _ := out.Field(c.item); f.Shared {
			t.Errorf("%s: the item with the new value is still shared", c.path)
		}
	}
	for path, says := range map[string]string{
		"list.3":      "list.3: the list has 2 elements",
		"list.x":      "a list has indices",
		"text.x":      "text.x: a string has no parts",
		"image.0":     "has no parts",
		"made.0":      "made.0: no such list",
		"every.k.x.y": "every.k.x: an integer has no parts",
		"a..b":        "a name is missing",
	} {
		if _, err := documents().Set(t.Context(), path, 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want %q", path, err, says)
		}
	}
}

// valuesOf returns the documents of a sample.
func valuesOf(t *testing.T, s dataset.Sample) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, k := range s.Without("image").Keys() {
		v, err := s.Value(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		all[k] = v
	}
	return all
}

func TestSetKeepsTheExtension(t *testing.T) {
	s, err := documents().Set(t.Context(), "list.0", int64(7))
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Item("list")
	if err != nil {
		t.Fatal(err)
	}
	if ext, err := it.Ext(t.Context()); ext != "yaml" || err != nil {
		t.Errorf("a YAML document became %s, %v", ext, err)
	}
}

// FuzzParsePath checks that a parsed path is written as a path that parses to the same.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"a.b", "a[0].b", `a["x.y"][-1]`, "", "a[", "a.'", `[""]`, `["]"].x`, "a.00.+1"} {
		f.Add(s)
	}
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, s string) {
		p, err := dataset.ParsePath(s)
		if err != nil {
			return
		}
		_, _ = documents().Get(ctx, s)
		_, _ = documents().Set(ctx, s, 1)
		if strings.ContainsAny(s, "\"'\\[]") {
			return // written with dots where possible
		}
		again, err := dataset.ParsePath(p.String())
		if err != nil || again.String() != p.String() || again.Item != p.Item {
			t.Errorf("%q is written %q, which reads %+v, %v", s, p, again, err)
		}
	})
}

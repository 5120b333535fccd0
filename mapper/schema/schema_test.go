package schema_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper/schema"
	"github.com/larder-data/larder/pool"
)

func parse(t testing.TB, content string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse("s.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func item(k, ext string, v any) dataset.Field {
	return dataset.Field{Key: k, Item: dataset.NewItem(ext, v)}
}

func numbers(t testing.TB, dtype array.DType, shape ...int) *array.Array {
	t.Helper()
	a, err := array.New(dtype, shape, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCheck(t *testing.T) {
	img := item("image", "png", image.NewNRGBA(image.Rect(0, 0, 4, 3)))
	doc := func(v any) dataset.Field { return item("meta", "yaml", v) }
	object := func(k string, v any) dataset.Field { return doc(map[string]any{k: v}) }
	for _, c := range []struct {
		name, items string
		field       dataset.Field
		want        []string // errors without the sample
	}{
		{"nothing asked", "{image: {}}", img, nil},
		{"only named", "{image: }", img, nil},
		{"missing", "{x: {}}", img, []string{"item x: missing"}},
		{"optional", "{x: {optional: true}}", img, nil},
		{"extension", "{image: {ext: [.PNG, jpeg]}}", img, nil},
		{"another extension", "{image: {ext: [jpeg, bmp]}}", img, []string{`item image: extension is "png", want jpeg or bmp`}},
		{"another kind", "{image: {kind: array}}", img, []string{"item image: kind is image, want array"}},
		{"size", "{image: {kind: image, width: {min: 4, max: 4}, height: {min: 3}, channels: [4]}}", img, nil},
		{"another size", "{image: {kind: image, width: {max: 3}, height: {min: 4}, channels: [1, 3]}}", img,
			[]string{"item image: width is 4, want from 0 to 3", "item image: height is 3, want at least 4", "item image: has 4 channels, want 1 or 3"}},
		{"grey", "{image: {kind: image, channels: [1]}}", item("image", "png", image.NewGray(image.Rect(0, 0, 1, 1))), nil},
		{"colour", "{image: {kind: image, channels: [3]}}", item("image", "jpeg", image.NewRGBA(image.Rect(0, 0, 1, 1))), nil},
		{"damaged", "{image: {kind: image}}", dataset.Field{Key: "image", Item: dataset.NewBytes("png", []byte("no"))}, []string{"item image: 2 bytes of png: png: truncated"}},
		{"not decoded unless asked", "{image: {ext: [png]}}", dataset.Field{Key: "image", Item: dataset.NewBytes("png", []byte("no"))}, nil},
		{"array", "{a: {kind: array, dtype: [float32, int8], shape: [any, 2]}}", item("a", "npy", numbers(t, array.Int8, 0, 2)), nil},
		{"another array", "{a: {kind: array, dtype: [float32], shape: [any, 2]}}", item("a", "npy", numbers(t, array.Int8, 3, 3)),
			[]string{"item a: element type is int8, want float32", "item a: shape is [3 3], want [any 2]"}},
		{"another rank", "{a: {kind: array, shape: [any]}}", item("a", "npy", numbers(t, array.Int8, 3, 3)), []string{"item a: shape is [3 3], want [any]"}},
		{"text", "{a: {kind: text}}", item("a", "txt", "x"), nil},
		{"bytes", "{a: {kind: bytes}}", item("a", "weird", []byte("x")), nil},
		{"shared", "{image: {shared: true}}", img, []string{"item image: shared is false, want true"}},
		{"document", "{meta: {kind: document, schema: {type: object, required: [color], properties: {color: {enum: [red, blue]}}}}}", object("color", "red"), nil},
		{"another document", "{meta: {kind: document, schema: {required: [n], properties: {color: {enum: [red]}}}}}", object("color", "blue"),
			[]string{"item meta: missing property 'n'", "item meta: /color: value must be 'red'"}},
		{"a place in a document", "{meta: {kind: document, schema: {properties: {a/b: {items: {type: integer}}}}}}", object("a/b", []any{int64(1), "x"}),
			[]string{"item meta: /a~1b/1: got string, want integer"}},
		{"bytes in a document", "{meta: {kind: document, schema: {properties: {a: {type: string}}}}}", object("a", []byte("x")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := parse(t, "version: 1\nitems: "+c.items).Check(t.Context(), 7, dataset.NewSample(c.field))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != len(c.want) {
				t.Fatalf("found %q, want %q", found, c.want)
			}
			texts := make([]string, len(found))
			for i, v := range found {
				texts[i] = v.String()
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "sample 7: "+want) }) {
					t.Errorf("found %q, want %q", texts, want)
				}
			}
		})
	}
}

func TestClosed(t *testing.T) {
	s := dataset.NewSample(item("a", "txt", "x"), item("b", "txt", "y"))
	for closed, want := range map[string]int{"true": 1, "false": 0} {
		found, err := parse(t, "version: 1\nclosed: "+closed+"\nitems: {a: {}}").Check(t.Context(), 0, s)
		if err != nil || len(found) != want {
			t.Errorf("closed %s: %v, %v", closed, found, err)
		}
	}
}

func TestBadSchemas(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"", "the file is empty"},
		{"version: 2", "version is 2"},
		{"version: 1\nitems:\n  a:\n    knid: image", "line 4"},
		{"version: 1\nitems: {a: {kind: picture}}", `item a: kind cannot be "picture"`},
		{"version: 1\nitems: {a: {width: {min: 1}}}", "item a: fields for an image need kind: image"},
		{"version: 1\nitems: {a: {kind: text, schema: {}}}", "need kind: document"},
		{"version: 1\nitems: {a: {kind: array, dtype: [float]}}", `"float" is not a type of elements`},
		{"version: 1\nitems: {a: {kind: array, shape: [x]}}", `"x" is not a length`},
		{"version: 1\nitems: {a: {kind: array, shape: [-1]}}", `"-1" is not a length`},
		{"version: 1\nitems: {a: {kind: image, width: {min: 3, max: 2}}}", "from 3 to 2"},
		{"version: 1\nitems: {a: {kind: document, schema: {type: strin}}}", "item a: schema: "},
		{"version: 1\nitems: {a: {kind: document, schema: {$ref: 'file:///etc/passwd'}}}", "external file:///etc/passwd"},
		{"version: 1\nitems: {a: {kind: document, schema: {pattern: '('}}}", "item a: schema: "},
		{"version: [", "s.yaml: "},
	} {
		if _, err := schema.Parse("s.yaml", []byte(c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: the error is %v, want %q", c.content, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	s := parse(t, "version: 1\nitems: {a: {kind: text}, b: {}}")
	ds := dataset.Func(1000, func(_ context.Context, i int) (dataset.Sample, error) {
		switch {
		case i == 3:
			return dataset.Sample{}, errors.New("boom")
		case i%2 == 0:
			return dataset.NewSample(item("a", "txt", "x"), item("b", "txt", "x")), nil
		}
		return dataset.Sample{}, nil
	})
	r, err := s.Validate(t.Context(), ds, schema.Options{Pool: pool.New(4), Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := &schema.Report{Samples: 1000, Bad: 500, Violations: 999, List: []schema.Violation{
		{Sample: 1, Item: "a", Message: "missing"}, {Sample: 1, Item: "b", Message: "missing"}, {Sample: 3, Message: "boom"},
		{Sample: 5, Item: "a", Message: "missing"}, {Sample: 5, Item: "b", Message: "missing"},
	}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if r, err := s.Validate(t.Context(), ds, schema.Options{First: 1}); err != nil || r.Samples != 1 || r.Violations != 0 {
		t.Errorf("of the first sample: %+v, %v", r, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.Validate(ended, ds, schema.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestInfer(t *testing.T) {
	shared := item("names", "json", []any{"a"})
	shared.Shared = true
	ds := dataset.List(
		dataset.NewSample(item("image", "png", image.NewGray(image.Rect(0, 0, 4, 3))), item("points", "npy", numbers(t, array.Float32, 5, 2)), shared,
			item("meta", "json", map[string]any{"n": int64(1), "list": []any{int64(1)}, "once": true})),
		dataset.NewSample(item("image", "jpeg", image.NewGray(image.Rect(0, 0, 6, 3))), item("points", "npy", numbers(t, array.Int64, 7, 2)), shared,
			item("meta", "json", map[string]any{"n": 1.5, "list": []any{nil, "x"}}), item("note", "txt", "x")),
	)
	s, err := schema.Infer(t.Context(), ds, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	want := `version: 1
closed: true
items:
  image:
    kind: image
    shared: false
    ext: [jpeg, png]
    width: {min: 4, max: 6}
    height: {min: 3, max: 3}
    channels: [1]
  meta:
    kind: document
    shared: false
    ext: [json]
    schema:
      properties:
        list:
          items:
            type:
            - integer
            - 'null'
            - string
          type: array
        'n':
          type: number
        once:
          type: boolean
      required:
      - list
      - 'n'
      type: object
  names:
    kind: document
    shared: true
    ext: [json]
    schema:
      items:
        type: string
      type: array
  note:
    kind: text
    optional: true
    shared: false
    ext: [txt]
  points:
    kind: array
    shared: false
    ext: [npy]
    dtype: [float32, int64]
    shape: [any, 2]
`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
	if _, err := schema.Infer(t.Context(), dataset.List(dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("png", nil)})), schema.Options{}); err == nil || !strings.Contains(err.Error(), "sample 0: item a") {
		t.Errorf("an item that cannot be read gives %v", err)
	}
}

// TestInferredSchemaHolds checks that samples match the schema inferred from them, also
// after it was written and read.
func TestInferredSchemaHolds(t *testing.T) {
	scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int64(), func(n int64) any { return n }), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }), rapid.Map(rapid.String(), func(s string) any { return s }))
	list := rapid.OneOf(scalar, rapid.Map(rapid.SliceOfN(scalar, 0, 3), func(l []any) any { return l }))
	object := rapid.OneOf(list, rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b/c", "~", "y", "", "1"}), list, 0, 4), func(m map[string]any) any { return m }))
	rapid.Check(t, func(rt *rapid.T) {
		samples := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) dataset.Sample {
			var s dataset.Sample
			for _, k := range []string{"x", "y", "null"} {
				if rapid.Bool().Draw(rt, "has") {
					s = s.With(dataset.Field{Key: k, Item: dataset.NewItem(rapid.SampledFrom([]string{"json", "yaml"}).Draw(rt, "ext"), object.Draw(rt, "doc")), Shared: rapid.Bool().Draw(rt, "shared")})
				}
			}
			if rapid.Bool().Draw(rt, "image") {
				s = s.With(item("image", "png", image.NewGray(image.Rect(0, 0, rapid.IntRange(1, 9).Draw(rt, "width"), 1))))
			}
			if rapid.Bool().Draw(rt, "array") {
				s = s.With(item("array", "npy", numbers(t, array.Uint8, rapid.SliceOfN(rapid.IntRange(0, 3), 0, 2).Draw(rt, "shape")...)))
			}
			return s
		}), 0, 5).Draw(rt, "samples")
		ds := dataset.List(samples...)
		s, err := schema.Infer(t.Context(), ds, schema.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		b, err := s.YAML()
		if err != nil {
			rt.Fatal(err)
		}
		if s, err = schema.Parse("inferred", b); err != nil {
			rt.Fatalf("%v in\n%s", err, b)
		}
		if r, err := s.Validate(t.Context(), ds, schema.Options{}); err != nil || r.Violations > 0 {
			rt.Fatalf("%v: %v by\n%s", err, r.List, b)
		}
	})
}

// TestManyNamesOfFields checks that names that are data do not make an unbounded schema.
func TestManyNamesOfFields(t *testing.T) {
	ds := dataset.Func(1000, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(item("a", "json", map[string]any{fmt.Sprint("id", i): int64(i)})), nil
	})
	s, err := schema.Infer(t.Context(), ds, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.YAML(); err != nil || len(b) > 200 {
		t.Errorf("%v: %d bytes", err, len(b))
	}
}

func TestValidateMapper(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte("version: 1\nclosed: true\nitems: {a: {kind: text}}"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := component.Find(component.Map, "validate")
	if err != nil {
		t.Fatal(err)
	}
	env := &component.Env{Dir: dir, Log: slog.New(slog.DiscardHandler)}
	m, err := c.Mapper(env, schema.Guard{Schema: "s.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	good := dataset.NewSample(item("a", "txt", "x"))
	ds := dataset.Map(dataset.List(good, good.With(item("b", "txt", "y")), dataset.Sample{}), m, dataset.MapOptions{Node: "right"})
	s, err := ds.At(t.Context(), 0)
	if err != nil || !slices.Equal(s.Keys(), []string{"a"}) {
		t.Errorf("%q, %v", s.Keys(), err)
	}
	for i, want := range map[int]string{1: "node right: sample 1: violates the schema: item b: not in the closed schema", 2: "node right: sample 2: violates the schema: item a: missing"} {
		if _, err := ds.At(t.Context(), i); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("sample %d: %v, want %q", i, err, want)
		}
	}
	for _, name := range []component.Path{"none.yaml", "."} {
		if _, err := c.Mapper(env, schema.Guard{Schema: name}); err == nil {
			t.Errorf("schema %s was read", name)
		}
	}
}

// FuzzParse checks that any schema is read or refused.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"version: 1", "version: 1\nitems: {a: {kind: array, shape: [any, 2]}}", "version: 1\nitems: {a: {kind: document, schema: {type: object, properties: {b: {$ref: '#'}}}}}", "items: {a: }", "- 1"} {
		f.Add([]byte(seed))
	}
	sample := dataset.NewSample(item("a", "json", map[string]any{"b": []any{int64(1), nil}}))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := schema.Parse("s.yaml", content)
		if err != nil {
			return
		}
		if _, err := s.Check(t.Context(), 0, sample); err != nil {
			t.Error(err)
		}
	})
}

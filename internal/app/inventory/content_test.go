package inventory_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

type point struct {
	X, Y int
	Tags []string
	Data []byte
	Sure bool
}

type word string

// describe stores a record and describes it.
func describe(t *testing.T, r store.Record) inventory.Description {
	t.Helper()
	s := memory.New(memory.Options{})
	put(t, s, r)
	found, err := inventory.Find(t.Context(), s, r.Key.String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := inventory.Describe(t.Context(), s, found)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestContent(t *testing.T) {
	pixels, err := array.New(array.Float32, []int{2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 5, 4))); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, tt := range []struct {
		record   store.Record
		as, text string
	}{
		{record(t, "f", 0, "text\x1b[31m"), "string", "text\uFFFD[31m"},
		{record(t, "f", 0, ""), "string", ""},
		{record(t, "f", 0, []byte("text")), "[]byte", "text"},
		{record(t, "f", 0, []byte(nil)), "[]byte", "nil"},
		{record(t, "f", 0, []byte{0, 255}), "[]byte", "00ff"},
		{record(t, "f", 0, picture.Bytes()), "[]byte", "an image of 5 x 4 pixels"},
		{record(t, "f", 0, true), "bool", "true"},
		{record(t, "f", 0, -7), "int", "-7"},
		{record(t, "f", 0, uint8(200)), "uint8", "200"},
		{record(t, "f", 0, 0.5), "float64", "0.5"},
		{record(t, "f", 0, 90*time.Second), "time.Duration", "1m30s"},
		{record(t, "f", 0, at), "time.Time", "2026-01-02T03:04:05.000000006Z"},
		{record(t, "f", 0, pixels), "array", "float32 [2 3]"},
		{record(t, "f", 0, *pixels), "array", "float32 [2 3]"},
		{record[*array.Array](t, "f", 0, nil), "array", "nil"},
		{record[image.Image](t, "f", 0, image.NewRGBA(image.Rect(1, 1, 4, 3))), "image.Image", "3 x 2 pixels"},
		{record[image.Image](t, "f", 0, nil), "image.Image", "nil"},
		{record[*image.Gray](t, "f", 0, nil), "*image.Gray", "nil"},
		{record(t, "f", 0, image.NewGray(image.Rect(0, 0, 7, 1))), "*image.Gray", "7 x 1 pixels"},
		{record(t, "f", 0, point{1, -2, []string{"a", "ü\n"}, []byte{1, 2}, true}), "cbor", `[1, -2, ["a", "ü\n"], h'0102', true]`},
		{record(t, "f", 0, map[string]float64{"a": 1, "b": 0.1}), "cbor", `{"a": 1.0, "b": 0.1}`},
		{record(t, "f", 0, []float32{1}), "cbor", `85(h'0000803f')`},
		{record(t, "f", 0, word("hello, world")), "text", "hello, world"},
	} {
		c := describe(t, tt.record).Content
		if c.As != tt.as || c.Text != tt.text || c.Problem != "" {
			t.Errorf("%x is shown as %+v, want %s %q", tt.record.Payload, *c, tt.as, tt.text)
		}
	}
}

// TestLongContentIsCut checks that descriptions stay short.
func TestLongContentIsCut(t *testing.T) {
	for _, r := range []store.Record{
		record(t, "f", 0, strings.Repeat("ü", 1<<20)),
		record(t, "f", 0, bytes.Repeat([]byte{0xff}, 1<<20)),
		record(t, "f", 0, slices.Repeat([]string{"word"}, 1<<18)),
		record(t, "f", 0, point{Data: bytes.Repeat([]byte{7}, 1<<20)}),
		record(t, "f", 0, word(strings.Repeat("word ", 1<<18))),
	} {
		c := describe(t, r).Content
		if len(c.Text) > 4096 || !strings.Contains(c.Text, "...") {
			t.Errorf("%s: %d bytes: %.50q", c.As, len(c.Text), c.Text)
		}
	}
}

// TestDamagedContent checks that content that cannot be decoded is shown without an error.
func TestDamagedContent(t *testing.T) {
	for _, r := range []store.Record{
		record(t, "f", 0, 0.5),
		record(t, "f", 0, []byte("text")),
		record[image.Image](t, "f", 0, image.NewGray(image.Rect(0, 0, 7, 1))),
		record(t, "f", 0, &array.Array{DType: array.Float32, Shape: []int{1}, Data: make([]byte, 4)}),
		{Key: key.Key{1, 1}, Type: records.Type},
		{Key: key.Key{1, 1}, Type: records.FileDigest},
	} {
		r.Payload = []byte{9, 9}
		if c := describe(t, r).Content; c.Problem == "" {
			t.Errorf("nothing is said to be wrong: %+v", c)
		}
	}
	for _, b := range [][]byte{nil, {0x9b, 255, 255, 255, 255, 255, 255, 255, 255}, {0x80, 0x80}, {0x1c}, {0xff}} {
		r := record(t, "f", 0, point{})
		r.Payload = b
		if c := describe(t, r).Content; c.As == "cbor" {
			t.Errorf("%x is treated as CBOR: %s", b, c.Text)
		}
	}
}

// TestParcel describes the result of a mapper for a sample.
func TestParcel(t *testing.T) {
	s := memory.New(memory.Options{})
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := array.New(array.Uint8, []int{4, 2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	transform, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "make", Code: key.Version("1"), In: []string{"text"}, Out: []string{"array", "picture", "words", "binary"},
		Func: func(_ context.Context, in dataset.Sample) (dataset.Sample, error) {
			return in.WithItem("array", dataset.NewItem("npy", pixels)).
				WithItem("picture", dataset.NewItem("png", image.NewGray(image.Rect(0, 0, 5, 4)))).
				WithItem("words", dataset.NewItem("json", map[string]any{"a": "b\nc"})).
				WithItem("binary", dataset.NewBytes("xyz", []byte{1, 2, 3})), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var sample dataset.Sample
	in := dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
		return sample.WithItem("text", dataset.NewItem("txt", "in")), nil
	})
	out, err := dataset.Map(in, transform, dataset.MapOptions{Larder: l, Keep: true}).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Executions() {
		if err := m.Make(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sel, err := inventory.Select(t.Context(), s, "make")
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range inventory.Records(t.Context(), s, sel) {
		if err != nil {
			t.Fatal(err)
		}
		d, err := inventory.Describe(t.Context(), s, r)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range d.Content.Items {
			size := fmt.Sprint(it.Size)
			if it.Ext == "npy" || it.Ext == "png" {
				size = "?" // up to their encoders
			}
			got = append(got, fmt.Sprintf("%s.%s %s %q %q", it.Name, it.Ext, size, it.From, it.Text))
		}
		want := []string{
			`text. 0 "text" ""`,
			`array.npy ? "" "uint8 [4 2 3]"`,
			`picture.png ? "" "5 x 4 pixels"`,
			`words.json 12 "" "{\"a\":\"b\\nc\"}"`,
			`binary.xyz 3 "" ""`,
		}
		if d.Content.As != "parcel" || !slices.Equal(got, want) {
			t.Errorf("%s\n%s\nwant\n%s", d.Content.As, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestDescribe(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		first, linked := filled(t, s)
		pin(t, s, "/flows/other.yaml#node", record(t, "mul", 0, 0).Key)
		records := all(t, s)
		d, err := inventory.Describe(t.Context(), s, records[first.Key])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.LinkedFrom, []key.Key{linked.Key}) || !d.Pinned || d.Content.Text != "zero" {
			t.Errorf("the value: %+v", d)
		}
		if want := []inventory.Mention{{Name: "/flows/letters#stats", Pinned: true}}; !slices.Equal(d.Manifests, want) {
			t.Errorf("manifests %v", d.Manifests)
		}
		var parts []string
		for _, p := range d.Parts {
			parts = append(parts, p.Kind+" "+p.Name+" "+p.Value)
		}
		if want := []string{"operation  add", "code  version 1", "parameter n 0"}; !slices.Equal(parts, want) {
			t.Errorf("parts %q", parts)
		}
		d, err = inventory.Describe(t.Context(), s, records[linked.Key])
		if err != nil || d.Link != first.Key || d.Content.Text != "zero" || d.Node != "add" || d.Kind != inventory.Link {
			t.Errorf("the link: %+v, %v", d, err)
		}
		if err := s.Delete(t.Context(), first.Key); err != nil {
			t.Fatal(err)
		}
		d, err = inventory.Describe(t.Context(), s, records[linked.Key])
		if err != nil || d.Content != nil {
			t.Errorf("a link that leads nowhere: %+v, %v", d.Content, err)
		}
	})
}

// TestElementTypes compares the names of elements with those of package array.
func TestElementTypes(t *testing.T) {
	for d := array.Bool; d.Valid(); d++ {
		a, err := array.New(d, []int{1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := describe(t, record(t, "f", 0, a)).Content; c.Text != fmt.Sprint(d, " [1]") {
			t.Errorf("%v is shown as %q", d, c.Text)
		}
	}
}

// TestFileDigests checks records of the root package about files.
func TestFileDigests(t *testing.T) {
	s := memory.New(memory.Options{})
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	digest := key.DigestOf([]byte("content"))
	l.Files().Store(key.FileStat{Size: 7}, digest)
	for _, r := range all(t, s) {
		d, err := inventory.Describe(t.Context(), s, r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != inventory.FileDigest || r.Node != inventory.FileDigestNode || d.Content.Text != digest.String() {
			t.Errorf("%+v, %+v", r, d.Content)
		}
	}
	if n := len(all(t, s)); n != 1 {
		t.Errorf("%d records", n)
	}
}

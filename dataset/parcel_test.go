package dataset

import (
	"bytes"
	"image"
	"image/color"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestParcelComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := NewSample(Field{Key: "passed", Item: NewItem("txt", "x")})
		var fields []Field
		for _, k := range rapid.SliceOfNDistinct(rapid.String(), 0, 5, rapid.ID).Draw(t, "keys") {
			f := Field{Key: k, Shared: rapid.Bool().Draw(t, "shared")}
			if rapid.Bool().Draw(t, "pass") {
				f.Item = in.fields[0].Item
			} else {
				f.Item = NewBytes(rapid.String().Draw(t, "ext"), rapid.SliceOfN(rapid.Byte(), 0, rapid.SampledFrom([]int{9, 2000, 9000}).Draw(t, "most")).Draw(t, "bytes"))
			}
			fields = append(fields, f)
		}
		p, err := newMade(t.Context(), in, NewSample(fields...))
		if err != nil {
			t.Fatal(err)
		}
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		b, err := madeValue.Encode(bytes.Clone(prefix), p)
		if err != nil {
			t.Fatal(err)
		}
		p, err = madeValue.Decode(b[len(prefix):])
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.open(in)
		if err != nil {
			t.Fatal(err)
		}
		if out.Len() != len(fields) {
			t.Fatalf("%d items, want %d", out.Len(), len(fields))
		}
		for i, f := range fields {
			checkField(t, out.fields[i], f, f.Item == in.fields[0].Item)
		}
	})
}

func checkField(t *rapid.T, got, want Field, passed bool) {
	if got.Key != want.Key || got.Shared != want.Shared {
		t.Fatalf("field %q shared %v, want %q %v", got.Key, got.Shared, want.Key, want.Shared)
	}
	if passed {
		if got.Item != want.Item {
			t.Fatal("an item that was passed on came back as another")
		}
		return
	}
	gotExt, _ := got.Item.Ext(t.Context())
	wantExt, _ := want.Item.Ext(t.Context())
	gotBytes, _ := got.Item.Bytes(t.Context())
	wantBytes, _ := want.Item.Bytes(t.Context())
	gotDigest, _ := got.Item.Digest(t.Context())
	wantDigest, _ := want.Item.Digest(t.Context())
	if gotExt != wantExt || !bytes.Equal(gotBytes, wantBytes) || gotDigest != wantDigest {
		t.Fatalf("item %q came back changed", want.Key)
	}
}

// TestComputedImagesAreKept checks that the items of a stored result get the images of the
// computed one only where decoding returns equal ones.
func TestComputedImagesAreKept(t *testing.T) {
	size := image.Rect(0, 0, 5, 4)
	full, gray := image.NewNRGBA(size), image.NewGray(size)
	for i := range full.Pix {
		full.Pix[i] = byte(37 * i)
	}
	palette := image.NewPaletted(size, color.Palette{color.Black, color.White})
	part := full.SubImage(image.Rect(1, 1, 4, 3))
	for name, c := range map[string]struct {
		ext string
		img image.Image
		is  bool
	}{
		"NRGBA": {"png", full, true}, "gray": {"png", gray, true}, "palette": {"png", palette, false},
		"a part of an image": {"png", part, false}, "lossy": {"jpg", gray, false},
	} {
		computed := NewSample(Field{Key: "image", Item: NewItem(c.ext, c.img)})
		p, err := newMade(t.Context(), Sample{}, computed)
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := madeValue.Encode(nil, p)
		if err != nil {
			t.Fatal(name, err)
		}
		opened := func() Sample {
			if p, err = madeValue.Decode(b); err != nil {
				t.Fatal(name, err)
			}
			s, err := p.open(Sample{})
			if err != nil {
				t.Fatal(name, err)
			}
			return s
		}
		stored, adopted := opened(), opened()
		adopted.adopt(computed)
		want, err := stored.Value(t.Context(), "image")
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := adopted.Value(t.Context(), "image")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the value is %T, %v, and %T when it is decoded", name, got, err, want)
		}
		if got == any(c.img) != c.is {
			t.Errorf("%s: it is the computed image: %v, want %v", name, !c.is, c.is)
		}
	}
}

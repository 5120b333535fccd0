package dataset

import (
	"bytes"
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

package codec_test

import (
	"bytes"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// fuzzValue decodes arbitrary input. A decoded value must encode, and then decode to a value with the same bytes.
func fuzzValue[T any](f *testing.F, seeds ...T) {
	c, err := codec.For[T]()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range seeds {
		b, err := c.Encode(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := c.Decode(b)
		if err != nil {
			return
		}
		once, err := c.Encode(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		v, err = c.Decode(once)
		if err != nil {
			t.Fatalf("% x: %v", once, err)
		}
		if twice, err := c.Encode(nil, v); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("% x and then % x, %v", once, twice, err)
		}
	})
}

func FuzzDecodeStruct(f *testing.F) {
	fuzzValue(f, kinds{}, kinds{String: "s", Map: map[string][]uint16{"a": {1}, "b": nil}, Pointer: &kinds{Bytes: []byte{}}})
}

func FuzzDecodeAny(f *testing.F) {
	fuzzValue[any](f, nil, map[string]any{"a": []any{1, 0.5, "x", nil, true, []byte{1}}})
}

func FuzzDecodeArray(f *testing.F) {
	a, err := array.From([]int16{1, 2, 3})
	if err != nil {
		f.Fatal(err)
	}
	fuzzValue(f, nil, a)
}

func FuzzDecodeBytes(f *testing.F) { fuzzValue(f, nil, []byte{}, []byte{1}) }

package codec_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/larder-data/larder/codec"
)

type inner struct {
	A int32    `json:"-" cbor:"-"`
	B []string `json:"b,omitempty"`
}

type small struct {
	Name  string
	Score float64
	Tags  []string
	N     int
}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.For[small](); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkEncode[T any](b *testing.B, v T) {
	c, err := codec.For[T]()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		if buf, err = c.Encode(buf[:0], v); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkDecode[T any](b *testing.B, v T) {
	c, err := codec.For[T]()
	if err != nil {
		b.Fatal(err)
	}
	buf, err := c.Encode(nil, v)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

var smallValue = small{"a small one", 0.5, []string{"x", "y"}, 7}

func BenchmarkEncodeInt(b *testing.B)    { benchmarkEncode(b, 42) }
func BenchmarkDecodeInt(b *testing.B)    { benchmarkDecode(b, 42) }
func BenchmarkEncodeStruct(b *testing.B) { benchmarkEncode(b, smallValue) }
func BenchmarkDecodeStruct(b *testing.B) { benchmarkDecode(b, smallValue) }

func restored[T any](t *testing.T, v T) T {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Encode([]byte("before"), v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(b[len("before"):])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func exactly[T any](t *testing.T, v T) {
	t.Helper()
	if got := restored(t, v); !reflect.DeepEqual(got, v) {
		t.Errorf("%#v came back as %#v", v, got)
	}
}

func TestValueIsExact(t *testing.T) {
	exactly(t, 42)
	exactly(t, "text")
	exactly(t, []byte(nil))
	exactly(t, []byte{})
	exactly(t, inner{1, []string{}})
	exactly(t, map[string]any{"a": []any{1, int64(2), nil, 0.5, "x", map[string]any{}}})
	exactly(t, [2][]float32{{1, 2}, nil})
	if got := restored(t, math.Copysign(0, -1)); !math.Signbit(got) {
		t.Error("-0.0 lost its sign")
	}
}

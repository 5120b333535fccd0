package codec_test

import (
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

type small struct {
	Name  string
	Score float64
	Tags  []string
	N     int
}

var aSmall = small{"a small one", 0.5, []string{"x", "y"}, 7}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.For[small](); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	b.Run("int", func(b *testing.B) { benchmarkEncode(b, 42) })
	b.Run("struct", func(b *testing.B) { benchmarkEncode(b, aSmall) })
	b.Run("floats", func(b *testing.B) { benchmarkEncode(b, make([]float32, 1<<18)) })
	b.Run("map", func(b *testing.B) { benchmarkEncode(b, map[string]any{"letter": "a", "count": 3, "color": "red"}) })
}

func BenchmarkDecode(b *testing.B) {
	b.Run("int", func(b *testing.B) { benchmarkDecode(b, 42) })
	b.Run("struct", func(b *testing.B) { benchmarkDecode(b, aSmall) })
	b.Run("floats", func(b *testing.B) { benchmarkDecode(b, make([]float32, 1<<18)) })
	b.Run("map", func(b *testing.B) { benchmarkDecode(b, map[string]any{"letter": "a", "count": 3, "color": "red"}) })
	b.Run("array", func(b *testing.B) {
		a, err := array.From(make([]float32, 1<<18))
		if err != nil {
			b.Fatal(err)
		}
		benchmarkDecode(b, a)
	})
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

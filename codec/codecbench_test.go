package codec_test

import (
	"testing"

	"github.com/larder-data/larder/array"
)

func BenchmarkFormats(b *testing.B) {
	floats, err := array.New(array.Float32, []int{512, 512}, nil)
	if err != nil {
		b.Fatal(err)
	}
	metadata := m{"letter": "y", "color": "red", "count": int64(3), "box": []any{0.5, 1.5, 2.5, 3.5}}
	for _, bench := range []struct {
		name, ext string
		value     any
	}{
		{"npy-1MiB", "npy", floats},
		{"json-small", "json", metadata},
		{"yaml-small", "yaml", metadata},
		{"jpeg-32x32", "jpeg", painted(32, 32)},
		{"png-32x32", "png", painted(32, 32)},
	} {
		c := by(b, bench.ext)
		file, err := c.Encode(bench.value)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("decode/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if _, err := c.Decode(file); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("encode/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Encode(bench.value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

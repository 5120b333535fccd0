package codec_test

import "testing"

// BenchmarkDecodeImages reads a photograph-like image of 512 x 512 pixels.
func BenchmarkDecodeImages(b *testing.B) {
	for _, ext := range []string{"jpeg", "png", "bmp", "tiff"} {
		c := by(b, ext)
		file, err := c.Encode(painted(512, 512))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(ext, func(b *testing.B) {
			b.SetBytes(512 * 512)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Decode(file); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("encode-"+ext, func(b *testing.B) {
			b.SetBytes(512 * 512)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Encode(painted512); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var painted512 = painted(512, 512)

// BenchmarkDecodeDocuments reads a list of a thousand small maps.
func BenchmarkDecodeDocuments(b *testing.B) {
	list := make([]any, 1000)
	for i := range list {
		list[i] = m{"id": int64(i), "name": "some text", "score": 0.25, "tags": []any{"a", "b"}}
	}
	for _, ext := range []string{"json", "yaml"} {
		c := by(b, ext)
		file, err := c.Encode(list)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(ext, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Decode(file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

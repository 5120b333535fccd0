package codec_test

import (
	"bytes"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// fuzzCodec decodes anything. What decodes and can be written must decode
// again; where the format is lossless, to what is written as the same bytes.
func fuzzCodec(f *testing.F, ext string, values []any, files ...string) {
	c := by(f, ext)
	for _, v := range values {
		b, err := c.Encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, file := range files {
		f.Add([]byte(file))
	}
	codec.MaxPixels.Store(1 << 16)
	codec.MaxUnpacked.Store(1 << 20)
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := c.Decode(b)
		if err != nil || c.ReadOnly {
			return
		}
		once, err := c.Encode(v)
		if err != nil {
			return // such as NaN in JSON
		}
		v, err = c.Decode(once)
		if err != nil {
			t.Fatalf("%q: %v", once, err)
		}
		twice, err := c.Encode(v)
		if err != nil || c.Lossless && !bytes.Equal(once, twice) {
			t.Fatalf("%q and then %q, %v", once, twice, err)
		}
	})
}

var fuzzImages = []any{painted(3, 2), gray(2, 2)}

func FuzzJPEG(f *testing.F) { fuzzCodec(f, "jpeg", fuzzImages, string(progressiveJPEG(f))) }
func FuzzPNG(f *testing.F)  { fuzzCodec(f, "png", fuzzImages, string(claim(1<<14, 1<<14))) }
func FuzzGIF(f *testing.F)  { fuzzCodec(f, "gif", fuzzImages) }
func FuzzBMP(f *testing.F)  { fuzzCodec(f, "bmp", fuzzImages) }
func FuzzTIFF(f *testing.F) { fuzzCodec(f, "tiff", fuzzImages) }
func FuzzWebP(f *testing.F) { fuzzCodec(f, "webp", nil, string(webP)) }

func FuzzJSON(f *testing.F) {
	fuzzCodec(f, "json", []any{m{"a": []any{1.0, int64(1), nil, "x"}}}, "-0", "1e999", "[[[", "{\"a\":1,\"a\":2}")
}

func FuzzYAML(f *testing.F) {
	fuzzCodec(f, "yaml", []any{m{"y": []any{1.0, int64(1), nil, "no", []byte{1}}}},
		"a: &x [1, *x]", "a: &a {b: 1}\n<<: *a", "[0o7, 0x1f, .inf, !!int 3, 0777]", "%YAML 1.1\n---\n|\n  x\n", "? a\n: - b")
}

func FuzzText(f *testing.F) { fuzzCodec(f, "txt", []any{"caf\u00e9"}, "\xff") }

func FuzzCSV(f *testing.F) {
	fuzzCodec(f, "csv", []any{codec.Table{Columns: []string{"a"}, Rows: [][]string{{""}, {"\"x\n"}}}}, "a,b\r\n1,2\r\n", "\"")
}

func FuzzNPY(f *testing.F) {
	fuzzCodec(f, "npy", nil, string(npy(1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 1), }", 1, 2, 3, 4)),
		string(npy(3, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 1, 2, 3, 4)))
}

func FuzzNPZ(f *testing.F) {
	a, err := array.From([]int16{1, 2})
	if err != nil {
		f.Fatal(err)
	}
	fuzzCodec(f, "npz", []any{map[string]*array.Array{"a": a}}, string(zipped(f, "a.npy", string(npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 7)))))
}

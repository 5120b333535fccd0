package codec_test

import (
	"bytes"
	"image"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// fuzzCodec decodes arbitrary input. A decoded value that can be written must decode again, to the same bytes if the
// format is lossless.
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

var fuzzImages = []any{painted(3, 2), gray(2, 2), &array.GrayAlpha{Pix: []byte{1, 2, 3, 4}, Stride: 4, Rect: image.Rect(0, 0, 2, 1)}}

func FuzzJPEG(f *testing.F) {
	fuzzCodec(f, "jpeg", fuzzImages, append(corpusFiles(f, ".jpg"), string(progressiveJPEG(f)))...)
}

func FuzzPNG(f *testing.F) {
	fuzzCodec(f, "png", fuzzImages, append(corpusFiles(f, ".png"), string(claim(1<<14, 1<<14)))...)
}
func FuzzGIF(f *testing.F)  { fuzzCodec(f, "gif", fuzzImages, corpusFiles(f, ".gif")...) }
func FuzzBMP(f *testing.F)  { fuzzCodec(f, "bmp", fuzzImages, corpusFiles(f, ".bmp")...) }
func FuzzTIFF(f *testing.F) { fuzzCodec(f, "tiff", fuzzImages, corpusFiles(f, ".tiff")...) }
func FuzzWebP(f *testing.F) {
	fuzzCodec(f, "webp", nil, append(corpusFiles(f, ".webp"), string(webP))...)
}

// corpusFiles returns the files of the corpus with an extension.
func corpusFiles(f *testing.F, ext string) []string {
	var all []string
	for _, p := range pictures(f) {
		if filepath.Ext(p.file) == ext {
			all = append(all, string(corpusFile(f, p.file)))
		}
	}
	return all
}

func FuzzJSON(f *testing.F) {
	fuzzCodec(f, "json", []any{m{"a": []any{1.0, int64(1), nil, "x"}}}, "-0", "1e999", "[[[", "{\"a\":1,\"a\":2}")
}

func FuzzYAML(f *testing.F) {
	fuzzCodec(f, "yaml", []any{m{"y": []any{1.0, int64(1), nil, "no", []byte{1}}}},
		"a: &x [1, *x]", "a: &a {b: 1}\n<<: *a", "[0o7, 0x1f, .inf, !!int 3, 0777]", "%YAML 1.1\n---\n|\n  x\n", "? a\n: - b")
}

// fuzzUpdate changes one value of a document: reading the result must give that value, and all others unchanged.
func fuzzUpdate(f *testing.F, ext string, files ...string) {
	c := by(f, ext)
	for i, file := range files {
		f.Add([]byte(file), uint(i), "k")
	}
	f.Fuzz(func(t *testing.T, b []byte, choice uint, text string) {
		v, err := c.Decode(b)
		if err != nil {
			return
		}
		same, err := c.Update(b, v)
		if err != nil {
			return // such as NaN in JSON, and invalid strings
		}
		if again, err := c.Decode(same); err != nil || cmp.Diff(v, again, cmpopts.EquateNaNs(), equalBig) != "" {
			t.Fatalf("%q became %q, %v", b, same, err)
		}
		want := any(text)
		switch v := v.(type) {
		case map[string]any:
			keys := append(slices.Sorted(maps.Keys(v)), "new")
			want = set(v, text, keys[choice%uint(len(keys))])
		case []any:
			want = set(v, text, int(choice%uint(len(v)+1)))
		}
		got, err := c.Update(b, want)
		if err != nil {
			return
		}
		if again, err := c.Decode(got); err != nil || cmp.Diff(want, again, cmpopts.EquateNaNs(), equalBig) != "" {
			t.Fatalf("%q became %q, which is %v, %v; want %v", b, got, again, err, want)
		}
	})
}

func FuzzUpdateJSON(f *testing.F) {
	fuzzUpdate(f, "json", `{"a": 1.0, "b": [1, {}]}`, "[ 1e2 , NaN ]", `{"a":"\u00e9"}`, " 5 ")
}

func FuzzUpdateYAML(f *testing.F) {
	fuzzUpdate(f, "yaml", "a: &x {b: 1}\nc: *x\n", "a: |\n  x\nb:\n- 1\n- - 2\n", "? a\n: b # c\n", "{a: 'x', b: \"y\",}", "a:\nb: >-\n  x\n\n", "- a: 1\n  b:\n  - 2\n", "a: x\n  y\n")
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

package codec_test

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/array"
)

const corpus = "testdata/images"

// A picture is a line of the corpus' table: what other software reads from a file.
type picture struct {
	file      string
	pages     int
	shape     []int
	depth     array.DType
	tolerance int
}

func pictures(t testing.TB) []picture {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, "table.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []picture
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		f := strings.Split(line, "\t")
		p := picture{file: f[0]}
		var numbers []int
		for _, s := range append(slices.Clone(f[3:7]), f[8]) {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			numbers = append(numbers, n)
		}
		p.pages, p.tolerance = numbers[0], numbers[4]
		if p.depth, err = array.ParseDType(f[7]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		p.shape = numbers[1:3]
		if numbers[0] > 1 {
			p.shape = numbers[:3]
		}
		if numbers[3] > 1 {
			p.shape = append(slices.Clone(p.shape), numbers[3])
		}
		all = append(all, p)
	}
	return all
}

// pixelsOf returns what a codec decoded as an array.
func pixelsOf(t testing.TB, v any) *array.Array {
	t.Helper()
	if img, ok := v.(image.Image); ok {
		a, err := array.FromImage(img, 0)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, ok := v.(*array.Array)
	if !ok {
		t.Fatalf("a %T is neither image nor array", v)
	}
	return a
}

func corpusFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestImagesAreWhatOtherSoftwareSees compares channels, depth, pages and pixels of files from other software.
func TestImagesAreWhatOtherSoftwareSees(t *testing.T) {
	v, err := by(t, "npz").Decode(corpusFile(t, "expected.npz"))
	if err != nil {
		t.Fatal(err)
	}
	expected, all := v.(map[string]*array.Array), pictures(t)
	if len(all) < 60 {
		t.Fatalf("the corpus has %d files", len(all))
	}
	for _, p := range all {
		t.Run(p.file, func(t *testing.T) {
			v, err := by(t, filepath.Ext(p.file)).Decode(corpusFile(t, p.file))
			if err != nil {
				t.Fatal(err)
			}
			got, want := pixelsOf(t, v), expected[p.file]
			wantImage := p.pages == 1 && (p.depth == array.Uint8 || p.depth == array.Uint16)
			if _, is := v.(image.Image); is != wantImage {
				t.Errorf("it is a %T", v)
			}
			if got.DType != p.depth || !slices.Equal(got.Shape, p.shape) {
				t.Fatalf("%T of %v %v, want %v %v", v, got.DType, got.Shape, p.depth, p.shape)
			}
			if p.tolerance == 0 {
				if !slices.Equal(got.Data, want.Data) {
					t.Errorf("pixels differ, by at most %d", farthest(got.Data, want.Data))
				}
			} else if d := farthest(got.Data, want.Data); d > p.tolerance {
				t.Errorf("pixels differ by %d levels, allowed are %d", d, p.tolerance)
			}
		})
	}
}

// TestJPEGKeepsInks checks that CMYK is written with its four channels.
func TestJPEGKeepsInks(t *testing.T) {
	smooth := image.NewCMYK(image.Rect(0, 0, 37, 21))
	for i := range smooth.Pix {
		x, y := i/4%37, i/4/37
		smooth.Pix[i] = byte([]int{5 * x, 9 * y, 255 - 4*x, 3 * (x + y)}[i%4])
	}
	for _, img := range []*image.CMYK{smooth, smooth.SubImage(image.Rect(3, 5, 20, 21)).(*image.CMYK), image.NewCMYK(image.Rect(0, 0, 1, 1))} {
		b, err := by(t, "jpeg").Encode(img)
		if err != nil {
			t.Fatal(err)
		}
		v, err := by(t, "jpeg").Decode(b)
		if _, inks := v.(*image.CMYK); err != nil || !inks {
			t.Fatalf("it came back as a %T, %v", v, err)
		}
		got, want := pixelsOf(t, v), pixelsOf(t, img)
		if d := farthest(got.Data, want.Data); !slices.Equal(got.Shape, want.Shape) || d > 6 {
			t.Errorf("%v came back as %v, %d levels off", want, got, d)
		}
	}
	for _, img := range []image.Image{array.NewGrayAlpha(smooth.Rect), array.NewGrayAlpha16(smooth.Rect)} {
		b, err := by(t, "jpeg").Encode(img)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := by(t, "jpeg").Decode(b); err != nil || len(pixelsOf(t, v).Shape) != 2 {
			t.Errorf("a %T came back as a %T, %v", img, v, err)
		}
	}
}

// farthest returns the largest difference of two bytes.
func farthest(a, b []byte) int {
	most := 0
	for i := range min(len(a), len(b)) {
		most = max(most, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return most
}

// TestImagesOfOthersComeBack checks that images survive writing in every format that supports them: pixels, channels and
// depth.
func TestImagesOfOthersComeBack(t *testing.T) {
	for _, p := range pictures(t) {
		v, err := by(t, filepath.Ext(p.file)).Decode(corpusFile(t, p.file))
		if err != nil {
			t.Fatal(p.file, err)
		}
		want := pixelsOf(t, v)
		_, inks := v.(*image.CMYK)
		_, isImage := v.(image.Image)
		formats := []string{"tiff"}
		if isImage && !inks {
			formats = append(formats, "png")
			if want.DType == array.Uint8 && (len(want.Shape) == 2 || want.Shape[2] != 2) {
				formats = append(formats, "bmp")
			}
		}
		for _, ext := range formats {
			b, err := by(t, ext).Encode(v)
			if err != nil {
				t.Errorf("%s as %s: %v", p.file, ext, err)
				continue
			}
			again, err := by(t, ext).Decode(b)
			if err != nil {
				t.Errorf("%s as %s: %v", p.file, ext, err)
				continue
			}
			if got := pixelsOf(t, again); !got.Equal(*want) {
				t.Errorf("%s as %s: %v came back as %v, %d levels off", p.file, ext, want, got, farthest(got.Data, want.Data))
			}
		}
	}
}

package native

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "golang.org/x/image/webp" // its header

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// most is the number of levels by which a colour may differ between decoders: see docs/reference/file-formats.md.
const most = 3

// library returns the library of a format, or skips the test. Codecs stay without it.
func library(t testing.TB, format string) codec.Library {
	t.Helper()
	for _, f := range formats {
		if f.name == format {
			l, err := f.open()
			if err != nil {
				t.Skipf("the library for %s is not on this machine: %v", format, err)
			}
			return l
		}
	}
	t.Fatalf("no library reads %s", format)
	return codec.Library{}
}

// own decodes by package codec.
func own(t testing.TB, ext string, b []byte) (image.Image, error) {
	t.Helper()
	c, ok := codec.ByExtension(ext)
	if !ok || c.Library != "" {
		t.Fatalf("the codec of %s is %s", ext, c.ID())
	}
	v, err := c.Decode(b)
	img, _ := v.(image.Image)
	return img, err
}

func corpus(t testing.TB, ext string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/images/*." + ext)
	if err != nil || files == nil {
		t.Fatalf("no files of %s, %v", ext, err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if all[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func configOf(t testing.TB, b []byte) (image.Config, bool) {
	t.Helper()
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	return c, err == nil
}

func farthest(t testing.TB, a, b image.Image) int {
	t.Helper()
	x, err := array.FromImage(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	y, err := array.FromImage(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Shape, y.Shape) || x.DType != y.DType {
		t.Fatalf("%v %v and %v %v", x.DType, x.Shape, y.DType, y.Shape)
	}
	d := 0
	for i := range x.Data {
		d = max(d, int(x.Data[i])-int(y.Data[i]), int(y.Data[i])-int(x.Data[i]))
	}
	return d
}

// TestLibrariesSeeTheSame checks that both decoders give one type, size and number of channels, and similar pixels.
func TestLibrariesSeeTheSame(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			l := library(t, f.name)
			read := 0
			for name, b := range corpus(t, extensionOf(f.name)) {
				want, err := own(t, f.name, b)
				if err != nil {
					t.Fatal(err)
				}
				config, _ := configOf(t, b)
				got, ok := l.Decode(b, config)
				if !ok {
					t.Logf("%s is left to package codec", name)
					continue
				}
				read++
				if reflect.TypeOf(got) != reflect.TypeOf(want) || got.Bounds() != want.Bounds() {
					t.Fatalf("%s is a %T of %v, and a %T of %v by the library", name, want, want.Bounds(), got, got.Bounds())
				}
				if d := farthest(t, got, want); d > most {
					t.Errorf("%s differs by %d levels", name, d)
				}
			}
			if read < 4 {
				t.Errorf("the library read %d files", read)
			}
		})
	}
}

func extensionOf(format string) string {
	if format == "jpeg" {
		return "jpg"
	}
	return format
}

// TestLibrariesWriteTheSame checks that libraries write the header that package codec writes, and pixels as close to the
// original up to a tenth. Equal images, or parts of images, give equal bytes.
func TestLibrariesWriteTheSame(t *testing.T) {
	l := library(t, "jpeg")
	c, _ := codec.ByExtension("jpeg")
	for name, b := range corpus(t, "jpg") {
		v, err := own(t, "jpg", b)
		if err != nil {
			t.Fatal(err)
		}
		for _, img := range []image.Image{v, partOf(v)} {
			want, err := c.Encode(img)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := l.Encode(img, 80)
			if _, inks := img.(*image.CMYK); ok == inks {
				t.Fatalf("%s is a %T, and is written: %v", name, img, ok)
			}
			if !ok {
				continue
			}
			a, _ := configOf(t, got)
			if b, _ := configOf(t, want); a.ColorModel != b.ColorModel || a.Width != b.Width || a.Height != b.Height || !bytes.HasPrefix(tables(want), tables(got)) {
				t.Errorf("%s has another header", name)
			}
			x, err := own(t, "jpg", got)
			if err != nil {
				t.Fatal(err)
			}
			y, err := own(t, "jpg", want)
			if err != nil {
				t.Fatal(err)
			}
			if by, its := meanBetween(t, x, img), meanBetween(t, y, img); by > 1.1*its {
				t.Errorf("%s is %.2f levels from what it was, and %.2f by package codec", name, by, its)
			}
			if again, _ := l.Encode(img, 80); !bytes.Equal(got, again) {
				t.Errorf("%s becomes other bytes", name)
			}
		}
	}
	for what, img := range map[string]image.Image{"an empty image": image.NewGray(image.Rectangle{}), "a wide one": image.NewGray(image.Rect(0, 0, 65501, 1))} {
		if _, ok := l.Encode(img, 80); ok {
			t.Errorf("%s is written", what)
		}
	}
}

// TestLibrariesReduce checks that a library reduces to the right size, close to the means of the pixels, and leaves
// damaged files to the codec.
func TestLibrariesReduce(t *testing.T) {
	l := library(t, "jpeg")
	c, _ := codec.ByExtension("jpg")
	read := 0
	for name, b := range corpus(t, "jpg") {
		config, _ := configOf(t, b)
		for _, by := range []int{2, 4, 8} {
			want, whole, err := c.Reduce(b, image.Pt(config.Width/by, config.Height/by))
			if err != nil || whole != image.Pt(config.Width, config.Height) {
				t.Fatal(name, whole, err)
			}
			if want := want.(image.Image).Bounds().Size(); want.X != (whole.X+by-1)/by {
				continue // inks, or too small
			}
			got, ok := l.Reduce(b, config, by)
			if !ok {
				t.Logf("%s is left to package codec", name)
				continue
			}
			read++
			if reflect.TypeOf(got) != reflect.TypeOf(want) {
				t.Fatalf("%s is a %T, and a %T by the library", name, want, got)
			}
			if got.Bounds() != want.(image.Image).Bounds() {
				t.Errorf("%s at 1/%d is %v, and %v by the library", name, by, want.(image.Image).Bounds(), got.Bounds())
			}
			if _, ok := l.Reduce(b[:len(b)/2], config, by); ok {
				t.Errorf("half of %s is read at 1/%d", name, by)
			}
		}
	}
	if read < 12 {
		t.Errorf("the library read %d images", read)
	}
	smooth := image.NewRGBA(image.Rect(0, 0, 203, 151))
	for i := range smooth.Pix {
		x, y := i/4%203, i/4/203
		smooth.Pix[i] = []byte{byte(x), byte(y), byte((x + y) / 2), 255}[i%4]
	}
	b, _ := l.Encode(smooth, 95)
	config, _ := configOf(t, b)
	for _, by := range []int{2, 4, 8} {
		want, _, err := c.Reduce(b, image.Pt(203/by, 0))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := l.Reduce(b, config, by)
		if mean := meanBetween(t, got, want.(image.Image)); !ok || mean > 1 || farthest(t, got, want.(image.Image)) > 8 {
			t.Errorf("at 1/%d it is %.2f levels from the means, %d at most", by, mean, farthest(t, got, want.(image.Image)))
		}
	}
}

// TestBorrowedIsTheSame checks that a borrowed image equals the decoded or reduced one, and has no pixels after it is
// returned.
func TestBorrowedIsTheSame(t *testing.T) {
	l := library(t, "jpeg")
	read := 0
	for name, b := range corpus(t, "jpg") {
		config, _ := configOf(t, b)
		for _, by := range []int{1, 2, 4, 8} {
			want, ok := l.Reduce(b, config, by)
			got, done, borrowed := l.Borrow(b, config, by)
			if borrowed != ok {
				t.Fatalf("%s at 1/%d is borrowed: %v, and reduced: %v", name, by, borrowed, ok)
			}
			if !ok {
				continue
			}
			read++
			if reflect.TypeOf(got) != reflect.TypeOf(want) || farthest(t, got, want) != 0 {
				t.Errorf("%s at 1/%d has other pixels", name, by)
			}
			done()
			done() // does nothing
			if pix := reflect.ValueOf(got).Elem().FieldByName("Pix"); pix.Len() != 0 {
				t.Errorf("%s at 1/%d has pixels after it was given back", name, by)
			}
			if _, _, borrowed := l.Borrow(b[:len(b)/2], config, by); borrowed {
				t.Errorf("half of %s is borrowed at 1/%d", name, by)
			}
		}
	}
	if read < 40 {
		t.Errorf("%d images were borrowed", read)
	}
}

// TestBorrowedByMany checks that a borrowed image stays unchanged until it is returned, whatever others borrow.
func TestBorrowedByMany(t *testing.T) {
	l := library(t, "jpeg")
	type file struct {
		b      []byte
		config image.Config
		want   image.Image
	}
	var files []file
	for _, b := range corpus(t, "jpg") {
		config, _ := configOf(t, b)
		if want, ok := l.Decode(b, config); ok {
			files = append(files, file{b, config, want})
		}
	}
	var wait sync.WaitGroup
	for seed := range uint64(8) {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			for range 30 {
				var dones []func()
				var all []file
				var images []image.Image
				for range 1 + random.IntN(5) {
					f := files[random.IntN(len(files))]
					img, done, ok := l.Borrow(f.b, f.config, 1)
					if !ok {
						t.Error("an image is not borrowed")
						return
					}
					all, images, dones = append(all, f), append(images, img), append(dones, done)
				}
				for i, f := range all {
					if !reflect.DeepEqual(images[i], f.want) {
						t.Error("an image became another one while it was borrowed")
					}
					dones[i]()
					dones[i]() // does nothing
				}
			}
		})
	}
	wait.Wait()
}

// partOf returns the lower right part of an image.
func partOf(img image.Image) image.Image {
	b := img.Bounds()
	b.Min = image.Pt(b.Dx()/3, b.Dy()/4)
	return img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(b)
}

// tables returns the quantization tables of a JPEG.
func tables(b []byte) (all []byte) {
	for at := 2; at+4 < len(b) && b[at+1] != 0xda; {
		n := 2 + int(b[at+2])<<8 + int(b[at+3])
		if body := b[at+4 : at+n]; b[at+1] == 0xdb {
			all = append(all, body...)
		}
		at += n
	}
	return all
}

func meanBetween(t testing.TB, a, b image.Image) float64 {
	t.Helper()
	x, err := array.FromImage(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	y, err := array.FromImage(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i := range x.Data {
		sum += max(int(x.Data[i]), int(y.Data[i])) - min(int(x.Data[i]), int(y.Data[i]))
	}
	return float64(sum) / float64(len(x.Data))
}

// TestInksAreLeftToTheCodec checks images that libraries do not support.
func TestInksAreLeftToTheCodec(t *testing.T) {
	l := library(t, "jpeg")
	c, _ := codec.ByExtension("jpeg")
	b, err := c.Encode(image.NewCMYK(image.Rect(0, 0, 9, 7)))
	if err != nil {
		t.Fatal(err)
	}
	config, _ := configOf(t, b)
	if img, ok := l.Decode(b, config); ok {
		t.Errorf("it is a %T", img)
	}
}

// TestDamageIsLeftToTheCodec truncates files and changes bytes: results of the library have the size of the header, and
// truncated files are not read.
func TestDamageIsLeftToTheCodec(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			l, random := library(t, f.name), rand.New(rand.NewPCG(1, 2))
			for name, b := range corpus(t, extensionOf(f.name)) {
				for range 40 {
					cut := bytes.Clone(b[:random.IntN(len(b)*9/10)])
					if config, ok := configOf(t, cut); ok {
						if _, err := own(t, f.name, cut); err == nil {
							continue // no pixels were cut off
						}
						if _, ok := l.Decode(cut, config); ok {
							t.Fatalf("%s is read from %d of %d bytes", name, len(cut), len(b))
						}
					}
				}
				for range 40 {
					other := bytes.Clone(b)
					for range 1 + random.IntN(3) {
						other[random.IntN(len(b))] ^= byte(1 << random.IntN(8))
					}
					checkSizes(t, l, other)
				}
			}
		})
	}
}

// checkSizes has a library decode arbitrary input.
func checkSizes(t testing.TB, l codec.Library, b []byte) {
	t.Helper()
	config, ok := configOf(t, b)
	if !ok || config.Width*config.Height > 1<<20 {
		return
	}
	before := bytes.Clone(b)
	img, ok := l.Decode(b, config)
	if ok && img.Bounds() != image.Rect(0, 0, config.Width, config.Height) {
		t.Fatalf("an image of %d x %d became one of %v", config.Width, config.Height, img.Bounds())
	}
	if !bytes.Equal(before, b) {
		t.Fatal("the bytes were changed")
	}
}

// TestManyScans checks that a small file cannot keep a library busy forever.
func TestManyScans(t *testing.T) {
	l := library(t, "jpeg")
	for name, b := range corpus(t, "jpg") {
		config, _ := configOf(t, b)
		at := bytes.LastIndex(b, []byte{0xff, 0xda})
		if !strings.Contains(name, "progressive") || at < 0 {
			continue
		}
		many := bytes.Clone(b[:len(b)-2])
		for range 2000 {
			many = append(many, b[at:len(b)-2]...)
		}
		if _, ok := l.Decode(append(many, 0xff, 0xd9), config); ok {
			t.Errorf("%s is read with 2000 more scans", name)
		}
		return
	}
	t.Error("the corpus has no progressive file")
}

// FuzzWebP decodes arbitrary input.
func FuzzWebP(f *testing.F) {
	l := library(f, "webp")
	for _, b := range corpus(f, "webp") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkSizes(t, l, b) })
}

// FuzzJPEG decodes arbitrary input.
func FuzzJPEG(f *testing.F) {
	l := library(f, "jpeg")
	for _, b := range corpus(f, "jpg") {
		f.Add(b)
	}
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, image.NewRGBA(image.Rect(0, 0, 3, 2)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) { checkSizes(t, l, b) })
}

// TestWithoutLibraries checks that a format is read without its library, unless the library is required.
func TestWithoutLibraries(t *testing.T) {
	all := formats
	defer func() { formats = all }()
	errAbsent := errors.New("absent")
	formats = slices.Clone(all)
	for i := range formats {
		formats[i].open = func() (codec.Library, error) { return codec.Library{}, errAbsent }
	}
	for which, want := range map[string]error{"": nil, "none": nil, "jpeg": errAbsent, "webp": errAbsent} {
		if err := use(which); !errors.Is(err, want) {
			t.Errorf("%q gives %v, want %v", which, err, want)
		}
	}
	if err := use("jpeg,tga"); err == nil || !strings.Contains(err.Error(), `"tga"`) {
		t.Errorf("an unknown format gives %v", err)
	}
	c, _ := codec.ByExtension("jpeg")
	if c.ID() != "jpeg" {
		t.Errorf("the codec is %s", c.ID())
	}
}

// BenchmarkJPEG writes and reads an image of 256 x 192.
func BenchmarkJPEG(b *testing.B) {
	img := image.NewRGBA(image.Rect(0, 0, 256, 192))
	for i := range img.Pix {
		img.Pix[i] = byte(i*i>>9 + i/1024)
	}
	l := library(b, "jpeg")
	c, _ := codec.ByExtension("jpeg")
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Encode(img); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, ok := l.Encode(img, 80); !ok {
				b.Fatal("it is not written")
			}
		}
	})
}

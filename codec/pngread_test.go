package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/larder-data/larder/array"
)

func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// samplePNG returns a file of random bytes in rows of the given filters, and its chunks.
func samplePNG(t testing.TB, random *rand.Rand, kind byte, width, height int) [][]byte {
	t.Helper()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	chunks := [][]byte{[]byte(pngStart), chunk("IHDR", append(head, 8, kind, 0, 0, 0)), chunk("tEXt", []byte("a\x00b"))}
	pixel := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
	colours := 1 + random.IntN(256)
	if kind == pngIsPalette {
		palette := make([]byte, 3*colours)
		for i := range palette {
			palette[i] = byte(random.Uint32())
		}
		chunks = append(chunks, chunk("PLTE", palette), chunk("tRNS", palette[:random.IntN(colours)]))
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	for range height {
		row := make([]byte, 1+width*pixel)
		for i := range row {
			row[i] = byte(random.Uint32() >> random.IntN(9))
			if kind == pngIsPalette {
				row[i] = byte(random.IntN(colours))
			}
		}
		row[0] = byte(random.IntN(5))
		if kind == pngIsPalette {
			row[0] = 0
		}
		if _, err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := z.Bytes()
	cut := random.IntN(len(data))
	return append(chunks, chunk("IDAT", data[:cut]), chunk("IDAT", data[cut:]), chunk("IEND", nil))
}

// TestPNGIsReadAsByTheStandardLibrary compares this package with image/png, for all kinds and filters, and for files of
// other software.
func TestPNGIsReadAsByTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	for _, kind := range []byte{0, 2, 3, 4, 6} {
		for range 60 {
			b := bytes.Join(samplePNG(t, random, kind, 1+random.IntN(40), 1+random.IntN(40)), nil)
			got, ok := readPNG(b)
			want, err := png.Decode(bytes.NewReader(b))
			if !ok || err != nil {
				t.Fatalf("kind %d is read: %v; by image/png: %v", kind, ok, err)
			}
			samePNG(t, got, want)
		}
	}
	files, _ := filepath.Glob("testdata/images/*.png")
	read := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := readPNG(b)
		if !ok {
			t.Logf("%s is left to image/png", file)
			continue
		}
		read++
		want, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		samePNG(t, got, want)
	}
	if read < 4 {
		t.Errorf("%d of %d files were read", read, len(files))
	}
}

func samePNG(t testing.TB, got, want image.Image) {
	t.Helper()
	if m, ok := got.(*array.GrayAlpha); ok { // which image/png returns as colour
		n, ok := want.(*image.NRGBA)
		if !ok || !bytes.Equal(m.Pix, pick(n.Pix, 4, 0, 3)) {
			t.Fatalf("grey with alpha is another %T", want)
		}
		return
	}
	if p, ok := want.(*image.Paletted); ok {
		p.Palette = append(p.Palette[:0:0], p.Palette...)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("a %T of %v is not the %T of image/png", got, got.Bounds(), want)
	}
}

// TestFaultsOfPNGAreLeftToTheStandardLibrary checks that a damaged file is read only if image/png reads the same pixels.
// Missing, duplicate or reordered chunks never give another result than image/png.
func TestFaultsOfPNGAreLeftToTheStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	check := func(b []byte) {
		t.Helper()
		got, ok := readPNG(b)
		if !ok {
			return
		}
		want, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("it is read, and not by image/png: %v", err)
		}
		samePNG(t, got, want)
	}
	for _, kind := range []byte{0, 1, 2, 3, 4, 5, 6} {
		for range 40 {
			chunks := samplePNG(t, random, kind, 1+random.IntN(9), 1+random.IntN(9))
			whole := bytes.Join(chunks, nil)
			check(whole[:random.IntN(len(whole))])
			check(append(bytes.Clone(whole), 1, 2, 3))
			for range 20 {
				other := bytes.Clone(whole)
				other[random.IntN(len(other))] ^= byte(1 << random.IntN(8))
				check(other)
			}
			for range 30 { // with correct checksums
				i, j := random.IntN(len(chunks)), random.IntN(len(chunks))
				others := append([][]byte(nil), chunks...)
				switch random.IntN(4) {
				case 0:
					others[i], others[j] = others[j], others[i]
				case 1:
					others = append(others[:i:i], others[i+1:]...)
				case 2:
					others = append(others[:i:i], others[j:]...)
				default:
					if c := chunks[i]; len(c) > 12 {
						data := bytes.Clone(c[8 : len(c)-4])
						data[random.IntN(len(data))] = byte(random.Uint32())
						others[i] = chunk(string(c[4:8]), data[:len(data)-random.IntN(2)])
					}
				}
				check(bytes.Join(others, nil))
			}
		}
	}
}

// BenchmarkPNG reads a photograph, by this package and by image/png.
func BenchmarkPNG(b *testing.B) {
	MaxPixels.Store(0) // fuzz targets set a limit
	img := image.NewRGBA(image.Rect(0, 0, 640, 480))
	random := rand.New(rand.NewPCG(3, 9))
	for i := range img.Pix {
		img.Pix[i] = byte(i/9 + i/2560 + random.IntN(9))
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]func() bool{
		"here":     func() bool { _, ok := readPNG(file.Bytes()); return ok },
		"standard": func() bool { _, err := png.Decode(bytes.NewReader(file.Bytes())); return err == nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(img.Pix)))
			for b.Loop() {
				if !read() {
					b.Fatal("it is not read")
				}
			}
		})
	}
}

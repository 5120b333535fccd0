package codec_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/larder-data/larder/codec"
)

// exif returns a directory with an orientation, behind n other entries.
func exif(order binary.AppendByteOrder, o uint16, n int) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, uint16(n+1))
	entry := func(tag, value uint16) {
		b = order.AppendUint16(b, tag)
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, value)
		b = order.AppendUint16(b, 0)
	}
	for i := range n {
		entry(uint16(0x100+i), 7)
	}
	entry(0x112, o)
	return b
}

// inJPEG, inPNG and inWebP return the start of a file with Exif.
func inJPEG(exif []byte) []byte {
	b := []byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xe1}
	b = binary.BigEndian.AppendUint16(b, uint16(len(exif)+8))
	return append(append(append(b, "Exif\x00\x00"...), exif...), 0xff, 0xda, 0, 2)
}

func inPNG(exif []byte) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x01IHDRx\x00\x00\x00\x00")
	b = binary.BigEndian.AppendUint32(b, uint32(len(exif)))
	return append(append(append(b, "eXIf"...), exif...), 0, 0, 0, 0)
}

func inWebP(exif []byte) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x01\x00\x00\x00x\x00EXIF")
	b = binary.LittleEndian.AppendUint32(b, uint32(len(exif)))
	return append(b, exif...)
}

func TestOrientation(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for o := range uint16(10) {
			want := int(o)
			if o < 1 || o > 8 {
				want = codec.Upright
			}
			tiff := exif(order, o, int(o))
			for name, b := range map[string][]byte{"tiff": tiff, "jpeg": inJPEG(tiff), "png": inPNG(tiff), "webp": inWebP(tiff), "webp with a prefix": inWebP(append([]byte("Exif\x00\x00"), tiff...))} {
				if got := codec.Orientation(b); got != want {
					t.Errorf("%s in %v: %d, want %d", name, order, got, want)
				}
			}
		}
	}
}

// FuzzOrientation checks that damaged metadata is never more than an orientation.
func FuzzOrientation(f *testing.F) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		tiff := exif(order, 6, 2)
		for _, b := range [][]byte{tiff, inJPEG(tiff), inPNG(tiff), inWebP(tiff)} {
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := slices.Clone(b)
		if o := codec.Orientation(b); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
		if !slices.Equal(b, before) {
			t.Error("the bytes changed")
		}
	})
}

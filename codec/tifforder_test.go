package codec_test

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/binary"
	"image"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// stripTIFF returns a TIFF file with one strip of gray.
func stripTIFF(width, height, depth, compression, fillOrder int, strip []byte) []byte {
	le := binary.LittleEndian
	out := append([]byte("II*\x00"), 0, 0, 0, 0)
	out = append(out, strip...)
	out = append(out, make([]byte, len(out)%2)...)
	le.PutUint32(out[4:], uint32(len(out)))
	fields := [][2]int{{256, width}, {257, height}, {258, depth}, {259, compression}, {262, 1}, {266, fillOrder}, {273, 8}, {278, height}, {279, len(strip)}}
	out = le.AppendUint16(out, uint16(len(fields)))
	for _, f := range fields {
		out = le.AppendUint32(append(le.AppendUint16(out, uint16(f[0])), 4, 0, 1, 0, 0, 0), uint32(f[1]))
	}
	return append(out, 0, 0, 0, 0)
}

// TestTIFFWithReversedBits checks that FillOrder 2 applies to the stored bytes, whatever the compression.
func TestTIFFWithReversedBits(t *testing.T) {
	want := []byte{0, 1, 2, 3, 100, 200, 250, 255, 7, 8, 9, 10}
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	if _, err := z.Write(want); err != nil {
		t.Fatal(err)
	}
	z.Close()
	var squeezed bytes.Buffer
	l := lzw.NewWriter(&squeezed, lzw.MSB, 8)
	if _, err := l.Write(want); err != nil {
		t.Fatal(err)
	}
	l.Close()
	for compression, strip := range map[int][]byte{
		1: want, 8: deflated.Bytes(), 32946: deflated.Bytes(), 5: squeezed.Bytes(),
		32773: append([]byte{byte(len(want) - 1)}, want...),
	} {
		reversed := slices.Clone(strip)
		for i, c := range reversed {
			reversed[i] = bits.Reverse8(c)
		}
		for order, strip := range map[int][]byte{1: strip, 2: reversed} {
			v, err := by(t, "tiff").Decode(stripTIFF(4, 3, 8, compression, order, strip))
			if img, ok := v.(*image.Gray); err != nil || !ok || !bytes.Equal(img.Pix, want) {
				t.Errorf("compression %d, order %d: %v, %v", compression, order, v, err)
			}
		}
	}
	if v, err := by(t, "tiff").Decode(stripTIFF(4, 3, 8, 8, 2, deflated.Bytes())); err == nil {
		t.Errorf("bits in an order that the file does not say were read as %v", v)
	}
}

// TestFaxWithoutEndsOfLines checks that such data is refused, because its rows cannot be separated.
func TestFaxWithoutEndsOfLines(t *testing.T) {
	white := []byte{0x98} // 8 white pixels are 10011
	v, err := by(t, "tiff").Decode(stripTIFF(8, 1, 1, 3, 1, append([]byte{0x00, 0x19}, 0x80)))
	if img, ok := v.(*image.Gray); err != nil || !ok || !bytes.Equal(img.Pix, make([]byte, 8)) {
		t.Errorf("with an end of line: %v, %v", v, err)
	}
	for _, strip := range [][]byte{white, nil, {0}, append([]byte{0, 1}, white...)} {
		if v, err := by(t, "tiff").Decode(stripTIFF(8, 1, 1, 3, 1, strip)); err == nil || !strings.Contains(err.Error(), "end-of-line codes") {
			t.Errorf("%x: %v, %v", strip, v, err)
		}
	}
}

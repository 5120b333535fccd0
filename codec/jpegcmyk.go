package codec

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"io"
)

// adobe is the segment APP14 that declares four channels as CMYK, not YCCK.
const adobe = "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"

// withAdobe adds that segment to an image with four channels and no such declaration. Like
// libjpeg it treats them as CMYK, and 0 as full ink, as in all files.
func withAdobe(b []byte) []byte {
	channels := 0
	for at := 2; at+4 <= len(b) && b[at] == 0xff; {
		if b[at+1] == 0xff { // fill bytes
			at++
			continue
		}
		next := at + 2 + int(binary.BigEndian.Uint16(b[at+2:]))
		switch m := b[at+1]; {
		case m == jpegScan:
			if channels != 4 {
				return b
			}
			return append(append(append(make([]byte, 0, len(b)+len(adobe)), b[:2]...), adobe...), b[2:]...)
		case m == jpegAdobe && bytes.HasPrefix(b[at+4:], []byte("Adobe")):
			return b
		case m >= jpegFrame && m <= jpegProgressive && at+10 <= len(b):
			channels = int(b[at+9])
		}
		at = next
	}
	return b
}

// Markers of JPEG segments.
const (
	jpegFrame = 0xc0 // baseline

	jpegProgressive = 0xc2
	jpegAdobe       = 0xee

	jpegScan = 0xda
	jpegEnd  = 0xd9
)

// encodeCMYK writes four channels, each as a separate scan, which image/jpeg writes as
// grey. As Adobe defines, 0 is full ink in the file, and a segment declares that the
// channels are not YCCK.
func encodeCMYK(w io.Writer, img *image.CMYK) error {
	var head, scans []byte
	for channel := range 4 {
		one, err := encodedGray(inkOf(img, channel))
		if err != nil {
			return err
		}
		frame, scan := jpegParts(one)
		if channel == 0 {
			head = append(head, "\xff\xd8"+adobe...)
			head = append(head, one[2:frame]...)
			head = append(head, cmykFrame(img.Rect.Size())...)
			head = append(head, one[frame+2+int(binary.BigEndian.Uint16(one[frame+2:])):scan]...)
		}
		const id = 5 // of the channel, in the segment
		one[scan+id] = byte(channel + 1)
		scans = append(scans, one[scan:len(one)-2]...)
	}
	_, err := w.Write(append(append(head, scans...), 0xff, jpegEnd))
	return err
}

// inkOf returns a channel, with 0 for full ink.
func inkOf(img *image.CMYK, channel int) *image.Gray {
	size := img.Rect.Size()
	one := image.NewGray(image.Rectangle{Max: size})
	for y := range size.Y {
		row := img.Pix[y*img.Stride:]
		for x := range size.X {
			one.Pix[y*one.Stride+x] = 255 - row[4*x+channel]
		}
	}
	return one
}

func encodedGray(img *image.Gray) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
	return b.Bytes(), err
}

// jpegParts returns the offsets of the frame and scan segments.
func jpegParts(b []byte) (frame, scan int) {
	for at := 2; at+4 <= len(b); at += 2 + int(binary.BigEndian.Uint16(b[at+2:])) {
		switch b[at+1] {
		case jpegFrame:
			frame = at
		case jpegScan:
			return frame, at
		}
	}
	return frame, len(b)
}

// cmykFrame returns the frame segment of four channels of one size, with one quantisation
// table.
func cmykFrame(size image.Point) []byte {
	b := []byte{0xff, jpegFrame, 0, 20, 8}
	b = binary.BigEndian.AppendUint16(b, uint16(size.Y))
	b = binary.BigEndian.AppendUint16(b, uint16(size.X))
	b = append(b, 4)
	for channel := range 4 {
		b = append(b, byte(channel+1), 0x11, 0)
	}
	return b
}

package codec

import (
	"bytes"
	"encoding/binary"
)

// Upright is the orientation of an image that is displayed as it is stored.
const Upright = 1

// Orientation returns how the pixels of an encoded JPEG, PNG, WebP or TIFF are to be turned
// for display: the value of the tag Orientation of Exif (CIPA DC-008), from 1 to 8. It is
// [Upright] if the image does not say, or is of another format.
func Orientation(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xd8}):
		return tiffOrientation(exifOfJPEG(b))
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return tiffOrientation(exifOfPNG(b))
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return tiffOrientation(exifOfWebP(b))
	}
	return tiffOrientation(b)
}

var exifPrefix = []byte("Exif\x00\x00")

// exifOfJPEG returns the content of the first segment with Exif before the pixels.
func exifOfJPEG(b []byte) []byte {
	const app1, sos = 0xe1, 0xda
	for b = b[2:]; len(b) >= 4 && b[0] == 0xff; {
		if b[1] == 0xff { // a fill byte
			b = b[1:]
			continue
		}
		size := int(binary.BigEndian.Uint16(b[2:])) + 2
		if b[1] == sos || size > len(b) {
			return nil
		}
		if exif, ok := bytes.CutPrefix(b[4:max(4, size)], exifPrefix); ok && b[1] == app1 {
			return exif
		}
		b = b[size:]
	}
	return nil
}

// exifOfPNG returns the content of the chunk eXIf.
func exifOfPNG(b []byte) []byte {
	const overhead = 12 // length, type and checksum
	for b = b[8:]; len(b) >= overhead; {
		size := int64(binary.BigEndian.Uint32(b))
		if size > int64(len(b)-overhead) {
			return nil
		}
		if string(b[4:8]) == "eXIf" {
			return b[8:][:size]
		}
		b = b[overhead+size:]
	}
	return nil
}

// exifOfWebP returns the content of the chunk EXIF.
func exifOfWebP(b []byte) []byte {
	for b = b[12:]; len(b) >= 8; {
		size := int64(binary.LittleEndian.Uint32(b[4:]))
		if size > int64(len(b)-8) {
			return nil
		}
		if string(b[:4]) == "EXIF" {
			exif := b[8:][:size]
			exif, _ = bytes.CutPrefix(exif, exifPrefix)
			return exif
		}
		b = b[min(int64(len(b)), 8+size+size%2):]
	}
	return nil
}

// tiffOrientation returns the orientation in the first directory of a TIFF.
func tiffOrientation(b []byte) int {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte("II*\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return Upright
	}
	if len(b) < 8 {
		return Upright
	}
	at := int64(order.Uint32(b[4:]))
	if at > int64(len(b)-2) {
		return Upright
	}
	const tag, short, size = 0x0112, 3, 12
	directory := b[at+2:]
	for range order.Uint16(b[at:]) {
		if len(directory) < size {
			return Upright
		}
		entry := directory[:size]
		if order.Uint16(entry) == tag && order.Uint16(entry[2:]) == short && order.Uint32(entry[4:]) == 1 {
			if o := int(order.Uint16(entry[8:])); o >= Upright && o <= 8 {
				return o
			}
			return Upright
		}
		directory = directory[size:]
	}
	return Upright
}

package codec

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"io"
	"math"
)

// claims returns a function that reads the header of an image and returns how many bytes
// the image takes during decoding; 0 if it is not an image.
func claims(config func(io.Reader) (image.Config, error)) func(b []byte) int64 {
	return func(b []byte) int64 {
		c, err := guarded(func() (image.Config, error) { return config(bytes.NewReader(b)) })
		if err != nil || checkSize(c.Width, c.Height) != nil {
			return 0
		}
		pixel := int64(4)
		switch c.ColorModel {
		case color.GrayModel:
			pixel = 1
		case color.YCbCrModel, color.NYCbCrAModel:
			pixel = 8 // including intermediate colours
		case color.RGBA64Model, color.NRGBA64Model:
			pixel = 8
		}
		return pixel * int64(c.Width) * int64(c.Height)
	}
}

// claimsPNG is claims for PNG, whose header has a fixed position: parsing it as an image
// takes more memory than a small image.
func claimsPNG(b []byte) int64 {
	const widthAt, heightAt, depthAt, end = 16, 20, 24, 26
	if len(b) < end {
		return 0
	}
	width, height := int64(binary.BigEndian.Uint32(b[widthAt:])), int64(binary.BigEndian.Uint32(b[heightAt:]))
	if width > math.MaxInt32 || height > math.MaxInt32 || checkSize(int(width), int(height)) != nil {
		return 0
	}
	switch depth, gray := b[depthAt], b[depthAt+1] == 0; {
	case depth == 16 && !gray:
		return 8 * width * height
	case depth <= 8 && gray:
		return width * height
	}
	return 4 * width * height
}

// claimsJPEG is claims for JPEG: the first frame, after segments with their lengths, has
// the size.
func claimsJPEG(b []byte) int64 {
	const startOfFrame, startOfScan = 0xc0, 0xda
	for at := 2; at+10 <= len(b) && b[at] == 0xff; {
		marker := b[at+1]
		if marker == 0xff { // fill byte
			at++
			continue
		}
		if marker >= startOfFrame && marker <= startOfFrame+2 {
			height, width := int64(binary.BigEndian.Uint16(b[at+5:])), int64(binary.BigEndian.Uint16(b[at+7:]))
			if checkSize(int(width), int(height)) != nil {
				return 0
			}
			switch b[at+9] { // channels
			case 1:
				return width * height
			case 3:
				return 8 * width * height // including intermediate colours
			}
			return 4 * width * height
		}
		if marker == startOfScan {
			return 0
		}
		at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
	}
	return 0
}

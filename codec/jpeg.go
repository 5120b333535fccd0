package codec

import (
	"bytes"
	"errors"
	"image"
	"image/draw"
	"image/jpeg"
	"io"

	"github.com/larder-data/larder/array"
)

// jpegQuality is the quality of encoded JPEGs.
const jpegQuality = 80

// decodeJPEG reads baseline and progressive JPEG: grey, colour and CMYK (255 is full ink).
// It interpolates subsampled chroma as libjpeg and libjpeg-turbo do. Samples of luma and
// chroma differ from theirs by at most one level, because image/jpeg rounds the inverse
// cosine transform differently; colours differ by at most three.
func decodeJPEG(b []byte) (any, error) {
	img, err := readJPEG(b)
	if err != nil {
		return nil, err
	}
	return fromJPEG(img), nil
}

func readJPEG(b []byte) (image.Image, error) {
	if _, err := headerJPEG(b); err != nil {
		return nil, err
	}
	return jpeg.Decode(bytes.NewReader(withAdobe(b)))
}

// fromJPEG converts luma and chroma to colours.
func fromJPEG(img image.Image) image.Image {
	if ycc, ok := img.(*image.YCbCr); ok {
		const narrow = 2 // as in libjpeg
		return coloured(fullChroma(ycc, narrow))
	}
	return img
}

func headerJPEG(b []byte) (image.Config, error) { return checked(b, 8192, jpeg.DecodeConfig) }

// coloured converts colours by the formula of JFIF, rounded to the nearest level, unlike
// the standard library.
func coloured(m *image.YCbCr) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, m.Rect.Dx(), m.Rect.Dy()))
	shift := uint(0) // log2 of the columns per chroma sample
	if r := m.SubsampleRatio; r == image.YCbCrSubsampleRatio411 || r == image.YCbCrSubsampleRatio410 {
		shift = 2
	}
	for y := range out.Rect.Dy() {
		luma, at := m.Y[y*m.YStride:], m.COffset(m.Rect.Min.X, m.Rect.Min.Y+y)
		cb, cr, row := m.Cb[at:], m.Cr[at:], out.Pix[y*out.Stride:]
		for x := range out.Rect.Dx() {
			l, b, r := int(luma[x])<<16+1<<15, int(cb[x>>shift])-128, int(cr[x>>shift])-128
			row[4*x] = clamped((l + 91881*r) >> 16)
			row[4*x+1] = clamped((l - 22554*b - 46802*r) >> 16)
			row[4*x+2] = clamped((l + 116130*b) >> 16)
			row[4*x+3] = 255
		}
	}
	return out
}

func clamped(v int) byte { return byte(min(255, max(0, v))) }

// encodeJPEG writes grey, colour and CMYK.
func encodeJPEG(w io.Writer, img image.Image) error {
	img = rasterJPEG(img)
	if inks, ok := img.(*image.CMYK); ok {
		return encodeCMYK(w, inks)
	}
	return jpeg.Encode(w, img, &jpeg.Options{Quality: jpegQuality})
}

// EncodeJPEG encodes an image as JPEG with a quality from 1 to 100, by the encoder of the
// standard library.
func EncodeJPEG(v any, quality int) ([]byte, error) {
	return writeImage("jpeg", v, func(w io.Writer, img image.Image) error {
		img = rasterJPEG(img)
		if _, ok := img.(*image.CMYK); ok {
			return errors.New("CMYK JPEG is written with the default quality only; remove quality")
		}
		return jpeg.Encode(w, img, &jpeg.Options{Quality: quality})
	})
}

// rasterJPEG converts types that image/jpeg reads pixel by pixel to a type that it reads by
// rows.
func rasterJPEG(img image.Image) image.Image {
	switch img := img.(type) {
	case *image.CMYK, *image.Gray, *image.YCbCr, *image.RGBA:
		return img
	case *image.Gray16, *array.GrayAlpha, *array.GrayAlpha16:
		gray := image.NewGray(img.Bounds())
		draw.Draw(gray, gray.Rect, img, gray.Rect.Min, draw.Src)
		return gray
	}
	rgba := image.NewRGBA(img.Bounds())
	draw.Draw(rgba, rgba.Rect, img, rgba.Rect.Min, draw.Src)
	return rgba
}

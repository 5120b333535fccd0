package codec

import (
	"bytes"
	"errors"
	"image"

	"golang.org/x/image/webp"
)

// decodeWebP reads WebP of one frame: colour, with alpha if the file declares it. It
// interpolates the chroma of lossy files. Colours follow ITU-R 601 in the video range (16
// to 235), as the format defines.
func decodeWebP(b []byte) (any, error) {
	if _, err := headerWebP(b); err != nil {
		return nil, err
	}
	img, err := webp.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	switch img := img.(type) {
	case *image.YCbCr:
		return asRGBA(televised(img, nil, 0)), nil
	case *image.NYCbCrA:
		return televised(&img.YCbCr, img.A, img.AStride), nil
	case *image.NRGBA:
		if !webpAlpha(b) {
			return asRGBA(img), nil
		}
	}
	return img, nil
}

func headerWebP(b []byte) (image.Config, error) {
	c, err := checked(b, 0, webp.DecodeConfig)
	if err == nil && len(b) > 20 && string(b[12:16]) == "VP8X" && b[20]&2 != 0 {
		err = errors.New("animations are not supported; save each frame as an image, or all as GIF or TIFF")
	}
	return c, err
}

// webpAlpha reports whether a lossless file declares alpha.
func webpAlpha(b []byte) bool {
	if string(b[12:16]) == "VP8L" && len(b) > 24 {
		return b[24]&0x10 != 0
	}
	return b[20]&0x10 != 0 // VP8X
}

// televised converts an image whose luma is 16 to 235. Without alpha it is opaque.
func televised(m *image.YCbCr, alpha []byte, stride int) *image.NRGBA {
	m = fullChroma(m, 0)
	out := image.NewNRGBA(image.Rect(0, 0, m.Rect.Dx(), m.Rect.Dy()))
	for y := range out.Rect.Dy() {
		luma, cb, cr := m.Y[y*m.YStride:], m.Cb[y*m.CStride:], m.Cr[y*m.CStride:]
		row := out.Pix[y*out.Stride:]
		for x := range out.Rect.Dx() {
			// 2^14 times 255/219, and 255/224 times the weights of ITU-R 601, rounded as in
			// libwebp. The last number accounts for the origins (16 and 128) and half a
			// level.
			l, b, r := 19077*int(luma[x])>>8, int(cb[x]), int(cr[x])
			row[4*x] = clamped((l + 26149*r>>8 - 14234) >> 6)
			row[4*x+1] = clamped((l - 6419*b>>8 - 13320*r>>8 + 8708) >> 6)
			row[4*x+2] = clamped((l + 33050*b>>8 - 17685) >> 6)
			row[4*x+3] = 255
			if alpha != nil {
				row[4*x+3] = alpha[y*stride+x]
			}
		}
	}
	return out
}

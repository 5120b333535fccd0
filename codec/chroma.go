package codec

import "image"

// fullChroma returns an image with as much chroma as luma. Along each halved axis, a sample
// is three quarters of the nearer one and one quarter of the other (a triangle filter); at
// the border the outermost sample is repeated. libjpeg ("fancy upsampling") and libwebp do
// the same. Rounding alternates up and down, as in libjpeg. Other subsampling is not
// interpolated, nor is chroma of at most narrow columns: there each sample counts for all
// pixels it covers.
func fullChroma(m *image.YCbCr, narrow int) *image.YCbCr {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	wide, high := (w+1)/2, (h+1)/2
	var up func(c []byte) []byte
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		up = func(c []byte) []byte { return upBoth(c, m.CStride, wide, high, w, h, wide > narrow) }
	case image.YCbCrSubsampleRatio422:
		up = func(c []byte) []byte { return upColumns(c, m.CStride, wide, w, h, wide > narrow) }
	case image.YCbCrSubsampleRatio440:
		up = func(c []byte) []byte { return upRows(c, m.CStride, high, w, h) }
	default:
		return m
	}
	return &image.YCbCr{
		Y: m.Y, YStride: m.YStride, Cb: up(m.Cb), Cr: up(m.Cr), CStride: w,
		SubsampleRatio: image.YCbCrSubsampleRatio444, Rect: m.Rect,
	}
}

// upColumns doubles the columns.
func upColumns(c []byte, stride, wide, w, h int, smooth bool) []byte {
	out := make([]byte, w*h+1)
	for y := range h {
		row, to := c[y*stride:][:wide], out[y*w:][:2*wide] // for an odd width, the last one is extra
		left := uint(row[0])
		for at, v := range row {
			v, right := uint(v), uint(v)
			if at+1 < len(row) {
				right = uint(row[at+1])
			}
			switch {
			case !smooth:
				to[2*at], to[2*at+1] = byte(v), byte(v)
			default:
				to[2*at], to[2*at+1] = byte((3*v+left+1)/4), byte((3*v+right+2)/4)
			}
			left = v
		}
		if smooth { // the border is repeated
			to[0], to[2*wide-1] = row[0], row[wide-1]
		}
	}
	return out[:w*h]
}

// upRows doubles the rows.
func upRows(c []byte, stride, high, w, h int) []byte {
	out := make([]byte, w*h)
	for y := range h {
		near, far, bias := neighbours(y, high)
		a, b, to := c[near*stride:][:w], c[far*stride:][:w], out[y*w:][:w]
		for x, v := range a {
			to[x] = byte((3*uint(v) + uint(b[x]) + bias) / 4)
		}
	}
	return out
}

// neighbours returns the rows of chroma for a row of pixels, and the rounding bias.
func neighbours(y, high int) (near, far int, bias uint) {
	near = y / 2
	if y%2 == 0 {
		return near, max(near-1, 0), 1
	}
	return near, min(near+1, high-1), 2
}

// upBoth doubles rows and columns: it sums down the columns first, then along the row.
func upBoth(c []byte, stride, wide, high, w, h int, smooth bool) []byte {
	out, sums := make([]byte, w*h+1), make([]uint, wide+2) // sums have their ends twice
	for y := range h {
		near, far, _ := neighbours(y, high)
		a, b := c[near*stride:][:wide], c[far*stride:][:wide]
		if !smooth {
			b = a
		}
		inner := sums[1 : wide+1]
		for i, v := range a {
			inner[i] = 3*uint(v) + uint(b[i])
		}
		sums[0], sums[wide+1] = inner[0], inner[wide-1]
		to := out[y*w:][:2*wide] // for an odd width, the last one is extra
		for at, s := range inner {
			left, right := s, s
			if smooth {
				left, right = sums[at], sums[at+2]
			}
			to[2*at], to[2*at+1] = byte((3*s+left+8)/16), byte((3*s+right+7)/16)
		}
	}
	return out[:w*h]
}

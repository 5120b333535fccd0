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
	out := make([]byte, 0, w*h)
	for y := range h {
		row := c[y*stride:][:wide]
		for x := range w {
			at := x / 2
			v := int(row[at])
			switch {
			case !smooth || x == 0 || x == 2*wide-1:
			case x%2 == 0:
				v = (3*v + int(row[at-1]) + 1) / 4
			default:
				v = (3*v + int(row[at+1]) + 2) / 4
			}
			out = append(out, byte(v))
		}
	}
	return out
}

// upRows doubles the rows.
func upRows(c []byte, stride, high, w, h int) []byte {
	out := make([]byte, 0, w*h)
	for y := range h {
		near, far, bias := neighbours(y, high)
		a, b := c[near*stride:][:w], c[far*stride:][:w]
		for x := range w {
			out = append(out, byte((3*int(a[x])+int(b[x])+bias)/4))
		}
	}
	return out
}

// neighbours returns the rows of chroma for a row of pixels, and the rounding bias.
func neighbours(y, high int) (near, far, bias int) {
	near = y / 2
	if y%2 == 0 {
		return near, max(near-1, 0), 1
	}
	return near, min(near+1, high-1), 2
}

// upBoth doubles rows and columns: it sums down the columns first, then along the row.
func upBoth(c []byte, stride, wide, high, w, h int, smooth bool) []byte {
	out, sums := make([]byte, 0, w*h+1), make([]int, wide)
	for y := range h {
		near, far, _ := neighbours(y, high)
		a, b := c[near*stride:][:wide], c[far*stride:][:wide]
		if !smooth {
			b = a
		}
		for i := range sums {
			sums[i] = 3*int(a[i]) + int(b[i])
		}
		for at, s := range sums {
			left, right := s, s
			if smooth {
				left, right = sums[max(at-1, 0)], sums[min(at+1, wide-1)]
			}
			out = append(out, byte((3*s+left+8)/16), byte((3*s+right+7)/16))
		}
		out = out[:(y+1)*w] // for an odd width, the last one is extra
	}
	return out
}

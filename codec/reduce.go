package codec

import "image"

// reduction returns the greatest divisor of the sides that leaves at least those of least:
// 1, 2, 4 or 8.
func reduction(whole, least image.Point) int {
	for _, by := range []int{8, 4, 2} {
		if whole.X/by >= max(least.X, 1) && whole.Y/by >= max(least.Y, 1) {
			return by
		}
	}
	return 1
}

// reduceJPEG reads the full image and averages, because image/jpeg has no reduced decoding.
// It averages luma and chroma, so that full chroma and colours are computed for the small
// image alone.
func reduceJPEG(b []byte, least image.Point) (any, image.Point, error) {
	var whole image.Point
	v, err := readImage("jpeg", b, func(b []byte) (any, error) {
		img, err := readJPEG(b)
		if err != nil {
			return nil, err
		}
		whole = img.Bounds().Size()
		by := reduction(whole, least)
		if by == 1 {
			return fromJPEG(img), nil
		}
		if ycc, ok := img.(*image.YCbCr); ok {
			if small, ok := planeMeans(ycc, by); ok {
				return coloured(small), nil
			}
		}
		return means(fromJPEG(img), by), nil
	})
	return v, whole, err
}

// planeMeans averages squares of by pixels a side of each plane. ok is false if a sample of
// chroma covers four pixels in a row.
func planeMeans(m *image.YCbCr, by int) (_ *image.YCbCr, ok bool) {
	across, down := by, by // samples of chroma to average
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		across = by / 2
	case image.YCbCrSubsampleRatio440:
		down = by / 2
	case image.YCbCrSubsampleRatio420:
		across, down = by/2, by/2
	default:
		return nil, false
	}
	size := m.Rect.Size()
	out := image.NewYCbCr(image.Rect(0, 0, (size.X+by-1)/by, (size.Y+by-1)/by), image.YCbCrSubsampleRatio444)
	chroma := image.Pt((size.X*across+by-1)/by, (size.Y*down+by-1)/by)
	planeMeansOf(out.Y, out.YStride, m.Y, m.YStride, size, by, by)
	planeMeansOf(out.Cb, out.CStride, m.Cb, m.CStride, chroma, across, down)
	planeMeansOf(out.Cr, out.CStride, m.Cr, m.CStride, chroma, across, down)
	return out, true
}

// planeMeansOf averages rectangles of across x down samples, which may be smaller at the
// right and bottom edges.
func planeMeansOf(to []byte, toStride int, from []byte, stride int, size image.Point, across, down int) {
	sums := make([]uint32, (size.X+across-1)/across)
	for y := 0; y < size.Y; y += down {
		rows := min(down, size.Y-y)
		clear(sums)
		for i := range rows {
			row := from[(y+i)*stride:][:size.X]
			for at := range sums {
				part := row[at*across : min((at+1)*across, len(row))]
				for _, v := range part {
					sums[at] += uint32(v)
				}
			}
		}
		out := to[y/down*toStride:][:len(sums)]
		for at, sum := range sums {
			n := uint32(rows * min(across, size.X-at*across))
			out[at] = byte((sum + n/2) / n)
		}
	}
}

// means averages squares of by pixels a side, which may be smaller at the right and bottom
// edges. Inks stay inks.
func means(img image.Image, by int) image.Image {
	size := img.Bounds().Size()
	small := image.Rect(0, 0, (size.X+by-1)/by, (size.Y+by-1)/by)
	switch m := img.(type) {
	case *image.Gray:
		out := image.NewGray(small)
		meansOf(out.Pix, out.Stride, m.Pix, m.Stride, size, by, 1)
		return out
	case *image.RGBA:
		out := image.NewRGBA(small)
		meansOf(out.Pix, out.Stride, m.Pix, m.Stride, size, by, 4)
		return out
	}
	return img
}

func meansOf(to []byte, toStride int, from []byte, stride int, size image.Point, by, channels int) {
	for y := 0; y < size.Y; y += by {
		rows := min(by, size.Y-y)
		for x := 0; x < size.X; x += by {
			columns := min(by, size.X-x)
			at := to[y/by*toStride+x/by*channels:]
			for c := range channels {
				sum := 0
				for i := range rows {
					for j := range columns {
						sum += int(from[(y+i)*stride+(x+j)*channels+c])
					}
				}
				at[c] = byte((sum + rows*columns/2) / (rows * columns))
			}
		}
	}
}

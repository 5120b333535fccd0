package codec

import "image"

// unpackRuns reads run lengths. Skipped pixels get the first colour of the palette; pixels
// beyond the image are dropped.
func (f *bmpFile) unpackRuns() *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, f.width, f.height), f.palette)
	x, y := 0, 0
	put := func(v byte) {
		if x < f.width && y < f.height {
			img.Pix[f.line(y)*img.Stride+x] = v
		}
		x++
	}
	// nibble returns pixel i of a run that starts with byte b.
	nibble := func(b byte, i int) byte {
		if f.depth == 8 {
			return b
		}
		return b >> (4 - i%2*4) & 15
	}
	for b := f.pixels; len(b) >= 2 && y < f.height; {
		count, v := int(b[0]), b[1]
		b = b[2:]
		if count > 0 {
			for i := range count {
				put(nibble(v, i))
			}
			continue
		}
		switch v {
		case 0: // end of line
			x, y = 0, y+1
		case 1: // end of image
			return img
		case 2: // move
			if len(b) < 2 {
				return img
			}
			x, y, b = x+int(b[0]), y+int(b[1]), b[2:]
		default: // single pixels, padded to words
			n := (int(v)*f.depth + 7) / 8
			if n > len(b) {
				return img
			}
			for i := range int(v) {
				put(nibble(b[i*f.depth/8], i))
			}
			b = b[min(n+n%2, len(b)):]
		}
	}
	return img
}

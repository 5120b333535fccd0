package codec

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"io"

	"github.com/larder-data/larder/array"
)

// decodeGIF reads a GIF of one frame as an image.Paletted of its canvas. It reads several
// frames as an array of the canvas after each: (frames, height, width, 3), or 4 if parts
// are transparent.
func decodeGIF(b []byte) (any, error) {
	if _, err := checked(b, 4096, gif.DecodeConfig); err != nil {
		return nil, err
	}
	if err := checkFrames(b); err != nil {
		return nil, err
	}
	all, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	canvas := image.Rect(0, 0, all.Config.Width, all.Config.Height)
	if len(all.Image) == 1 && all.Image[0].Rect == canvas {
		return all.Image[0], nil
	}
	frames := shown(all, canvas)
	if len(frames) == 1 {
		return frames[0], nil
	}
	return stack(frames)
}

func encodeGIF(w io.Writer, img image.Image) error { return gif.Encode(w, img, nil) }

// checkFrames bounds the pixels of all frames, each of which takes a whole canvas. It
// follows the blocks of the file without decompressing them.
func checkFrames(b []byte) error {
	c, err := gif.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return err
	}
	at := 13
	if b[10]&0x80 != 0 {
		at += 3 << (b[10]&7 + 1)
	}
	frames := int64(0)
	for at < len(b) && b[at] != ';' {
		switch b[at] {
		case '!':
			at += 2
		case ',':
			frames++
			if at+9 >= len(b) {
				return io.ErrUnexpectedEOF
			}
			flags := b[at+9]
			at += 11 // and the code size
			if flags&0x80 != 0 {
				at += 3 << (flags&7 + 1)
			}
		default:
			return nil // the decoder reports the error
		}
		for at < len(b) && b[at] != 0 {
			at += int(b[at]) + 1
		}
		at++
	}
	if each := int64(c.Width) * int64(c.Height); frames > 1 && frames > pixelLimit()/each {
		return fmt.Errorf("%d frames of %d x %d pixels exceed the limit of %d; %w", frames, c.Width, c.Height, pixelLimit(), morePixels)
	}
	return nil
}

// shown returns the canvas after each frame. Unpainted pixels are transparent; like current
// software, it ignores the background colour of the file.
func shown(g *gif.GIF, canvas image.Rectangle) []image.Image {
	screen := image.NewNRGBA(canvas)
	frames := make([]image.Image, len(g.Image))
	for i, frame := range g.Image {
		before := *screen
		if g.Disposal[i] == gif.DisposalPrevious {
			before.Pix = bytes.Clone(screen.Pix)
		}
		draw.Draw(screen, frame.Rect, frame, frame.Rect.Min, draw.Over)
		seen := *screen
		seen.Pix = bytes.Clone(screen.Pix)
		frames[i] = &seen
		switch g.Disposal[i] {
		case gif.DisposalBackground:
			draw.Draw(screen, frame.Rect, image.NewUniform(color.Transparent), image.Point{}, draw.Src)
		case gif.DisposalPrevious:
			screen = &before
		}
	}
	if seeThrough(frames) {
		return frames
	}
	for i, f := range frames {
		frames[i] = asRGBA(f.(*image.NRGBA))
	}
	return frames
}

func seeThrough(frames []image.Image) bool {
	for _, f := range frames {
		if !f.(*image.NRGBA).Opaque() {
			return true
		}
	}
	return false
}

// stack makes one array of images of one type and size: pages are the first dimension.
func stack(pages []image.Image) (*array.Array, error) {
	var data []byte
	var shape []int
	var dtype array.DType
	for i, p := range pages {
		a, err := array.FromImage(p, 0)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			shape, dtype = append([]int{len(pages)}, a.Shape...), a.DType
			data = make([]byte, 0, len(pages)*len(a.Data))
		}
		data = append(data, a.Data...)
	}
	return array.New(dtype, shape, data)
}

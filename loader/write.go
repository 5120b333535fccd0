package loader

import (
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/larder-data/larder/array"
)

// write writes a part of the field into the memory of its batch.
func (c *column) write(part int, data []byte) error {
	block := c.in(data)
	if c.Collation == Packed {
		return c.writeRow(part, block)
	}
	if err := c.writeCell(part, block); err != nil {
		return fmt.Errorf("field %s: %s: %w", c.Name, c.of(part), err)
	}
	return nil
}

func (c *column) writeCell(i int, block []byte) error {
	in := &c.cells[i]
	switch c.Collation {
	case Text, Bytes, JSON:
		to := block[c.offsets[i]:c.offsets[i+1]]
		copy(to[copy(to, in.data):], in.text)
		return nil
	case List:
		size := int64(c.DType.Size())
		shape, err := c.outer(in.shape)
		if err != nil {
			return err
		}
		return c.put(in, block[c.offsets[i]*size:c.offsets[i+1]*size], shape)
	}
	n := len(block) / len(c.cells)
	slot := block[i*n : (i+1)*n]
	if c.Collation == Pad && !c.fills(in) {
		pad(slot, c.padding)
	}
	return c.put(in, slot, c.slot)
}

// fills reports whether a cell fills its slot.
func (c *column) fills(in *cell) bool {
	shape, err := c.outer(in.shape)
	return err == nil && slices.Equal(shape, c.slot)
}

// writeRow writes a row of packed samples.
func (c *column) writeRow(r int, block []byte) error {
	n := len(block) / len(c.rows)
	row := block[r*n : (r+1)*n]
	token := n / c.row
	for _, p := range c.rows[r] {
		in := &c.cells[p.Sample]
		conv := c.conversions[in.dtype]
		if err := in.read(); err != nil {
			return fmt.Errorf("field %s: %s: %w", c.Name, c.of(p.Sample), err)
		}
		from := in.elements()
		if in.shape[0] > 0 {
			from = from[len(from)/in.shape[0]*p.From : len(from)/in.shape[0]*p.To]
		}
		to := row[:(p.To-p.From)*token]
		if err := conv.run(to, from, 1, 0, 1); err != nil {
			return fmt.Errorf("field %s: %s: %w", c.Name, c.of(p.Sample), err)
		}
		row = row[len(to):]
	}
	pad(row, c.padding)
	return nil
}

func pad(to, with []byte) {
	if len(to) == 0 {
		return
	}
	for n := copy(to, with); n < len(to); n *= 2 {
		copy(to[n:], to[:n])
	}
}

// put writes a cell into a slot with output shape out.
func (c *column) put(in *cell, slot []byte, out []int) error {
	w := slotWriter{conv: c.conversions[in.dtype], planar: c.options.Planar, out: out}
	if in.unread != nil && w.conv.same() && !w.planar && slices.Equal(in.shape, out) {
		return in.unread.ReadArray(slot)
	}
	if err := in.read(); err != nil {
		return err
	}
	if in.img == nil {
		return w.write(slot, in.elements(), in.shape, 0)
	}
	if w.conv.same() && !w.planar && slices.Equal(in.shape, out) {
		_, err := array.AppendImage(slot[:0:len(slot)], in.img, c.options.Channels)
		return err
	}
	return w.strips(slot, in, c.options.Channels)
}

// stripBytes is the approximate part of an image to convert at a time, small
// enough to stay in the processor cache.
const stripBytes = 32 << 10

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// A slotWriter writes arrays into memory with another shape, type or order of
// dimensions.
type slotWriter struct {
	conv   *conversion
	planar bool
	out    []int
}

// strips writes an image a few rows at a time, without another copy of it.
func (w *slotWriter) strips(slot []byte, in *cell, channels int) error {
	b := in.img.Bounds()
	sub, ok := in.img.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	rows := max(1, stripBytes/max(1, 4*b.Dx())) &^ 1
	if rows = max(rows, 2); !ok {
		rows = max(1, b.Dy())
	}
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	for y := 0; y < b.Dy(); y += rows {
		strip := in.img
		if ok {
			strip = sub.SubImage(image.Rect(b.Min.X, b.Min.Y+y, b.Max.X, min(b.Min.Y+y+rows, b.Max.Y)))
		}
		var err error
		if *buf, err = array.AppendImage((*buf)[:0], strip, channels); err != nil {
			return err
		}
		shape := slices.Clone(in.shape)
		shape[0] = min(rows, b.Dy()-y)
		if err := w.write(slot, *buf, shape, y); err != nil {
			return err
		}
	}
	return nil
}

// write writes an array whose first row is row y of the slot.
func (w *slotWriter) write(slot, src []byte, shape []int, y int) error {
	if w.planar {
		return w.planes(slot, src, shape, y)
	}
	return w.conv.spread(slot, src, shape, w.out, y)
}

// planes writes the channels of (height, width, channels) as separate planes.
func (w *slotWriter) planes(slot, src []byte, shape []int, y int) error {
	in, out := w.conv.from.Size(), w.conv.to.Size()
	width, channels := shape[1], shape[2]
	for ch := range channels {
		for k := range shape[0] {
			to := slot[((ch*w.out[1])+y+k)*w.out[2]*out:][:width*out]
			if width == 0 {
				continue
			}
			if err := w.conv.run(to, src[(k*width*channels+ch)*in:], channels, ch, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread writes an array into a slot of a larger shape.
func (c *conversion) spread(slot, src []byte, shape, out []int, y int) error {
	if len(shape) == 0 {
		return c.run(slot, src, 1, 0, 1)
	}
	row := c.to.Size() // bytes per row of the slot
	for _, n := range out[1:] {
		row *= n
	}
	if slices.Equal(shape[1:], out[1:]) {
		return c.run(slot[y*row:][:shape[0]*row], src, 1, 0, 1)
	}
	if shape[0] == 0 {
		return nil
	}
	each := len(src) / shape[0]
	for k := range shape[0] {
		if err := c.spread(slot[(y+k)*row:][:row], src[k*each:][:each], shape[1:], out[1:], 0); err != nil {
			return err
		}
	}
	return nil
}

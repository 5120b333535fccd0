package loader

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/larder-data/larder/array"
)

// A column writes one field of a batch. After layout, its parts may be written
// concurrently, and each writes all of its bytes.
type column struct {
	Field
	options *FieldOptions
	cells   []cell
	of      func(i int) string // the name of a sample
	rows    []Row              // if they are packed
	row     int                // tokens of a row

	conversions map[array.DType]*conversion
	slot        []int // output shape of a sample
	padding     []byte
	offsets     []int64
	lengths     []int64
	shapes      []int64
}

func (c *column) layOut(l *layout, collation Collation) (err error) {
	c.Name, c.Collation = c.options.name(), collation
	switch collation {
	case Stack:
		err = c.stack(l)
	case Pad:
		err = c.pad(l)
	case List:
		err = c.list(l)
	case Packed:
		err = c.pack(l)
	default:
		err = c.text(l)
	}
	if err != nil {
		return fmt.Errorf("field %s: %w", c.Name, err)
	}
	return nil
}

// convert finds the conversions of all cells, and the resulting element type.
func (c *column) convert() (to array.DType, err error) {
	c.conversions = map[array.DType]*conversion{}
	o := *c.options
	first := &c.cells[0]
	for i := range c.cells {
		in := &c.cells[i]
		if in.dtype != first.dtype && !o.converts() {
			if !numbersOf(in) || !numbersOf(first) {
				return 0, fmt.Errorf("%s has %s and %s has %s; declare the type that it is to become", c.of(0), first, c.of(i), in)
			}
			o.DType = array.Float64 // mixed integers and floats, of documents
		}
	}
	for i := range c.cells {
		in := &c.cells[i]
		channels := 1
		if n := len(in.shape); n > 0 {
			channels = in.shape[n-1]
		}
		if c.conversions[in.dtype] != nil {
			continue
		}
		if c.conversions[in.dtype], err = conversionOf(&o, in.dtype, channels); err != nil {
			return 0, fmt.Errorf("%s: %w", c.of(i), err)
		}
	}
	return c.conversions[first.dtype].to, nil
}

// numbersOf reports whether a cell holds numbers of the types in documents.
func numbersOf(c *cell) bool {
	return c.img == nil && (c.dtype == array.Int64 || c.dtype == array.Float64)
}

func (c *column) outer(shape []int) ([]int, error) {
	if !c.options.Planar {
		return slices.Clone(shape), nil
	}
	if len(shape) != 3 {
		return nil, fmt.Errorf("shape %v is not one of height, width and channels, which could be planar; ask for a number of channels", shape)
	}
	return []int{shape[2], shape[0], shape[1]}, nil
}

func (c *column) stack(l *layout) error {
	for i := range c.cells {
		if !slices.Equal(c.cells[i].shape, c.cells[0].shape) {
			return fmt.Errorf("%s has %s and %s has %s; declare it pad or list, or make them equal", c.of(0), &c.cells[0], c.of(i), &c.cells[i])
		}
	}
	return c.slots(l, c.cells[0].shape)
}

// slots allocates a slot of the same shape for each sample.
func (c *column) slots(l *layout, shape []int) error {
	to, err := c.convert()
	if err != nil {
		return err
	}
	if c.slot, err = c.outer(shape); err != nil {
		return err
	}
	c.Block, err = l.block(to, append([]int{len(c.cells)}, c.slot...)...)
	return err
}

func (c *column) pad(l *layout) error {
	first := &c.cells[0]
	dims := c.options.Dims
	if dims == 0 && first.img != nil {
		dims = 2
	}
	dims = max(dims, 1)
	longest := slices.Clone(first.shape)
	for i := range c.cells {
		shape := c.cells[i].shape
		if len(shape) < dims || len(shape) != len(longest) || !slices.Equal(shape[dims:], longest[dims:]) {
			return fmt.Errorf("%s has %s and %s has %s, which do not differ in the first %d dimensions alone", c.of(0), first, c.of(i), &c.cells[i], dims)
		}
		for d := range dims {
			longest[d] = max(longest[d], shape[d])
			c.lengths = append(c.lengths, int64(shape[d]))
		}
	}
	for d := range dims {
		if by := c.options.Multiple; by > 1 {
			longest[d] = (longest[d] + by - 1) / by * by
		}
	}
	if err := c.slots(l, longest); err != nil {
		return err
	}
	if err := c.padWith(); err != nil {
		return err
	}
	shape := []int{len(c.cells), dims}
	if dims == 1 {
		shape = shape[:1]
	}
	return c.addBlock(l, &c.Lengths, shape...)
}

func (c *column) padWith() error {
	c.padding = make([]byte, c.DType.Size())
	if c.options.With == 0 {
		return nil
	}
	if !converted(c.DType) || !store(c.padding, c.DType, c.options.With) {
		return fmt.Errorf("padding %v is not a valid %v", c.options.With, c.DType)
	}
	return nil
}

// addBlock allocates a block of numbers that describe the field.
func (c *column) addBlock(l *layout, to **Block, shape ...int) error {
	b, err := l.block(array.Int64, shape...)
	*to = &b
	return err
}

func (c *column) list(l *layout) error {
	to, err := c.convert()
	if err != nil {
		return err
	}
	rank, total := len(c.cells[0].shape), int64(0)
	for i := range c.cells {
		shape, err := c.outer(c.cells[i].shape)
		if err != nil {
			return err
		}
		if len(shape) != rank {
			return fmt.Errorf("%s has %s and %s has %s, of other dimensions", c.of(0), &c.cells[0], c.of(i), &c.cells[i])
		}
		n := int64(1)
		for _, d := range shape {
			n *= int64(d)
			c.shapes = append(c.shapes, int64(d))
		}
		c.offsets = append(c.offsets, total)
		total += n
	}
	c.offsets = append(c.offsets, total)
	if c.Block, err = l.block(to, int(total)); err != nil {
		return err
	}
	if err := c.addBlock(l, &c.Offsets, len(c.cells)+1); err != nil {
		return err
	}
	return c.addBlock(l, &c.Shapes, len(c.cells), rank)
}

func (c *column) text(l *layout) (err error) {
	total := int64(0)
	for i := range c.cells {
		c.offsets = append(c.offsets, total)
		total += int64(c.cells[i].size())
	}
	c.offsets = append(c.offsets, total)
	if c.Block, err = l.block(array.Uint8, int(total)); err != nil {
		return err
	}
	return c.addBlock(l, &c.Offsets, len(c.cells)+1)
}

// pack allocates rows of tokens.
func (c *column) pack(l *layout) error {
	if c.rows == nil {
		return fmt.Errorf("it is %v, and the batches have no rows", Packed)
	}
	to, err := c.convert()
	if err != nil {
		return err
	}
	first := &c.cells[0]
	for i := range c.cells {
		shape := c.cells[i].shape
		if len(shape) == 0 || len(first.shape) == 0 || !slices.Equal(shape[1:], first.shape[1:]) {
			return fmt.Errorf("%s has %s and %s has %s, which are not sequences of the same", c.of(0), first, c.of(i), &c.cells[i])
		}
	}
	for r, row := range c.rows {
		at := r * c.row
		for _, p := range row {
			if n := c.cells[p.Sample].shape[0]; p.To > n {
				return fmt.Errorf("%s has %d tokens, but the plan has a length of at least %d", c.of(p.Sample), n, p.To)
			}
			c.offsets, c.lengths = append(c.offsets, int64(at)), append(c.lengths, int64(p.To-p.From))
			at += p.To - p.From
		}
	}
	c.slot = slices.Clone(first.shape[1:])
	if c.Block, err = l.block(to, append([]int{len(c.rows), c.row}, c.slot...)...); err != nil {
		return err
	}
	if err := c.padWith(); err != nil {
		return err
	}
	if err := c.addBlock(l, &c.Offsets, len(c.offsets)); err != nil {
		return err
	}
	return c.addBlock(l, &c.Lengths, len(c.lengths))
}

func (c *column) parts() int {
	if c.Collation == Packed {
		return len(c.rows)
	}
	return len(c.cells)
}

// finish writes the blocks outside of the parts.
func (c *column) finish(data []byte) {
	numbers := func(b *Block, list []int64) {
		if b == nil {
			return
		}
		to := b.in(data)
		for i, n := range list {
			binary.LittleEndian.PutUint64(to[8*i:], uint64(n))
		}
	}
	numbers(c.Lengths, c.lengths)
	numbers(c.Offsets, c.offsets)
	numbers(c.Shapes, c.shapes)
	for _, b := range []*Block{&c.Block, c.Lengths, c.Offsets, c.Shapes} {
		if b != nil {
			end := b.Offset + b.Bytes
			clear(data[end : (end+alignment-1)/alignment*alignment])
		}
	}
}

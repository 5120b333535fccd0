package loader

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/array"
)

// A Collation says how the items of a batch's samples become one field.
type Collation int

// The collations.
const (
	// Auto chooses by the value of the first sample. Strings are Text, and
	// bytes are Bytes. Numbers, arrays, images and lists of numbers are Stack,
	// or Packed if rows are packed and they are as long as the sample. All else
	// is JSON.
	Auto Collation = iota
	// Stack puts arrays of equal shapes into one, of shape N x shape, in C
	// order.
	Stack
	// Pad is Stack for arrays that differ in their first dimensions. All are
	// padded to the longest, and Lengths has their own lengths.
	Pad
	// List concatenates arrays of any lengths into one with a single dimension.
	// Offsets has the start of each, Shapes its shape.
	List
	// Text concatenates strings as UTF-8, with Offsets.
	Text
	// Bytes concatenates bytes, with Offsets: the encoded items where it is
	// declared, otherwise values that are bytes.
	Bytes
	// JSON concatenates values as JSON, with Offsets.
	JSON
	// Packed puts sequences into the rows of the batch, with shape rows x
	// tokens x shape of a token. Offsets has the start of each piece in the
	// rows, and Lengths its length.
	Packed
	// ItemKey is the identity of each sample's item, in 32 bytes, as uint8 of
	// shape N x 32. It covers what the item depends on, whatever reads it, and
	// the declarations of all fields of the loader. Two items with the same key
	// are the same in every field. One item may have several keys, for example
	// first as computed and then as stored in a file. Its result is
	// collated as Stack.
	ItemKey
)

var collations = []string{"auto", "stack", "pad", "list", "text", "bytes", "json", "packed", "key"}

func (f Collation) String() string {
	if f < 0 || int(f) >= len(collations) {
		return fmt.Sprintf("Collation(%d)", int(f))
	}
	return collations[f]
}

// MarshalText returns the name of the collation.
func (f Collation) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText parses the name of a collation.
func (f *Collation) UnmarshalText(text []byte) error {
	k := slices.Index(collations, string(text))
	if k < 0 {
		return fmt.Errorf("%q is not a collation; valid: %q", text, collations)
	}
	*f = Collation(k)
	return nil
}

// FieldOptions declare a field of the batches.
type FieldOptions struct {
	Item    string // of the samples
	Name    string // of the field; "" means that of the item
	Collate Collation

	// DType is the element type of the field. 0 leaves the type unchanged, or
	// means float32 for fields with a computation. A number that does not fit
	// is an error.
	DType array.DType
	// Scale, Mean and Deviation convert each element to (x*Scale - Mean) /
	// Deviation. Mean and Deviation have a number for each channel, the last
	// dimension, or one for all. A Scale of 0 means 1.
	Scale           float64
	Mean, Deviation []float64
	// Planar transposes images from (height, width, channels) to (channels,
	// height, width).
	Planar bool
	// Channels is the number of channels of an image, as in [array.FromImage].
	Channels int

	// Dims is the number of leading dimensions to pad; 0 means 1, or 2 for
	// images. Multiple pads them to a multiple of this number. With is the
	// value of padding elements.
	Dims, Multiple int
	With           float64
}

// computes reports whether elements change.
func (f *FieldOptions) computes() bool {
	return f.Scale != 0 && f.Scale != 1 || len(f.Mean) > 0 || len(f.Deviation) > 0
}

func (f *FieldOptions) converts() bool { return f.DType != 0 || f.computes() }

func (f *FieldOptions) name() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Item
}

// check refuses an invalid declaration.
func (f *FieldOptions) check() error {
	arrays := f.Collate == Auto || f.Collate == Stack || f.Collate == Pad || f.Collate == List || f.Collate == Packed
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("field %s: %w", f.name(), fmt.Errorf(format, args...))
	}
	switch {
	case f.Item == "":
		return wrong("no item; name one")
	case f.Collate < Auto || f.Collate > ItemKey:
		return wrong("there is no %v", f.Collate)
	case !arrays && (f.converts() || f.Planar || f.Channels != 0):
		return wrong("%v are not numbers; remove the conversion", f.Collate)
	case f.DType != 0 && !converted(f.DType):
		return wrong("elements cannot be converted to %v; use bool, an integer type, float32 or float64", f.DType)
	case f.Collate != Pad && (f.Dims != 0 || f.Multiple != 0):
		return wrong("dims and multiple are valid only with pad")
	case f.Dims < 0 || f.Multiple < 0:
		return wrong("a number is below 0")
	case f.Channels < 0 || f.Channels > 4:
		return wrong("an image has 1 to 4 channels, not %d", f.Channels)
	case slices.Contains(f.Deviation, 0):
		return wrong("a deviation is 0; elements are divided by it")
	}
	return nil
}

// A Block is an array in the memory of a batch: elements in C order,
// little-endian, aligned to 64 bytes.
type Block struct {
	DType  array.DType `json:"dtype"`
	Shape  []int       `json:"shape"`
	Offset int64       `json:"offset"` // in bytes
	Bytes  int64       `json:"bytes"`
}

// A Field is a field of a batch: the position of its array, and the blocks that
// describe it.
type Field struct {
	Name      string    `json:"name"`
	Collation Collation `json:"collation"` // never Auto
	Block
	// Lengths, int64, excludes padding: for Pad with shape N, or N x dims; for
	// Packed one per piece.
	Lengths *Block `json:"lengths,omitempty"`
	// Offsets, int64, has the start of each sample in the array and the end of
	// the last, in elements: N+1. For Packed it has the starts of pieces,
	// counted in tokens through all rows.
	Offsets *Block `json:"offsets,omitempty"`
	// Shapes, int64, has the shapes of a List: N x dimensions.
	Shapes *Block `json:"shapes,omitempty"`
}

// alignment is the alignment of array offsets.
const alignment = 64

// A layout assigns positions in the memory of a batch before the memory exists.
type layout struct {
	bytes int64
}

// most bounds the size of a batch in bytes.
const most = 1 << 40

func (l *layout) block(dtype array.DType, shape ...int) (Block, error) {
	n, err := array.Bytes(dtype, shape)
	if err == nil && int64(n) > most-l.bytes {
		err = fmt.Errorf("shape %v of %v is too large for a batch", shape, dtype)
	}
	if err != nil {
		return Block{}, err
	}
	b := Block{DType: dtype, Shape: shape, Offset: l.bytes, Bytes: int64(n)}
	l.bytes += (b.Bytes + alignment - 1) / alignment * alignment
	return b, nil
}

// in returns the block's part of a batch's memory.
func (b *Block) in(data []byte) []byte { return data[b.Offset:][:b.Bytes:b.Bytes] }

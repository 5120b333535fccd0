package loader

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/array"
)

// A Form is how the items of a batch's samples become one field.
type Form int

// The forms.
const (
	// Auto chooses by the value of the first sample: text is Text; bytes are Bytes;
	// numbers, arrays, images and lists of numbers are Stack, and Packed where rows are
	// packed and they are as long as the sample; all else is JSON.
	Auto Form = iota
	// Stack puts arrays of equal shapes into one, of shape N x shape, in C order.
	Stack
	// Pad is Stack of arrays that differ in their first dimensions: each takes as much
	// as the longest, Lengths say what is its own.
	Pad
	// List puts arrays of any lengths one after another into one of one dimension;
	// Offsets say where each begins, Shapes what shape it has.
	List
	// Text is the UTF-8 of texts one after another, with Offsets.
	Text
	// Bytes is bytes one after another, with Offsets: of the items as they are encoded,
	// where it is declared, and else of values that are bytes.
	Bytes
	// JSON is values as JSON one after another, with Offsets.
	JSON
	// Packed lays sequences in the rows that the batch has: of shape rows x tokens x
	// what a token is. Offsets says where in the rows each piece begins, and Lengths how
	// long it is.
	Packed
	// ItemKey is what each sample's item is known by, in 32 bytes, as uint8 of shape N x 32: what
	// it is made of, whatever reads it, and what all fields of the loader are declared to
	// be. Two items of the same key are the same, in every field made of them; one item may
	// have several keys, as where it was computed, and then lies in a file. It comes as Stack.
	ItemKey
)

var forms = []string{"auto", "stack", "pad", "list", "text", "bytes", "json", "packed", "key"}

func (f Form) String() string {
	if f < 0 || int(f) >= len(forms) {
		return fmt.Sprintf("Form(%d)", int(f))
	}
	return forms[f]
}

// MarshalText returns the name of the form.
func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the name of a form.
func (f *Form) UnmarshalText(text []byte) error {
	k := slices.Index(forms, string(text))
	if k < 0 {
		return fmt.Errorf("%q is no form of a field; these are %q", text, forms)
	}
	*f = Form(k)
	return nil
}

// FieldOptions declare a field of the batches.
type FieldOptions struct {
	Item string // of the samples
	Name string // of the field; "" is that of the item
	As   Form

	// DType is what elements become; 0 leaves them as they are, or makes them float32
	// where numbers are calculated with. A number that does not fit is an error.
	DType array.DType
	// Scale, Mean and Deviation make of each element (x*Scale - Mean) / Deviation. Mean
	// and Deviation have a number for each channel, the last dimension, or one for all.
	// 0 stands for a Scale of 1.
	Scale           float64
	Mean, Deviation []float64
	// Planar makes of images (height, width, channels) such of (channels, height, width).
	Planar bool
	// Channels is how many an image is to have, as of [array.FromImage].
	Channels int

	// Dims is how many of the first dimensions are padded, 0 stands for 1, or 2 of
	// images. Multiple has them padded to a multiple of a number, and With is what
	// elements of padding are.
	Dims, Multiple int
	With           float64
}

// computes reports whether elements do not stay as they are.
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

// check refuses a declaration that cannot be.
func (f *FieldOptions) check() error {
	arrays := f.As == Auto || f.As == Stack || f.As == Pad || f.As == List || f.As == Packed
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("field %s: %w", f.name(), fmt.Errorf(format, args...))
	}
	switch {
	case f.Item == "":
		return wrong("it has no item; say which it is made of")
	case f.As < Auto || f.As > ItemKey:
		return wrong("there is no %v", f.As)
	case !arrays && (f.converts() || f.Planar || f.Channels != 0):
		return wrong("%v are no numbers to convert; leave that out", f.As)
	case f.DType != 0 && !converted(f.DType):
		return wrong("elements cannot become %v; bool, whole numbers, float32 and float64 can be had", f.DType)
	case f.As != Pad && (f.Dims != 0 || f.Multiple != 0):
		return wrong("only what is padded has dims and a multiple; declare it pad")
	case f.Dims < 0 || f.Multiple < 0:
		return wrong("a number is below 0")
	case f.Channels < 0 || f.Channels > 4:
		return wrong("an image has 1 to 4 channels, not %d", f.Channels)
	case slices.Contains(f.Deviation, 0):
		return wrong("a deviation is 0; elements are divided by it")
	}
	return nil
}

// A Block is an array in the memory of a batch: elements in C order, little-endian, from
// a multiple of 64 bytes on.
type Block struct {
	DType  array.DType `json:"dtype"`
	Shape  []int       `json:"shape"`
	Offset int64       `json:"offset"` // in bytes
	Bytes  int64       `json:"bytes"`
}

// A Field is one of a batch: where its array lies, and what says how to read it.
type Field struct {
	Name string `json:"name"`
	Form Form   `json:"form"` // never Auto
	Block
	// Lengths, int64, are what is not padding: of Pad of shape N, or N x dims; of Packed
	// of shape pieces.
	Lengths *Block `json:"lengths,omitempty"`
	// Offsets, int64, are where each sample's part begins in the array, and where the
	// last ends, in elements: N+1. Of Packed they are places of pieces, counted in
	// tokens through all rows.
	Offsets *Block `json:"offsets,omitempty"`
	// Shapes, int64, are those of a List: N x dimensions.
	Shapes *Block `json:"shapes,omitempty"`
}

// alignment is what the offsets of arrays are multiples of.
const alignment = 64

// A layout gives out the memory of a batch before there is any.
type layout struct {
	bytes int64
}

// most is how many bytes a batch may have.
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

// in is the block's part of a batch's memory.
func (b *Block) in(data []byte) []byte { return data[b.Offset:][:b.Bytes:b.Bytes] }

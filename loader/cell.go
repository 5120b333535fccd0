package loader

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"slices"
	"sync"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// A cell is the value of one sample in one field: elements of an array or of an
// image, or text.
type cell struct {
	natural Collation // its own collation: Stack, Text, Bytes or JSON
	dtype   array.DType
	shape   []int
	data    []byte              // elements, or the value of Text, Bytes and JSON
	text    string              // of Text, instead of data
	img     image.Image         // elements, instead of data
	scalar  [8]byte             // data of a number
	unread  dataset.ArrayOrigin // of elements that are not read yet, instead of data
}

func cellOf(ctx context.Context, f *FieldOptions, it *dataset.Item) (c cell, err error) {
	if f.Collate == Bytes {
		c.natural = Bytes
		c.data, err = it.Bytes(ctx)
		return c, err
	}
	if f.Collate == ItemKey {
		err = c.key(ctx, it)
		return c, err
	}
	if o, ok := it.Unread(); ok && f.Collate != JSON {
		c.natural, c.unread = Stack, o
		c.dtype, c.shape = o.Array()
		return c, nil
	}
	v, err := it.Value(ctx)
	if err != nil {
		return c, err
	}
	if f.Collate == JSON {
		err = c.json(v)
		return c, err
	}
	return c, c.set(f, v)
}

// keyBytes is the length of item keys: a digest without its tag.
const keyBytes = key.Size - 1

// key computes the identity of an item, without the declaration of fields.
func (c *cell) key(ctx context.Context, it *dataset.Item) error {
	ref, err := it.Ref(ctx)
	if err != nil {
		return err
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return err
	}
	sum := key.DigestOf([]byte("item " + ext + " " + ref.String()))
	c.natural, c.dtype, c.shape, c.data = Stack, array.Uint8, []int{keyBytes}, sum[:]
	return nil
}

func (c *cell) set(f *FieldOptions, v any) (err error) {
	c.natural = Stack
	switch v := v.(type) {
	case string:
		c.natural, c.text = Text, v
	case []byte:
		c.natural, c.dtype, c.shape, c.data = Bytes, array.Uint8, []int{len(v)}, v
	case *array.Array:
		err = v.Validate()
		c.dtype, c.shape, c.data = v.DType, v.Shape, v.Data
	case array.Array:
		err = v.Validate()
		c.dtype, c.shape, c.data = v.DType, v.Shape, v.Data
	case image.Image:
		c.img = v
		c.dtype, c.shape, err = array.ImageShape(v, f.Channels)
	case []any:
		if !c.list(v) {
			err = c.json(v)
		}
	default:
		if dtype, bits, ok := number(v); ok {
			c.dtype = dtype
			binary.LittleEndian.PutUint64(c.scalar[:], bits)
		} else {
			err = c.json(v)
		}
	}
	return err
}

func (c *cell) read() error {
	if c.unread == nil {
		return nil
	}
	n, err := array.Bytes(c.dtype, c.shape)
	if err == nil {
		data := make([]byte, n)
		if err = c.unread.ReadArray(data); err == nil {
			c.data, c.unread = data, nil
		}
	}
	return err
}

// elements returns the bytes of an array other than an image.
func (c *cell) elements() []byte {
	if c.data == nil && c.shape == nil {
		return c.scalar[:c.dtype.Size()]
	}
	return c.data
}

// size returns the number of bytes of Text, Bytes and JSON.
func (c *cell) size() int { return len(c.data) + len(c.text) }

// jsonCodec is looked up on first use, because programs may change the registry
// until then.
var jsonCodec = sync.OnceValue(func() codec.Codec {
	c, _ := codec.ByExtension("json") // which always exists
	return c
})

func (c *cell) json(v any) (err error) {
	c.natural = JSON
	c.data, err = jsonCodec().Encode(v)
	return err
}

// number returns the type and the bits of a number, as in an array.
func number(v any) (array.DType, uint64, bool) {
	switch v := v.(type) {
	case int64:
		return array.Int64, uint64(v), true
	case int:
		return array.Int64, uint64(v), true
	case float64:
		return array.Float64, math.Float64bits(v), true
	case bool:
		if v {
			return array.Bool, 1, true
		}
		return array.Bool, 0, true
	case float32:
		return array.Float32, uint64(math.Float32bits(v)), true
	case int8:
		return array.Int8, uint64(uint8(v)), true
	case int16:
		return array.Int16, uint64(uint16(v)), true
	case int32:
		return array.Int32, uint64(uint32(v)), true
	case uint8:
		return array.Uint8, uint64(v), true
	case uint16:
		return array.Uint16, uint64(v), true
	case uint32:
		return array.Uint32, uint64(v), true
	case uint64:
		return array.Uint64, v, true
	}
	return 0, 0, false
}

// list converts nested lists of numbers, as documents have them, to an array:
// int64 for integers, float64 if some are not, bool. It leaves lists of unequal
// lengths alone.
func (c *cell) list(v []any) bool {
	l := numbers{}
	if !l.measure(v, 0) {
		return false
	}
	if l.dtype == 0 {
		l.dtype = array.Int64 // an empty list counts as integers, which combine with all other types
	}
	l.data = make([]byte, 0, l.n*l.dtype.Size())
	l.append(v)
	c.dtype, c.shape, c.data = l.dtype, l.shape, l.data
	return true
}

// numbers is an array under construction.
type numbers struct {
	dtype array.DType
	shape []int
	n     int
	data  []byte
}

// measure finds shape and type, or that there are none.
func (l *numbers) measure(v []any, depth int) bool {
	if depth == array.MaxRank {
		return false
	}
	switch {
	case depth == len(l.shape) && l.n == 0:
		l.shape = append(l.shape, len(v))
	case depth >= len(l.shape) || l.shape[depth] != len(v):
		return false
	}
	for _, e := range v {
		if in, ok := e.([]any); ok {
			if !l.measure(in, depth+1) {
				return false
			}
			continue
		}
		dtype, _, ok := number(e)
		ok = ok && (dtype == array.Int64 || dtype == array.Float64 || dtype == array.Bool)
		if !ok || depth != len(l.shape)-1 || l.dtype == array.Bool != (dtype == array.Bool) && l.dtype != 0 {
			return false
		}
		if dtype == array.Float64 || l.dtype == 0 {
			l.dtype = dtype
		}
		l.n++
	}
	return true
}

func (l *numbers) append(v []any) {
	for _, e := range v {
		switch e := e.(type) {
		case []any:
			l.append(e)
		case bool:
			_, bits, _ := number(e)
			l.data = append(l.data, byte(bits))
		default:
			dtype, bits, _ := number(e)
			if l.dtype == array.Float64 && dtype == array.Int64 {
				bits = math.Float64bits(float64(int64(bits)))
			}
			l.data = binary.LittleEndian.AppendUint64(l.data, bits)
		}
	}
}

func collationOf(c *column) (Collation, error) {
	collation := c.options.Collate
	if collation == Auto {
		collation = c.cells[0].natural
	}
	arrays := collation == Stack || collation == Pad || collation == List || collation == Packed
	for i := range c.cells {
		in := &c.cells[i]
		if in.natural != collation && (!arrays || in.natural == Text || in.natural == JSON) {
			return 0, fmt.Errorf("field %s: %s has %s, which cannot be laid out as %v; declare how its values are to be", c.options.name(), c.of(i), in, collation)
		}
	}
	return collation, nil
}

// String describes the value of a cell for an error message.
func (c *cell) String() string {
	switch c.natural {
	case Text:
		return "text"
	case JSON:
		return "a document"
	}
	return fmt.Sprint(c.dtype, " ", slices.Clip(c.shape))
}

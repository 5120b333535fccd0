package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/format/internal/columns"
)

// A reader reads one value of a row.
type reader struct {
	*batch
	left int // remaining number of elements
}

// maxElements bounds the elements of a value that is not an array, because null
// elements may take no bytes in a file.
const maxElements = 1 << 24

// value returns a value of a column: a value of documents, bytes, or an array.
func (r *reader) value(ctx context.Context, c *column, row int64) (any, error) {
	if row < 0 || row >= c.len {
		return nil, errDamaged
	}
	if r.left--; r.left < 0 {
		return nil, fmt.Errorf("more than %d elements", maxElements)
	}
	if c.dict != nil {
		return r.indexed(ctx, c, row)
	}
	if c.kind == isNull {
		return nil, nil //nolint:nilnil // null is a value
	}
	if there, err := r.there(ctx, c, row, 1); err != nil || !there {
		return nil, err
	}
	switch c.kind {
	case isStruct:
		object := make(map[string]any, len(c.children))
		for _, child := range c.children {
			v, err := r.value(ctx, child, row)
			if err != nil {
				return nil, err
			}
			object[child.Name] = listed(v)
		}
		return object, nil
	case isList, isBigList, isFixedList, isMap:
		return r.list(ctx, c, row)
	case isText, isBigText, isTextView:
		v, err := r.binary(ctx, c, row)
		return string(v), err
	case isBinary, isBigBinary, isBinaryView:
		return r.binary(ctx, c, row)
	case isBool:
		bits, err := r.read(ctx, c.buffers[1], row/8, 1)
		return err == nil && bits[0]>>(row%8)&1 != 0, err
	}
	word, err := r.read(ctx, c.buffers[1], row*int64(c.width), int64(c.width))
	if err != nil {
		return nil, err
	}
	return c.plain(word), nil
}

// there reports whether all values exist.
func (r *reader) there(ctx context.Context, c *column, from, n int64) (bool, error) {
	if c.kind == isNull {
		return n == 0, nil
	}
	if c.nulls == 0 || n == 0 || c.buffers[0].size == 0 {
		return true, nil
	}
	first := from / 8
	bits, err := r.read(ctx, c.buffers[0], first, (from+n-1)/8-first+1)
	if err != nil {
		return false, err
	}
	for i := from; i < from+n; i++ {
		if bits[i/8-first]>>(i%8)&1 == 0 {
			return false, nil
		}
	}
	return true, nil
}

// span returns the boundaries of the elements of some lists, or of the bytes of some
// strings.
func (r *reader) span(ctx context.Context, c *column, row, n int64) (ends []int64, err error) {
	if c.kind == isFixedList {
		for i := range n + 1 {
			ends = append(ends, (row+i)*int64(c.size))
		}
		return ends, nil
	}
	word := int64(4)
	if c.kind == isBigList || c.kind == isBigText || c.kind == isBigBinary {
		word = 8
	}
	words, err := r.read(ctx, c.buffers[1], row*word, (n+1)*word)
	if err != nil {
		return nil, err
	}
	for i := range n + 1 {
		end := int64(0)
		if word == 4 {
			end = int64(int32(binary.LittleEndian.Uint32(words[4*i:])))
		} else {
			end = int64(binary.LittleEndian.Uint64(words[8*i:]))
		}
		if end < 0 || i > 0 && end < ends[i-1] {
			return nil, errDamaged
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// binary returns bytes of variable length.
func (r *reader) binary(ctx context.Context, c *column, row int64) ([]byte, error) {
	if c.kind == isBinaryView || c.kind == isTextView {
		return r.view(ctx, c, row)
	}
	ends, err := r.span(ctx, c, row, 1)
	if err != nil {
		return nil, err
	}
	v, err := r.read(ctx, c.buffers[2], ends[0], ends[1]-ends[0])
	return bytes.Clone(v), err // a slice would keep the whole piece in memory
}

// view returns the bytes of a view, which are stored with their length if they are few.
func (r *reader) view(ctx context.Context, c *column, row int64) ([]byte, error) {
	v, err := r.read(ctx, c.buffers[1], 16*row, 16)
	if err != nil {
		return nil, err
	}
	n := int64(int32(binary.LittleEndian.Uint32(v)))
	if n >= 0 && n <= 12 {
		return bytes.Clone(v[4 : 4+n]), nil
	}
	k := 2 + int64(binary.LittleEndian.Uint32(v[8:]))
	if k >= int64(len(c.buffers)) {
		return nil, errDamaged
	}
	all, err := r.read(ctx, c.buffers[k], int64(binary.LittleEndian.Uint32(v[12:])), n)
	return bytes.Clone(all), err
}

// list returns a list: an array if it has numbers, without nulls and with equal lengths.
func (r *reader) list(ctx context.Context, c *column, row int64) (any, error) {
	ends, err := r.span(ctx, c, row, 1)
	if err != nil {
		return nil, err
	}
	child := c.children[0]
	if ends[1] > child.len {
		return nil, errDamaged
	}
	if c.kind != isMap {
		a, err := r.array(ctx, child, ends[0], ends[1], nil)
		switch {
		case err == nil && c.tensor != nil && a == nil:
			return nil, errors.New("tensor elements are null or not numbers; write the column as lists")
		case err == nil && c.tensor != nil:
			return c.tensor.read(a)
		case a != nil || err != nil:
			return a, err
		}
	}
	list := []any{}
	for i := ends[0]; i < ends[1]; i++ {
		v, err := r.value(ctx, child, i)
		if err != nil {
			return nil, err
		}
		list = append(list, listed(v)) // next to values that are not arrays
	}
	if c.kind == isMap {
		return mapping(child, list), nil
	}
	return list, nil
}

// mapping returns the entries of a map as a mapping, if its keys are strings.
func mapping(entries *column, list []any) any {
	if len(entries.children) != 2 || !entries.children[0].isText() {
		return list
	}
	return columns.Mapping(list, entries.children[0].Name, entries.children[1].Name)
}

// isText reports whether a field has strings, or a dictionary of them.
func (f *Field) isText() bool {
	if f.dict != nil {
		return f.dict.isText()
	}
	return f.kind == isText || f.kind == isBigText || f.kind == isTextView
}

// listed converts a value to document form.
func listed(v any) any {
	if a, ok := v.(*array.Array); ok {
		return columns.Lists(a)
	}
	return v
}

// array returns elements of lists as an array whose dimensions begin with those of
// shape, or nil if that is not possible.
func (r *reader) array(ctx context.Context, c *column, from, to int64, shape []int) (*array.Array, error) {
	n := to - from
	if ok, err := r.there(ctx, c, from, n); err != nil || !ok || c.len < to {
		return nil, err
	}
	if len(shape) == 0 {
		shape = []int{int(n)}
	}
	if c.kind == isList || c.kind == isBigList || c.kind == isFixedList {
		if n == 0 {
			return nil, nil //nolint:nilnil // none is not an error
		}
		if c.kind == isFixedList {
			return r.array(ctx, c.children[0], from*int64(c.size), to*int64(c.size), append(slices.Clone(shape), c.size))
		}
		ends, err := r.span(ctx, c, from, n)
		if err != nil {
			return nil, err
		}
		each := ends[1] - ends[0]
		for i := range n {
			if ends[i+1]-ends[i] != each {
				return nil, nil //nolint:nilnil // none is not an error
			}
		}
		if each == 0 {
			return nil, nil //nolint:nilnil // none is not an error
		}
		return r.array(ctx, c.children[0], ends[0], ends[n], append(slices.Clone(shape), int(each)))
	}
	dtype := c.number()
	if dtype == 0 {
		return nil, nil //nolint:nilnil // none is not an error
	}
	if dtype == array.Bool {
		bits, err := r.read(ctx, c.buffers[1], from/8, (to+7)/8-from/8)
		if err != nil {
			return nil, err
		}
		data := make([]byte, n)
		for i := range n {
			data[i] = bits[(from+i)/8-from/8] >> ((from + i) % 8) & 1
		}
		return array.New(dtype, shape, data)
	}
	data, err := r.read(ctx, c.buffers[1], from*int64(c.width), n*int64(c.width))
	if err != nil {
		return nil, err
	}
	return array.New(dtype, shape, bytes.Clone(data))
}

// indexed returns a value of a dictionary.
func (r *reader) indexed(ctx context.Context, c *column, row int64) (any, error) {
	if there, err := r.there(ctx, c, row, 1); err != nil || !there {
		return nil, err
	}
	word, err := r.read(ctx, c.buffers[1], row*int64(c.width), int64(c.width))
	if err != nil {
		return nil, err
	}
	at, ok := c.plain(word).(int64)
	if !ok {
		return nil, errDamaged
	}
	for _, message := range r.dicts[c.dictID] {
		d, err := r.f.dicts[message].Get(ctx, func(ctx context.Context) (*batch, error) { return r.f.batch(ctx, message, []*Field{c.dict}) })
		if err != nil {
			return nil, err
		}
		if at < d.columns[0].len {
			in := &reader{d, r.left - 1}
			return in.value(ctx, d.columns[0], at)
		}
		at -= d.columns[0].len
	}
	return nil, errDamaged
}

// dictionaries returns the messages of each dictionary for a batch: the last one before
// the batch that begins it, and those that add to it.
func (f *File) dictionaries(message int) map[int64][]int {
	all := map[int64][]int{}
	for i := range message {
		switch e := f.index.entry(i); e.kind {
		case dictionaryMessage:
			all[e.number] = []int{i}
		case moreMessage:
			all[e.number] = append(all[e.number], i)
		}
	}
	return all
}

// plain returns a value of fixed size in document form.
func (f *Field) plain(b []byte) any {
	little := binary.LittleEndian
	switch f.kind {
	case isFloat:
		switch f.width {
		case 2:
			return columns.Half(little.Uint16(b))
		case 4:
			return float64(math.Float32frombits(little.Uint32(b)))
		}
		return math.Float64frombits(little.Uint64(b))
	case isDecimal:
		be := bytes.Clone(b)
		slices.Reverse(be)
		v := new(big.Int).SetBytes(be)
		if be[0] >= 0x80 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(be))))
		}
		return columns.Decimal(v, f.scale)
	case isFixed:
		if f.Kind == "arrow.uuid" && len(b) == 16 {
			return columns.UUID(b)
		}
		return bytes.Clone(b)
	}
	v := int64(0)
	switch len(b) {
	case 1:
		v = int64(int8(b[0]))
		if f.unsigned {
			v = int64(b[0])
		}
	case 2:
		v = int64(int16(little.Uint16(b)))
		if f.unsigned {
			v = int64(little.Uint16(b))
		}
	case 4:
		v = int64(int32(little.Uint32(b)))
		if f.unsigned && f.kind == isInt {
			v = int64(little.Uint32(b))
		}
	case 8:
		v = int64(little.Uint64(b))
		if f.unsigned && f.kind == isInt && v < 0 {
			return new(big.Int).SetUint64(uint64(v))
		}
	}
	switch f.kind {
	case isDate:
		if f.unit > 0 {
			v = floorDiv(v, 86_400_000)
		}
		return columns.Date(v)
	case isTime:
		return columns.TimeOfDay(v, f.unit)
	case isTimestamp:
		return columns.Timestamp(v, f.unit, f.utc)
	}
	return v
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

package server

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/arrowipc"
	"github.com/larder-data/larder/loader"
)

// arrowType is the media type of an Arrow stream.
const arrowType = "application/vnd.apache.arrow.stream"

// An arrowReply writes each batch as a record batch. An Arrow stream has no place
// for notes and ends of epochs; the metadata of each batch contains the state after
// it.
type arrowReply struct {
	to     patientWriter
	header http.Header
	stream *arrowipc.Writer
	begun  bool
}

func newArrowReply(w http.ResponseWriter) *arrowReply {
	r := &arrowReply{to: patientWriter{w, http.NewResponseController(w)}, header: w.Header()}
	r.stream = arrowipc.NewWriter(&r.to)
	return r
}

func (w *arrowReply) note(string, string)              {}
func (w *arrowReply) opened(*pipeline, int) error      { return nil }
func (w *arrowReply) started(string, int) error        { return nil }
func (w *arrowReply) epoch(uint64, loader.State) error { return nil }
func (w *arrowReply) got(int) error                    { return w.stopped() }
func (w *arrowReply) close()                           {}

// begin writes the header before the first byte.
func (w *arrowReply) begin() {
	w.begun = true
	w.header.Set("Content-Type", arrowType)
}

func (w *arrowReply) stopped() error {
	w.begin()
	if err := w.stream.Close(); err != nil {
		return err
	}
	return w.to.control.Flush()
}

// fail answers with a status. A stream that has begun cannot carry errors, so fail
// breaks it off, and no client treats it as complete.
func (w *arrowReply) fail(err error) {
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	status := map[string]int{"request": http.StatusBadRequest, "flow": http.StatusBadRequest, "state": http.StatusConflict, "ending": http.StatusServiceUnavailable}[codeOf(err)]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	text, _ := json.Marshal(map[string]string{"code": codeOf(err), "text": message(err)}) // of strings
	w.header.Set("Content-Type", "application/json")
	if to, ok := w.to.to.(http.ResponseWriter); ok {
		to.WriteHeader(status)
	}
	_, _ = w.to.Write(text) // otherwise the client has gone
}

func (w *arrowReply) batch(p *pipeline, b *loader.Batch, after loader.State) error {
	c := columns{batch: b, rows: len(b.Samples)}
	for i := range b.Fields {
		if b.Fields[i].Collation == loader.Packed {
			c.rows = b.Fields[i].Shape[0]
		}
	}
	for i := range b.Fields {
		if err := c.field(&b.Fields[i]); err != nil {
			return requestError{fmt.Errorf("field %s: %w", b.Fields[i].Name, err)}
		}
	}
	w.begin()
	if err := w.stream.Write(c.all, c.rows, c.metadata(p, after)); err != nil {
		return err
	}
	return w.to.control.Flush()
}

// columns are the columns of a batch.
type columns struct {
	batch *loader.Batch
	rows  int
	all   []*arrowipc.Column
}

// metadata identifies the batch.
func (c *columns) metadata(p *pipeline, after loader.State) []arrowipc.Pair {
	b := c.batch
	numbers := make([]int, len(b.Samples))
	for i, k := range b.Samples {
		numbers[i] = p.loader.Plan().Number(k)
	}
	samples, _ := json.Marshal(numbers) // of numbers
	all := []arrowipc.Pair{
		{Key: "larder.epoch", Value: strconv.FormatUint(b.Epoch, 10)},
		{Key: "larder.samples", Value: string(samples)},
		{Key: "larder.padding", Value: strconv.Itoa(b.Padding)},
		{Key: "larder.skipped", Value: strconv.Itoa(len(b.Skipped))},
	}
	if after != (loader.State{}) {
		all = append(all, arrowipc.Pair{Key: "larder.state", Value: after.String()})
	}
	return all
}

// field adds the columns of a field.
func (c *columns) field(f *loader.Field) (err error) {
	if f.Collation != loader.Packed && len(c.batch.Samples) != c.rows {
		return errors.New("it has a value for each sample, and the batch has rows; a record batch has one of them: take fields that are packed")
	}
	var made *arrowipc.Column
	switch f.Collation {
	case loader.Stack, loader.Packed:
		made, err = c.tensor(f)
	case loader.Pad:
		made, err = c.padded(f)
	case loader.List:
		made, err = c.list(f)
	default:
		made, err = c.text(f)
	}
	if err != nil {
		return err
	}
	c.add(f.Name, made)
	switch f.Collation {
	case loader.Pad:
		c.add(f.Name+"_lengths", c.fixed(f.Lengths.Shape, c.numbers(f.Lengths)))
	case loader.Packed:
		return c.pieces(f)
	}
	return nil
}

func (c *columns) add(name string, column *arrowipc.Column) {
	column.Name = name
	c.all = append(c.all, column)
}

// in is a block's part of the batch's memory.
func (c *columns) in(b *loader.Block) []byte { return c.batch.Data[b.Offset:][:b.Bytes] }

// elements returns a column of the elements of a block.
func (c *columns) elements(b *loader.Block) (*arrowipc.Column, error) {
	to := &arrowipc.Column{Name: "item", Rows: int(b.Bytes) / b.DType.Size(), Buffers: [][]byte{c.in(b)}, Size: 8 * b.DType.Size()}
	switch b.DType {
	case array.Bool:
		to.Kind, to.Size, to.Buffers = arrowipc.Bool, 0, [][]byte{bits(c.in(b))}
	case array.Uint8, array.Uint16, array.Uint32, array.Uint64:
		to.Kind, to.Unsigned = arrowipc.Int, true
	case array.Int8, array.Int16, array.Int32, array.Int64:
		to.Kind = arrowipc.Int
	case array.Float16, array.Float32, array.Float64:
		to.Kind = arrowipc.Float
	default:
		return nil, fmt.Errorf("there is no %v in Arrow; give it another dtype", b.DType)
	}
	return to, nil
}

// bits packs bytes that are 0 or 1 into bits.
func bits(from []byte) []byte {
	to := make([]byte, (len(from)+7)/8)
	for i, v := range from {
		to[i/8] |= (v & 1) << (i % 8)
	}
	return to
}

// numbers returns a column of int64.
func (c *columns) numbers(b *loader.Block) *arrowipc.Column {
	to, _ := c.elements(b) // int64 is supported
	return to
}

// fixed returns values of one shape; elements of shape N are the values.
func (c *columns) fixed(shape []int, elements *arrowipc.Column) *arrowipc.Column {
	if len(shape) == 1 {
		return elements
	}
	n := 1
	for _, d := range shape[1:] {
		n *= d
	}
	return &arrowipc.Column{Kind: arrowipc.FixedList, Size: n, Rows: shape[0], Children: []*arrowipc.Column{elements}}
}

// tensor returns an array as a column of tensors of one shape.
func (c *columns) tensor(f *loader.Field) (*arrowipc.Column, error) {
	elements, err := c.elements(&f.Block)
	if err != nil {
		return nil, err
	}
	to := c.fixed(f.Shape, elements)
	if to != elements {
		shape, _ := json.Marshal(map[string]any{"shape": f.Shape[1:]}) // of numbers
		to.Extension, to.Parameters = "arrow.fixed_shape_tensor", string(shape)
	}
	return to, nil
}

// padded returns an array as lists, because its row length differs between batches.
func (c *columns) padded(f *loader.Field) (*arrowipc.Column, error) {
	n, width := f.Shape[0], 1
	for _, d := range f.Shape[1:] {
		width *= d
	}
	shapes := make([]int64, 0, n*(len(f.Shape)-1))
	offsets := make([]int64, n+1)
	for i := range n {
		offsets[i+1] = int64((i + 1) * width)
		for _, d := range f.Shape[1:] {
			shapes = append(shapes, int64(d))
		}
	}
	return c.tensors(&f.Block, offsets, len(f.Shape)-1, shapes)
}

func (c *columns) list(f *loader.Field) (*arrowipc.Column, error) {
	return c.tensors(&f.Block, int64s(c.in(f.Offsets)), f.Shapes.Shape[1], int64s(c.in(f.Shapes)))
}

// tensors returns a column of arrays with different shapes: lists, or with more
// than one dimension lists with their shapes.
func (c *columns) tensors(b *loader.Block, offsets []int64, rank int, shapes []int64) (*arrowipc.Column, error) {
	elements, err := c.elements(b)
	if err != nil {
		return nil, err
	}
	ends, err := int32s(offsets)
	if err != nil {
		return nil, err
	}
	n := len(offsets) - 1
	list := &arrowipc.Column{Name: "data", Kind: arrowipc.List, Rows: n, Buffers: [][]byte{ends}, Children: []*arrowipc.Column{elements}}
	if rank <= 1 {
		return list, nil
	}
	sides, err := int32s(shapes)
	if err != nil {
		return nil, err
	}
	side := &arrowipc.Column{Name: "item", Kind: arrowipc.Int, Size: 32, Rows: len(shapes), Buffers: [][]byte{sides}}
	shape := c.fixed([]int{n, rank}, side)
	shape.Name = "shape"
	return &arrowipc.Column{Kind: arrowipc.Struct, Rows: n, Children: []*arrowipc.Column{list, shape}, Extension: "arrow.variable_shape_tensor", Parameters: "{}"}, nil
}

// pieces adds columns for the starts and lengths of pieces in packed rows.
func (c *columns) pieces(f *loader.Field) error {
	row := max(int64(f.Shape[1]), 1)
	offsets, lengths := int64s(c.in(f.Offsets)), c.in(f.Lengths)
	ends, begins := make([]int64, f.Shape[0]+1), make([]byte, 0, len(lengths))
	for _, at := range offsets {
		in := min(at/row, int64(f.Shape[0])-1) // an empty piece may be at the very end
		ends[in+1]++
		begins = binary.LittleEndian.AppendUint64(begins, uint64(at-in*row))
	}
	for r := range f.Shape[0] {
		ends[r+1] += ends[r]
	}
	where, err := int32s(ends)
	if err != nil {
		return err
	}
	attach := func(name string, data []byte) {
		number := &arrowipc.Column{Name: "item", Kind: arrowipc.Int, Size: 64, Rows: len(offsets), Buffers: [][]byte{data}}
		c.add(f.Name+name, &arrowipc.Column{Kind: arrowipc.List, Rows: f.Shape[0], Buffers: [][]byte{where}, Children: []*arrowipc.Column{number}})
	}
	attach("_offsets", begins)
	attach("_lengths", lengths)
	return nil
}

// text returns a column of text, bytes, or JSON as text.
func (c *columns) text(f *loader.Field) (*arrowipc.Column, error) {
	ends, err := int32s(int64s(c.in(f.Offsets)))
	if err != nil {
		return nil, err
	}
	to := &arrowipc.Column{Kind: arrowipc.Utf8, Rows: f.Offsets.Shape[0] - 1, Buffers: [][]byte{ends, c.in(&f.Block)}}
	switch f.Collation {
	case loader.Bytes:
		to.Kind = arrowipc.Binary
	case loader.JSON:
		to.Extension = "arrow.json"
	}
	return to, nil
}

func int64s(data []byte) []int64 {
	all := make([]int64, len(data)/8)
	for i := range all {
		all[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return all
}

// int32s converts numbers to the offsets of Arrow lists.
func int32s(numbers []int64) ([]byte, error) {
	to := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("it has more than %d elements in a batch; take smaller batches", math.MaxInt32)
		}
		to = binary.LittleEndian.AppendUint32(to, uint32(n))
	}
	return to, nil
}

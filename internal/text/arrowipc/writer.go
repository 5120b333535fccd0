package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// A Writer writes a stream: the schema of the first batch, then batches with that
// schema. It is not safe for concurrent use.
type Writer struct {
	to     io.Writer
	schema []string // name and type of each column
	begun  bool
	file   *file // nil for a stream
}

// NewWriter returns a writer of a stream. It writes nothing yet.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// A Pair is an entry of metadata.
type Pair struct{ Key, Value string }

// ErrSchema is the error of a batch whose schema differs from that of the first.
var ErrSchema = errors.New("all batches of a stream of Arrow have columns of the same types")

// Write writes a record batch.
func (w *Writer) Write(columns []*Column, rows int, metadata []Pair) error {
	if err := w.Begin(columns); err != nil {
		return err
	}
	var r record
	for _, c := range columns {
		if c.Rows != rows {
			return fmt.Errorf("column %s has %d values and the batch %d rows", c.Name, c.Rows, rows)
		}
		r.add(c)
	}
	head, body := r.message(rows, metadata)
	if w.file != nil {
		w.file.add(len(head), body)
	}
	if _, err := w.to.Write(head); err != nil {
		return err
	}
	for _, b := range r.buffers {
		if _, err := w.to.Write(b); err != nil {
			return err
		}
		if _, err := w.to.Write(zeros[:padded(len(b))-len(b)]); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the end. It does not close the underlying writer.
func (w *Writer) Close() error {
	if err := w.Begin(nil); err != nil && !errors.Is(err, ErrSchema) {
		return err
	}
	end := []byte{255, 255, 255, 255, 0, 0, 0, 0}
	if w.file != nil {
		end = append(end, w.file.footer()...)
	}
	_, err := w.to.Write(end)
	return err
}

// Begin writes the schema if nothing was written yet, and else compares columns with
// it. Write calls it.
func (w *Writer) Begin(columns []*Column) error {
	schema := make([]string, len(columns))
	for i, c := range columns {
		schema[i] = c.Name + ": " + c.Type()
	}
	if w.begun {
		return w.compare(schema)
	}
	w.begun, w.schema = true, schema
	text := message(headerSchema, 0, nil, func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return schemaOf(b, columns) })
	if w.file != nil {
		text = w.file.begin(columns, text)
	}
	_, err := w.to.Write(text)
	return err
}

// schemaOf writes the table Schema of Schema.fbs.
func schemaOf(b *flatbuffers.Builder, columns []*Column) flatbuffers.UOffsetT {
	fields := vector(b, columns, field)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	return b.EndObject()
}

func (w *Writer) compare(schema []string) error {
	for i := range max(len(schema), len(w.schema)) {
		switch {
		case i >= len(schema):
			return fmt.Errorf("%w; this one lacks %s", ErrSchema, w.schema[i])
		case i >= len(w.schema):
			return fmt.Errorf("%w; the first one lacks %s", ErrSchema, schema[i])
		case schema[i] != w.schema[i]:
			return fmt.Errorf("%w; the first one has %s, and this one %s", ErrSchema, w.schema[i], schema[i])
		}
	}
	return nil
}

// alignment of the positions of buffers.
const alignment = 64

var zeros [alignment]byte

func padded(n int) int { return (n + alignment - 1) / alignment * alignment }

// Kinds of messages, as in the union MessageHeader of Message.fbs.
const (
	headerSchema byte = 1
	headerRecord byte = 3
)

// version5 is the format's version since 1.0.
const version5 = 4

// message returns a message without its body, which has the given number of bytes.
func message(kind byte, body int, metadata []Pair, header func(b *flatbuffers.Builder) flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(1024)
	of := header(b)
	keyValues := pairs(b, metadata)
	b.StartObject(5)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, of, 0)
	b.PrependInt64Slot(3, int64(body), 0)
	if len(metadata) > 0 {
		b.PrependUOffsetTSlot(4, keyValues, 0)
	}
	b.Finish(b.EndObject())
	text := b.FinishedBytes()
	const prefix = 8
	all := make([]byte, padded(prefix+len(text)))
	binary.LittleEndian.PutUint32(all, 0xffffffff)
	binary.LittleEndian.PutUint32(all[4:], uint32(len(all)-prefix))
	copy(all[prefix:], text)
	return all
}

func vector[T any](b *flatbuffers.Builder, all []T, write func(*flatbuffers.Builder, T) flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	offsets := make([]flatbuffers.UOffsetT, len(all))
	for i, v := range all {
		offsets[i] = write(b, v)
	}
	b.StartVector(4, len(all), 4)
	for _, at := range slices.Backward(offsets) {
		b.PrependUOffsetT(at)
	}
	return b.EndVector(len(all))
}

func pairs(b *flatbuffers.Builder, all []Pair) flatbuffers.UOffsetT {
	if len(all) == 0 {
		return 0
	}
	return vector(b, all, func(b *flatbuffers.Builder, p Pair) flatbuffers.UOffsetT {
		key, value := b.CreateString(p.Key), b.CreateString(p.Value)
		b.StartObject(2)
		b.PrependUOffsetTSlot(0, key, 0)
		b.PrependUOffsetTSlot(1, value, 0)
		return b.EndObject()
	})
}

// field writes the table Field of Schema.fbs.
func field(b *flatbuffers.Builder, c *Column) flatbuffers.UOffsetT {
	children := vector(b, c.Children, field)
	var metadata []Pair
	if c.Extension != "" {
		metadata = []Pair{{"ARROW:extension:name", c.Extension}, {"ARROW:extension:metadata", c.Parameters}}
	}
	keyValues := pairs(b, metadata)
	name := b.CreateString(c.Name)
	kind := kind(b, c)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, c.Nullable, false)
	b.PrependByteSlot(2, byte(c.Kind), 0)
	b.PrependUOffsetTSlot(3, kind, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	b.PrependUOffsetTSlot(6, keyValues, 0)
	return b.EndObject()
}

// kind writes the table of a type.
func kind(b *flatbuffers.Builder, c *Column) flatbuffers.UOffsetT {
	b.StartObject(2)
	switch c.Kind {
	case Int:
		b.PrependInt32Slot(0, int32(c.Size), 0)
		b.PrependBoolSlot(1, !c.Unsigned, false)
	case Float:
		b.PrependInt16Slot(0, map[int]int16{16: 0, 32: 1, 64: 2}[c.Size], 0)
	case FixedList:
		b.PrependInt32Slot(0, int32(c.Size), 0)
	}
	return b.EndObject()
}

// A record is a record batch to be written.
type record struct {
	nodes   [][2]int // number of values and of missing values of each column, parents before children
	buffers [][]byte // in the order of the columns
}

// add adds a column. It omits the validity bits if no value is missing.
func (r *record) add(c *Column) {
	r.nodes = append(r.nodes, [2]int{c.Rows, c.Missing})
	if c.Kind != Null {
		r.buffers = append(append(r.buffers, c.There), c.Buffers...)
	}
	for _, child := range c.Children {
		r.add(child)
	}
}

// message returns the message, and the length of its body: the buffers, each padded.
func (r *record) message(rows int, metadata []Pair) ([]byte, int) {
	at, places := 0, make([][2]int, len(r.buffers))
	for i, b := range r.buffers {
		places[i] = [2]int{at, len(b)}
		at += padded(len(b))
	}
	return message(headerRecord, at, metadata, func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		nodes, buffers := numbers(b, r.nodes), numbers(b, places)
		b.StartObject(5)
		b.PrependInt64Slot(0, int64(rows), 0)
		b.PrependUOffsetTSlot(1, nodes, 0)
		b.PrependUOffsetTSlot(2, buffers, 0)
		return b.EndObject()
	}), at
}

func numbers(b *flatbuffers.Builder, all [][2]int) flatbuffers.UOffsetT {
	b.StartVector(16, len(all), 8)
	for _, pair := range slices.Backward(all) {
		b.Prep(8, 16)
		b.PrependInt64(int64(pair[1]))
		b.PrependInt64(int64(pair[0]))
	}
	return b.EndVector(len(all))
}

package arrowipc

import (
	"encoding/binary"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

const magic = "ARROW1"

// NewFileWriter returns a writer of a file, which ends with the positions of its
// batches. It writes nothing yet.
func NewFileWriter(to io.Writer) *Writer { return &Writer{to: to, file: &file{}} }

// A file is the content of the footer.
type file struct {
	columns []*Column
	at      int64
	blocks  []block
}

// A block is the position of a message.
type block struct {
	at   int64
	head int // bytes up to its body
	body int
}

// begin returns the beginning of a file, with its schema.
func (f *file) begin(columns []*Column, schema []byte) []byte {
	f.columns = columns
	start := slices.Concat([]byte(magic), zeros[:8-len(magic)], schema)
	f.at = int64(len(start))
	return start
}

func (f *file) add(head, body int) {
	f.blocks = append(f.blocks, block{f.at, head, body})
	f.at += int64(head) + int64(body)
}

func (f *file) footer() []byte {
	b := flatbuffers.NewBuilder(1024)
	schema := schemaOf(b, f.columns)
	b.StartVector(24, len(f.blocks), 8)
	for _, at := range slices.Backward(f.blocks) {
		b.Prep(8, 24)
		b.PrependInt64(int64(at.body))
		b.Pad(4)
		b.PrependInt32(int32(at.head))
		b.PrependInt64(at.at)
	}
	blocks := b.EndVector(len(f.blocks))
	b.StartObject(5)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependUOffsetTSlot(1, schema, 0)
	b.PrependUOffsetTSlot(3, blocks, 0)
	b.Finish(b.EndObject())
	text := b.FinishedBytes()
	return append(binary.LittleEndian.AppendUint32(slices.Clone(text), uint32(len(text))), magic...)
}

package arrow

import (
	"fmt"
	"io"
	"math"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/columns"
	"github.com/larder-data/larder/internal/text/arrowipc"
)

// Bounds of a record batch.
const (
	batchBytes = 16 << 20 // approximate
	batchRows  = 1 << 16  // maximum
)

// A file is being written: complete batches, and the current one.
type file struct {
	*arrowipc.Writer
	*batch
	to      *counted
	schema  int64 // size of the schema, with the beginning of the file
	batches int64
}

// counted counts the bytes written to a file.
type counted struct {
	io.Writer
	bytes int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.bytes += int64(n)
	return n, err
}

// begin begins a file, or a stream.
func begin(to io.Writer, table *columns.Table, stream bool) (*file, error) {
	f := &file{batch: newBatch(table), to: &counted{Writer: to}}
	if f.Writer = arrowipc.NewFileWriter(f.to); stream {
		f.Writer = arrowipc.NewWriter(f.to)
	}
	err := f.Begin(f.columns())
	f.schema = f.to.bytes
	return f, err
}

// Add adds a row.
func (f *file) Add(row []columns.Piece) error {
	if bytesOf(row) > math.MaxInt32 {
		return component.Unfit(fmt.Errorf("a row of %d bytes exceeds a record batch; make it smaller", bytesOf(row)))
	}
	if f.isFull(row) {
		if err := f.write(); err != nil {
			return err
		}
	}
	f.add(row)
	return nil
}

// isFull reports whether a row must go into a new batch.
func (f *file) isFull(row []columns.Piece) bool {
	return f.rows == batchRows || f.rows > 0 && f.bytes+bytesOf(row) > batchBytes
}

// write writes the batch.
func (f *file) write() error {
	err := f.Write(f.columns(), f.rows, nil)
	f.clear()
	f.batches++
	return err
}

// End writes the current batch and the end of the file.
func (f *file) End() error {
	if f.rows > 0 {
		if err := f.write(); err != nil {
			return err
		}
	}
	return f.Close()
}

// Largest sizes in bytes of messages and of the end of a file, without what depends on
// columns.
const (
	headBytes  = 320 // of a message
	placeBytes = 24  // of a batch in the footer
	endBytes   = 320 // of the footer, which repeats the schema
)

// Fits reports whether the file, ended after one more row, has at most the given number
// of bytes.
func (f *file) Fits(row []columns.Piece, bytes int64) bool { return f.with(row) <= bytes }

// with returns the largest size of the file with one more row, which may need its own
// batch.
func (f *file) with(row []columns.Piece) int64 {
	n := f.to.bytes + f.schema + endBytes + (f.batches+2)*placeBytes
	if f.isFull(row) {
		n += headBytes
		for i := range row {
			n += most(f.table.Leaves[i], &f.pieces[i], &columns.Piece{}) + most(f.table.Leaves[i], &columns.Piece{}, &row[i])
		}
		return n + headBytes
	}
	n += headBytes
	for i := range row {
		n += most(f.table.Leaves[i], &f.pieces[i], &row[i])
	}
	return n
}

// most returns the largest size of a column with the values of two pieces, and its part
// of the message. Each buffer is padded to a multiple of 64 and takes 16 bytes for its
// location; each list and the values take 16 bytes for their number.
func most(l columns.Leaf, a, b *columns.Piece) int64 {
	const pad = 64 + 16
	values := int64(len(a.Def) + len(b.Def))
	offsets := 4*(values+1) + pad
	bits := values/8 + 1 + pad
	n := int64(l.Def)*(16+bits) + int64(l.Rep)*offsets // at most one struct or list per level
	switch k := l.Kind; {
	case k.DType() == array.Bool:
		return n + bits
	case k.DType() != 0:
		return n + values*int64(k.DType().Word()) + pad
	}
	return n + offsets + int64(len(a.Data)+len(b.Data)) + pad
}

package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/columns"
)

// A batch is some rows, or the values of a dictionary: the positions of the buffers of
// its columns in the file.
type batch struct {
	f       *File
	message int
	unpack  func(b []byte, size int64) ([]byte, error) // nil if the buffers are not compressed
	columns []*column
	dicts   map[int64][]int // messages of each dictionary
}

// A column is the part of a field in a batch.
type column struct {
	*Field
	len, nulls int64
	buffers    []buffer
	children   []*column
}

// A buffer is the position of bytes in the file.
type buffer struct{ at, size int64 }

const maxUnpacked = 1<<31 - 1 // of a buffer

// batch reads the positions of the columns of a message.
func (f *File) batch(ctx context.Context, message int, fields []*Field) (*batch, error) {
	t, err := f.message(ctx, message)
	if err != nil {
		return nil, err
	}
	header, _ := t.table(2)
	if f.index.entry(message).kind != rowsMessage {
		header, _ = header.table(1)
	}
	b := &batch{f: f, message: message, dicts: f.dictionaries(message)}
	if c, ok := header.table(3); ok {
		if b.unpack = unzstd; c.int(0, 1, 0) == 0 {
			b.unpack = unLZ4
		}
	}
	r := &layout{nodes: header.structs(1, 16), buffers: header.structs(2, 16), views: header.structs(4, 8), of: f.index.entry(message)}
	for _, field := range fields {
		c := r.column(field)
		if e := f.index.entry(message); e.kind == rowsMessage && c.len != e.number {
			return nil, errDamaged
		}
		b.columns = append(b.columns, c)
	}
	if *t.fail != nil || r.failed || len(r.nodes) > 0 || len(r.buffers) > 0 || len(r.views) > 0 {
		return nil, errDamaged // also if it has columns that the schema lacks
	}
	return b, nil
}

// A layout returns the parts of a batch for its columns, in order.
type layout struct {
	nodes, buffers, views []byte
	of                    entry
	failed                bool
}

// pair removes two numbers from the beginning of a list.
func (r *layout) pair(from *[]byte) (a, b int64) {
	if len(*from) < 16 {
		r.failed = true
		return 0, 0
	}
	a, b = int64(binary.LittleEndian.Uint64(*from)), int64(binary.LittleEndian.Uint64((*from)[8:]))
	*from = (*from)[16:]
	if a < 0 || b < 0 || a > 1<<60 {
		r.failed = true
	}
	return a, b
}

func (r *layout) column(f *Field) *column {
	c := &column{Field: f}
	if c.len, c.nulls = r.pair(&r.nodes); c.len > maxRows {
		r.failed = true
	}
	n := f.buffers()
	if f.kind == isBinaryView || f.kind == isTextView {
		if len(r.views) < 8 {
			r.failed = true
			return c
		}
		more := binary.LittleEndian.Uint64(r.views)
		r.views = r.views[8:]
		if more > uint64(len(r.buffers)) {
			r.failed = true
			return c
		}
		n += int(more)
	}
	for range n {
		at, size := r.pair(&r.buffers)
		if r.failed || at > r.of.body || size > r.of.body-at {
			r.failed = true
			return c
		}
		c.buffers = append(c.buffers, buffer{r.of.at + r.of.meta + at, size})
	}
	for _, child := range f.children {
		if r.failed {
			return c
		}
		c.children = append(c.children, r.column(child))
	}
	return c
}

// read returns n bytes of a buffer, starting at an offset.
func (b *batch) read(ctx context.Context, from buffer, at, n int64) ([]byte, error) {
	if b.unpack != nil {
		all, err := b.unpacked(ctx, from)
		if err != nil {
			return nil, err
		}
		if at < 0 || n < 0 || at > int64(len(all)) || n > int64(len(all))-at {
			return nil, errDamaged
		}
		return all[at : at+n], nil
	}
	if at < 0 || n < 0 || at > from.size || n > from.size-at {
		return nil, errDamaged
	}
	return b.f.Options.Held.Read(ctx, b.f.File, "arrow", from.at+at, n)
}

// unpacked decompresses a buffer. It begins with the size of the result, or -1 if it is
// not compressed.
func (b *batch) unpacked(ctx context.Context, from buffer) ([]byte, error) {
	if from.size == 0 {
		return nil, nil
	}
	if from.size < 8 {
		return nil, errDamaged
	}
	return b.f.Options.Held.Unpacked(ctx, b.f.File, from.at, func(ctx context.Context) ([]byte, error) {
		packed, err := dataset.ReadBytes(ctx, "arrow", from.size, func(to []byte) error { return b.f.Read(ctx, to, from.at) })
		if err != nil {
			return nil, err
		}
		n := int64(binary.LittleEndian.Uint64(packed))
		if packed = packed[8:]; n == -1 {
			return packed, nil
		}
		if n < 0 || n > maxUnpacked {
			return nil, errDamaged
		}
		if err := codec.CheckItem(n); err != nil {
			return nil, err
		}
		done, err := dataset.Room(ctx, n)
		if err != nil {
			return nil, err
		}
		defer done()
		return b.unpack(packed, n)
	})
}

func unLZ4(b []byte, n int64) ([]byte, error) {
	out, err := columns.UnpackLZ4Frame(b, int(n))
	if err == nil && int64(len(out)) != n {
		err = errDamaged
	}
	return out, err
}

// unzstd decompresses n bytes. It allocates memory for the actual data, whatever size
// was declared.
func unzstd(b []byte, n int64) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, errDamaged
	}
	defer r.Close()
	var to bytes.Buffer
	if got, err := io.Copy(&to, io.LimitReader(r, n+1)); err != nil || got != n {
		return nil, errDamaged
	}
	return to.Bytes(), nil
}

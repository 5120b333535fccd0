package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/larder-data/larder/format/internal/columns"
)

const (
	pageBytes  = 1 << 20  // of values in a page, approximate
	pageRows   = 20_000   // maximum
	groupBytes = 64 << 20 // in a row group, approximate
	groupRows  = 1 << 20  // maximum
)

// A writer writes a file.
type writer struct {
	to      io.Writer
	at      int64
	codec   int
	pack    func(b []byte) []byte
	table   *columns.Table
	columns []*columnWriter // one for each leaf
	rows    int             // of the group
	held    int             // bytes of the group
	groups  []group
	sizes   [][]int64 // of the chunks, uncompressed
	bound   bound
}

// A columnWriter holds the unwritten part of a column: complete pages, and the current
// one.
type columnWriter struct {
	leaf     columns.Leaf
	pages    []byte
	values   int64
	unpacked int64
	page     columns.Piece
	rows     int // in page
}

func newWriter(to io.Writer, codec int, table *columns.Table) (*writer, error) {
	w := &writer{to: to, codec: codec, table: table}
	switch codec {
	case 1:
		w.pack = func(b []byte) []byte { return snappy.Encode(nil, b) }
	case 2:
		w.pack = packGzip
	case 6:
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		w.pack = func(b []byte) []byte { return z.EncodeAll(b, nil) }
	}
	for _, l := range table.Leaves {
		w.columns = append(w.columns, &columnWriter{leaf: l})
	}
	w.bound = w.newBound()
	return w, w.write([]byte(magic))
}

func packGzip(b []byte) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(b) // to memory
	_ = z.Close()
	return packed.Bytes()
}

func (w *writer) write(b []byte) error {
	n, err := w.to.Write(b)
	w.at += int64(n)
	return err
}

// Add adds a row.
func (w *writer) Add(row []columns.Piece) error {
	for i, c := range w.columns {
		w.held += row[i].Size()
		c.page.Join(&row[i])
		if c.rows++; c.page.Size() >= pageBytes || c.rows >= pageRows {
			w.endPage(c)
		}
	}
	if w.rows++; w.held >= groupBytes || w.rows >= groupRows {
		return w.endGroup()
	}
	return nil
}

// endPage completes a page, of version 2, so that it has its number of rows.
func (w *writer) endPage(c *columnWriter) {
	if c.rows == 0 {
		return
	}
	p := c.page
	rep, def := []byte{}, appendRuns(nil, p.Def, c.leaf.Def)
	if c.leaf.Rep > 0 {
		rep = appendRuns(nil, p.Rep, c.leaf.Rep)
	}
	data := types[c.leaf.Kind.Of].plain(p.Data, c.leaf.Kind.DType())
	size := len(rep) + len(def) + len(data)
	if w.pack != nil {
		data = w.pack(data)
	}
	content := append(append(rep, def...), data...)
	nulls := 0
	for _, d := range p.Def {
		if int(d) != c.leaf.Def {
			nulls++
		}
	}
	head := appendStruct(nil, func(h *writing) {
		h.i32(1, dataPage2)
		h.i32(2, size)
		h.i32(3, len(content))
		h.i32(4, int(int32(crc32.ChecksumIEEE(content))))
		h.group(8, func(h *writing) {
			h.i32(1, len(p.Def))
			h.i32(2, nulls)
			h.i32(3, c.rows)
			h.i32(4, encPlain)
			h.i32(5, len(content)-len(rep)-len(data))
			h.i32(6, len(content)-len(def)-len(data))
			h.bool(7, w.pack != nil)
		})
	})
	c.pages = append(append(c.pages, head...), content...)
	c.values += int64(len(p.Def))
	c.unpacked += int64(len(head) + size)
	c.page.Clear()
	c.rows = 0
}

// endGroup writes a row group.
func (w *writer) endGroup() error {
	if w.rows == 0 {
		return nil
	}
	g, sizes := group{rows: int64(w.rows)}, []int64(nil)
	for _, c := range w.columns {
		w.endPage(c)
		g.chunks = append(g.chunks, chunk{codec: w.codec, values: c.values, at: w.at, size: int64(len(c.pages))})
		sizes = append(sizes, c.unpacked)
		if err := w.write(c.pages); err != nil {
			return err
		}
		c.pages, c.values, c.unpacked = c.pages[:0], 0, 0
	}
	w.groups, w.sizes = append(w.groups, g), append(w.sizes, sizes)
	w.rows, w.held = 0, 0
	return nil
}

// End writes the remaining rows and the footer.
func (w *writer) End() error {
	if err := w.endGroup(); err != nil {
		return err
	}
	f := w.footer()
	f = binary.LittleEndian.AppendUint32(f, uint32(len(f)))
	return w.write(append(f, magic...))
}

func (w *writer) footer() []byte {
	rows := int64(0)
	for _, g := range w.groups {
		rows += g.rows
	}
	var elements [][]byte
	elements = append(elements, appendStruct(nil, func(e *writing) {
		e.text(4, "schema")
		e.i32(5, len(w.table.Names))
	}))
	for i, name := range w.table.Names {
		elements = appendColumn(elements, name, w.table.Kinds[i])
	}
	return appendStruct(nil, func(f *writing) {
		f.i32(1, 2)
		f.list(2, kindStruct, len(elements), func(b []byte, i int) []byte { return append(b, elements[i]...) })
		f.i64(3, rows)
		f.list(4, kindStruct, len(w.groups), func(b []byte, i int) []byte { return appendStruct(b, func(g *writing) { w.group(g, i) }) })
		f.text(6, "larder")
	})
}

// appendColumn appends the schema elements of a column.
func appendColumn(to [][]byte, name string, k *columns.Kind) [][]byte {
	group := func(repetition, children int, name string, more func(e *writing)) {
		to = append(to, appendStruct(nil, func(e *writing) {
			e.i32(3, repetition)
			e.text(4, name)
			e.i32(5, children)
			more(e)
		}))
	}
	switch k.Of {
	case columns.List:
		group(optional, 1, name, func(e *writing) {
			e.i32(6, 3)
			e.group(10, func(e *writing) { e.group(3, func(*writing) {}) })
		})
		group(repeated, 1, "list", func(*writing) {})
		return appendColumn(to, "element", k.Elem)
	case columns.Struct:
		group(optional, len(k.Fields), name, func(*writing) {})
		for _, f := range k.Fields {
			to = appendColumn(to, f.Name, f.Kind)
		}
		return to
	}
	t := types[k.Of]
	return append(to, appendStruct(nil, func(e *writing) {
		e.i32(1, t.physical)
		if t.physical == physFixed {
			e.i32(2, t.width)
		}
		e.i32(3, optional)
		e.text(4, name)
		if c := t.converted(); c >= 0 {
			e.i32(6, c)
		}
		if t.meaning != plainValue {
			e.group(10, t.logical)
		}
	}))
}

// group writes a RowGroup.
func (w *writer) group(to *writing, i int) {
	g, total := w.groups[i], int64(0)
	for _, n := range w.sizes[i] {
		total += n
	}
	to.list(1, kindStruct, len(g.chunks), func(b []byte, k int) []byte {
		return appendStruct(b, func(c *writing) {
			c.i64(2, g.chunks[k].at)
			c.group(3, func(c *writing) { w.chunk(c, k, g.chunks[k], w.sizes[i][k]) })
		})
	})
	to.i64(2, total)
	to.i64(3, g.rows)
}

// chunk writes a ColumnMetaData.
func (w *writer) chunk(to *writing, k int, c chunk, unpacked int64) {
	path := w.table.Leaves[k].Path
	to.i32(1, types[w.table.Leaves[k].Kind.Of].physical)
	to.list(2, kindI32, 2, func(b []byte, i int) []byte { return binary.AppendVarint(b, int64([]int{encPlain, encRLE}[i])) })
	to.list(3, kindBinary, len(path), func(b []byte, i int) []byte { return appendBinary(b, path[i]) })
	to.i32(4, c.codec)
	to.i64(5, c.values)
	to.i64(6, unpacked)
	to.i64(7, c.size)
	to.i64(9, c.at)
}

// appendRuns writes levels up to most: runs of equal levels, and bit-packed groups of
// eight in between.
func appendRuns(to, levels []byte, most int) []byte {
	width := levelBits(most)
	if width == 0 {
		return to
	}
	for i := 0; i < len(levels); {
		if n := runAt(levels, i); n >= packed || i+n == len(levels) {
			to = append(binary.AppendUvarint(to, uint64(n)<<1), levels[i])
			i += n
			continue
		}
		end := i + packed
		for end < len(levels) && runAt(levels, end) < packed {
			end += packed
		}
		groups := (end - i) / packed
		to = binary.AppendUvarint(to, uint64(groups)<<1|1)
		at := len(to)
		to = append(to, make([]byte, groups*width)...)
		for k, l := range levels[i:min(end, len(levels))] {
			putBits(to[at:], k*width, l)
		}
		i = min(end, len(levels))
	}
	return to
}

const packed = 8 // levels that are packed together

// runAt returns how many levels from i on are equal.
func runAt(levels []byte, i int) int {
	n := 1
	for i+n < len(levels) && levels[i+n] == levels[i] {
		n++
	}
	return n
}

// putBits sets the bits of a level, starting at a bit.
func putBits(b []byte, at int, level byte) {
	bits := uint16(level) << (at % 8)
	b[at/8] |= byte(bits)
	if high := byte(bits >> 8); high != 0 {
		b[at/8+1] |= high
	}
}

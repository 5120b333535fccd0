package parquet

import "github.com/larder-data/larder/format/internal/columns"

// A bound is the largest size of a file without its pages.
type bound struct {
	footer int64 // without row groups; includes both ends of the file
	group  int64 // in the footer
}

const (
	pageHead  = 128 // bytes of the header of a page, at most
	chunkHead = 160 // of a column in the metadata of a row group, without its name
)

func (w *writer) newBound() bound {
	b := bound{footer: int64(len(w.footer())) + int64(4+len(magic)+16), group: 64}
	for _, l := range w.table.Leaves {
		b.group += chunkHead
		for _, part := range l.Path {
			b.group += int64(len(part)) + 5
		}
	}
	return b
}

// Fits reports whether the file, ended after one more row, has at most most bytes.
// Incomplete pages count as uncompressed. If that decides the result, and they are a
// large part of the file, they are ended here.
func (w *writer) Fits(row []columns.Piece, most int64) bool {
	complete := w.at + w.bound.footer + int64(len(w.groups)+1)*w.bound.group
	begun := int64(0)
	for i, c := range w.columns {
		complete += int64(len(c.pages))
		begun += c.most(&row[i], w.pack != nil)
	}
	if complete+begun <= most {
		return true
	}
	if w.pack == nil || begun < most/openPart || w.columns[0].rows == 0 {
		return false
	}
	for _, c := range w.columns {
		w.endPage(c)
	}
	return w.Fits(row, most)
}

// openPart bounds incomplete pages to this fraction of the file, when it ends.
const openPart = 16

// most returns the largest size of the page with the values of one more row.
func (c *columnWriter) most(row *columns.Piece, packed bool) int64 {
	levels := int64(len(c.page.Def) + len(row.Def))
	data := int64(len(c.page.Data) + len(row.Data))
	if t := types[c.leaf.Kind.Of]; t.meaning == anInteger {
		data *= int64(t.width / c.leaf.Kind.DType().Word())
	}
	runs := 2 * levels // a byte for the length of a run, and one for its level
	if c.leaf.Rep > 0 {
		runs *= 2
	}
	if packed {
		data += data/6 + 64 // the largest overhead of all codecs, that of snappy
	}
	return pageHead + runs + data
}

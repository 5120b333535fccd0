package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	limits "github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
)

// A block is the values of a column for consecutive rows: those of a page, or of a whole
// chunk if pages do not say which rows they have.
type block struct {
	leaf   *node
	first  int // row of the group
	rows   int
	def    []byte // levels; nil if all are equal
	rep    []byte
	parts  []*vector // existing values, page by page
	ends   []int     // ends[k] is the number of values in parts[:k+1]
	starts []uint32  // of rows in the levels; nil if each row has one
	values []uint32  // of rows in the values; nil if each row has one
}

// value returns a value.
func (b *block) value(i int) []byte {
	k := 0
	if len(b.parts) > 1 {
		if k, _ = slices.BinarySearch(b.ends, i+1); k > 0 {
			i -= b.ends[k-1]
		}
	}
	return b.parts[k].at(i)
}

// count returns the number of values.
func (b *block) count() int {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1]
}

// bytes estimates the memory of a block.
func (b *block) bytes() (n int) {
	n = len(b.def) + len(b.rep) + 4*len(b.starts) + 4*len(b.values)
	for _, v := range b.parts {
		n += v.bytes()
	}
	return n
}

// A strip is the pages of a chunk, after their headers were read.
type strip struct {
	pages []page
	rows  []int // before each page; nil if the pages do not say
	dict  *page // nil if there is none
}

const (
	leastHeader = 512
	maxHeader   = 16 << 20 // its statistics may contain values
)

// strip reads the headers of the pages of a chunk.
func (f *file) strip(ctx context.Context, g, leaf int) (*strip, error) {
	c, s := f.footer.groups[g].chunks[leaf], &strip{}
	rows, values := 0, int64(0)
	known := true // how many rows each page has
	for at, end := c.at, c.at+c.size; at < end && values < c.values; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, n, err := f.header(ctx, at, end)
		if err != nil {
			return nil, err
		}
		p.at = at + int64(n)
		if int64(p.packed) > end-p.at {
			return nil, errors.New("a page exceeds its column: the file is damaged")
		}
		at = p.at + int64(p.packed)
		switch p.kind {
		case dictionaryPage:
			s.dict = &p
		case dataPage, dataPage2:
			if f.leaves[leaf].maxRep == 0 {
				p.rows = p.values
			}
			s.pages, s.rows = append(s.pages, p), append(s.rows, rows)
			known = known && p.rows >= 0
			rows, values = rows+p.rows, values+int64(p.values)
		}
	}
	if values != c.values {
		return nil, fmt.Errorf("the pages have %d values, expected %d: the file is damaged", values, c.values)
	}
	if !known {
		s.rows = nil
	} else if int64(rows) != f.footer.groups[g].rows {
		return nil, fmt.Errorf("the pages have %d rows but the row group %d: the file is damaged", rows, f.footer.groups[g].rows)
	}
	return s, nil
}

// header reads the header of the page at an offset.
func (f *file) header(ctx context.Context, at, end int64) (page, int, error) {
	for size := int64(leastHeader); ; size *= 4 {
		b := make([]byte, min(size, end-at))
		if err := f.Read(ctx, b, at); err != nil {
			return page{}, 0, err
		}
		p, n, err := readHeader(b)
		if !errors.Is(err, errShort) || size >= end-at || size >= maxHeader {
			if err != nil {
				err = fmt.Errorf("byte %d: the header of a page: %w", at, err)
			}
			return p, n, err
		}
	}
}

// contents reads pages of a chunk and calls use with their decompressed content. It
// reserves memory for the content after all reads, because a caller that waits for
// memory must not hold any.
func (f *file) contents(ctx context.Context, pages []page, codec int, use func(p *page, content []byte) error) error {
	packed, space := make([][]byte, len(pages)), int64(0)
	for i, p := range pages {
		err := limits.CheckItem(int64(max(p.packed, p.unpacked)))
		if err != nil {
			return fmt.Errorf("a page of a column: %w", err)
		}
		packed[i], err = dataset.ReadBytes(ctx, "parquet", int64(p.packed), func(b []byte) error { return f.Read(ctx, b, p.at) })
		if err != nil {
			return err
		}
		space += int64(p.unpacked) + 12*int64(p.values)
	}
	done, err := dataset.Room(ctx, space)
	if err != nil {
		return err
	}
	defer done()
	for i := range pages {
		content, err := pages[i].unpack(codec, packed[i])
		if err != nil {
			return err
		}
		if err := use(&pages[i], content); err != nil {
			return err
		}
	}
	return nil
}

// pagesOf returns the pages of the block of a row, its first row and its number of rows.
func (s *strip) pagesOf(row, rows int) (pages []page, first, n int) {
	if s.rows == nil {
		return s.pages, 0, rows
	}
	k, found := slices.BinarySearch(s.rows, row)
	if !found {
		k--
	}
	for s.pages[k].rows == 0 && k+1 < len(s.pages) { // among pages that begin here, the one with the row
		k++
	}
	return s.pages[k : k+1], s.rows[k], s.pages[k].rows
}

// read decodes the block of a column that contains a row.
func (f *file) read(ctx context.Context, s *strip, g, leaf, row int) (*block, error) {
	c := f.footer.groups[g].chunks[leaf]
	dict, err := f.dictionary(ctx, s, g, leaf)
	if err != nil {
		return nil, err
	}
	pages, first, rows := s.pagesOf(row, int(f.footer.groups[g].rows))
	b := &block{leaf: f.leaves[leaf], first: first, rows: rows}
	if err := f.contents(ctx, pages, c.codec, func(p *page, content []byte) error { return b.add(p, content, dict) }); err != nil {
		return nil, err
	}
	return b, b.findRows()
}

// dictionary returns the dictionary of a chunk, if it has one.
func (f *file) dictionary(ctx context.Context, s *strip, g, leaf int) (*vector, error) {
	if s.dict == nil {
		return nil, nil //nolint:nilnil // pages that need it say so
	}
	b, err := f.cache.block(ctx, place{f.number, g, leaf, ofDictionary}, func(ctx context.Context) (*block, error) {
		b := &block{}
		return b, f.contents(ctx, []page{*s.dict}, f.footer.groups[g].chunks[leaf].codec, func(p *page, content []byte) error {
			v, err := decodePlain(f.leaves[leaf], p.values, content)
			b.parts = []*vector{v}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return b.parts[0], nil
}

// decoded counts the decoded data pages, for tests.
var decoded int64

// add appends a page.
func (b *block) add(p *page, content []byte, dict *vector) error {
	atomic.AddInt64(&decoded, 1)
	rep, content, err := p.levels(b.leaf.maxRep, p.repEncoding, p.repBytes, content)
	if err != nil {
		return err
	}
	def, content, err := p.levels(b.leaf.maxDef, p.defEncoding, p.defBytes, content)
	if err != nil {
		return err
	}
	n := p.values
	for _, d := range def {
		if int(d) != b.leaf.maxDef {
			n--
		}
	}
	b.rep, b.def = append(b.rep, rep...), append(b.def, def...)
	v := &vector{width: b.leaf.width}
	if n > 0 {
		if v, err = decode(b.leaf, p.encoding, n, content, dict); err != nil {
			return err
		}
		if v.len() != n {
			return errValues
		}
	}
	b.parts, b.ends = append(b.parts, v), append(b.ends, b.count()+n)
	return nil
}

// levels reads the levels at the beginning of a page, up to most.
func (p *page) levels(most, encoding, size int, content []byte) (levels, rest []byte, err error) {
	if p.kind == dataPage {
		if most == 0 {
			return nil, content, nil
		}
		if encoding != encRLE {
			return nil, nil, fmt.Errorf("level encoding %d is not supported; write the file again", encoding)
		}
		if len(content) < 4 {
			return nil, nil, errValues
		}
		n := binary.LittleEndian.Uint32(content)
		if content = content[4:]; uint64(n) > uint64(len(content)) {
			return nil, nil, errValues
		}
		size = int(n)
	}
	if size > len(content) {
		return nil, nil, errValues
	}
	levels, rest = content[:size], content[size:]
	if most == 0 {
		return nil, rest, nil
	}
	if levels, err = decodeRuns(levelBits(most), p.values, levels); err != nil {
		return nil, nil, err
	}
	for _, l := range levels {
		if int(l) > most {
			return nil, nil, errValues
		}
	}
	return levels, rest, nil
}

// findRows computes where rows begin.
func (b *block) findRows() error {
	if b.leaf.maxDef == 0 {
		if b.count() != b.rows {
			return errValues
		}
		return nil
	}
	value, row := uint32(0), 0
	b.values = make([]uint32, 0, min(b.rows, len(b.def)))
	if b.leaf.maxRep > 0 {
		b.starts = make([]uint32, 0, min(b.rows, len(b.def)))
	}
	for i, d := range b.def {
		if b.rep == nil || b.rep[i] == 0 {
			if row++; row > b.rows {
				return errValues
			}
			b.values = append(b.values, value)
			if b.starts != nil {
				b.starts = append(b.starts, uint32(i))
			}
		} else if i == 0 || int(d) < b.leaf.lists[b.rep[i]-1] { // continuation of an empty list
			return errLevels
		}
		if int(d) == b.leaf.maxDef {
			value++
		}
	}
	if row != b.rows {
		return errValues
	}
	return nil
}

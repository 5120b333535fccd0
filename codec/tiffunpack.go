package codec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"

	"github.com/larder-data/larder/array"
)

// unpackBlock returns the samples of a strip or tile with the given number of rows.
func (p *tiffPage) unpackBlock(i, rows int) ([]byte, error) {
	stored, err := p.file.part(p.block.offsets[i], p.block.sizes[i])
	if err != nil {
		return nil, err
	}
	row := (p.block.width*p.side()*p.bits + 7) / 8
	data, err := p.decompress(stored, row*rows, rows)
	if err != nil {
		return nil, err
	}
	if p.bits < 8 {
		return p.spread(data, row, rows), nil
	}
	if p.predictor != 3 && p.file.order == binary.ByteOrder(binary.BigEndian) {
		array.SwapBytes(data, p.dtype.Size())
	}
	for ; p.predictor > 1 && len(data) >= row; rows-- {
		p.undo(data[len(data)-rows*row:][:row])
		if rows == 1 {
			break
		}
	}
	return data, nil
}

// decompress returns size bytes, which the caller owns.
func (p *tiffPage) decompress(b []byte, size, rows int) ([]byte, error) {
	if p.number(tagFillOrder, 1) == 2 { // of the stored bytes, as in libtiff
		b = bytes.Clone(b)
		for i := range b {
			b[i] = bits.Reverse8(b[i])
		}
	}
	switch p.compression {
	case 1:
		if len(b) < size {
			return nil, fmt.Errorf("%d bytes, expected %d", len(b), size)
		}
		return bytes.Clone(b[:size]), nil
	case 3, 4:
		return p.fax(b, size, rows)
	case 5:
		r := lzw.NewReader(bytes.NewReader(b), lzw.MSB, 8)
		defer r.Close()
		return full(r, size)
	case 8, 32946:
		r, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return full(r, size)
	case 32773:
		return packBits(b, size)
	}
	return nil, fmt.Errorf("compression %d is not supported; save with deflate, lzw, packbits or none", p.compression)
}

// full reads size bytes. It allocates as bytes arrive.
func full(r io.Reader, size int) ([]byte, error) {
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, int64(size)))
	if err == nil && n < int64(size) {
		err = fmt.Errorf("%d bytes, expected %d", n, size)
	}
	return buf.Bytes(), err
}

// fax reads the fax compressions: ITU-T T.4 in one dimension and T.6. Their white is 0,
// which the page may declare as black.
func (p *tiffPage) fax(b []byte, size, rows int) ([]byte, error) {
	form := ccitt.Group4
	if p.compression == 3 {
		if form = ccitt.Group3; p.number(tagT4Options, 0)&1 != 0 {
			return nil, errors.New("two-dimensional group 3 compression is not supported; save with group 4")
		}
		if len(b) < 2 || b[0] != 0 || b[1]>>4 != 1 {
			return nil, errors.New("group 3 compression without end-of-line codes is not supported; save with group 4")
		}
	}
	if p.bits != 1 || p.side() != 1 {
		return nil, errors.New("fax compression needs one bit per pixel")
	}
	r := ccitt.NewReader(bytes.NewReader(b), ccitt.MSB, form, p.block.width, rows, &ccitt.Options{Invert: true})
	return full(r, size)
}

// packBits reads runs: a count n up to 127 and n+1 bytes, or n from 129 on and a byte to
// repeat 257-n times.
func packBits(b []byte, size int) ([]byte, error) {
	out := make([]byte, 0, min(size, 64*len(b)))
	for len(out) < size {
		if len(b) < 2 {
			return nil, fmt.Errorf("%d bytes, expected %d", len(out), size)
		}
		n := int(b[0])
		switch {
		case n < 128 && n+2 > len(b):
			return nil, io.ErrUnexpectedEOF
		case n < 128:
			out, b = append(out, b[1:n+2]...), b[n+2:]
		case n == 128:
			b = b[1:]
		default:
			for range 257 - n {
				out = append(out, b[1])
			}
			b = b[2:]
		}
	}
	return out[:size], nil
}

// spread expands samples of 1, 2 or 4 bits to a byte each, scaled to 0 to 255 except for
// palettes.
func (p *tiffPage) spread(data []byte, row, rows int) []byte {
	wide := p.block.width * p.side()
	most := byte(1<<p.bits - 1)
	scale := byte(255) / most
	if p.photometric == paletted {
		scale = 1
	}
	out := make([]byte, 0, wide*rows)
	for ; len(data) >= row && row > 0 && len(out) < wide*rows; data = data[row:] {
		for x := range wide {
			at := x * p.bits
			out = append(out, data[at/8]>>(8-p.bits-at%8)&most*scale)
		}
	}
	return out
}

// undo reverses the predictor in a row.
func (p *tiffPage) undo(row []byte) {
	n, size, le := p.side(), p.dtype.Size(), binary.LittleEndian
	if p.predictor == 3 {
		undoFloats(row, n, size)
		return
	}
	step := n * size
	for i := step; i+size <= len(row); i += size {
		switch v, left := row[i:], row[i-step:]; size {
		case 1:
			v[0] += left[0]
		case 2:
			le.PutUint16(v, le.Uint16(v)+le.Uint16(left))
		case 4:
			le.PutUint32(v, le.Uint32(v)+le.Uint32(left))
		case 8:
			le.PutUint64(v, le.Uint64(v)+le.Uint64(left))
		}
	}
}

// undoFloats reverses the predictor of floating point numbers (Adobe, TIFF Technical Note
// 3): differences of bytes, the highest bytes of all numbers first.
func undoFloats(row []byte, samples, size int) {
	for i := samples; i < len(row); i++ {
		row[i] += row[i-samples]
	}
	planes, n := bytes.Clone(row), len(row)/size
	for i := range n {
		for k := range size {
			row[i*size+size-1-k] = planes[k*n+i]
		}
	}
}

package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/larder-data/larder/format/internal/columns"
)

// The kinds of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPage2      = 3
)

// A page is a part of a chunk, as described by its header.
type page struct {
	kind             int
	at               int64 // of its content
	packed, unpacked int
	values, rows     int // rows is -1 if the header does not say
	encoding         int
	defEncoding      int
	repEncoding      int
	defBytes         int // of levels, in pages of version 2
	repBytes         int
	isPacked         bool // of the bytes after the levels
	sum              uint32
	summed           bool
}

// readHeader reads a PageHeader, and returns its length. It fails with errShort if the
// header is longer than b.
func readHeader(b []byte) (p page, n int, err error) {
	m := &message{b: b}
	p.kind, p.packed, p.unpacked, p.rows, p.isPacked = -1, -1, -1, -1, true
	m.fields(kindStruct, func(id int, kind byte) {
		switch id {
		case 1:
			p.kind = m.int32(kind)
		case 2:
			p.unpacked = m.int32(kind)
		case 3:
			p.packed = m.int32(kind)
		case 4:
			p.sum, p.summed = uint32(m.int32(kind)), true
		case 5, 7:
			p.readData(m, kind)
		case 8:
			p.readData2(m, kind)
		default:
			m.skip(kind)
		}
	})
	if m.err != nil {
		return p, 0, m.err
	}
	if p.packed < 0 || p.unpacked < 0 || p.unpacked > maxPage || p.packed > maxPage || p.values < 0 || p.values > maxValues ||
		p.defBytes < 0 || p.repBytes < 0 || p.defBytes+p.repBytes > min(p.packed, p.unpacked) || p.rows > p.values {
		return p, 0, fmt.Errorf("page of %d bytes and %d values: damaged, or above the limits of %d and %d", p.unpacked, p.values, maxPage, maxValues)
	}
	return p, m.at, nil
}

func (p *page) readData(m *message, kind byte) {
	m.fields(kind, func(id int, kind byte) {
		switch id {
		case 1:
			p.values = m.int32(kind)
		case 2:
			p.encoding = m.int32(kind)
		case 3:
			if kind == kindI32 { // for a dictionary, whether it is sorted
				p.defEncoding = m.int32(kind)
			}
		case 4:
			p.repEncoding = m.int32(kind)
		default:
			m.skip(kind)
		}
	})
}

func (p *page) readData2(m *message, kind byte) {
	m.fields(kind, func(id int, kind byte) {
		switch id {
		case 1:
			p.values = m.int32(kind)
		case 3:
			p.rows = m.int32(kind)
		case 4:
			p.encoding = m.int32(kind)
		case 5:
			p.defBytes = m.int32(kind)
		case 6:
			p.repBytes = m.int32(kind)
		case 7:
			p.isPacked = m.bool(kind)
		default:
			m.skip(kind)
		}
	})
}

// unpack verifies a page's content and returns it decompressed.
func (p *page) unpack(codec int, b []byte) ([]byte, error) {
	if p.summed && crc32.ChecksumIEEE(b) != p.sum {
		return nil, errors.New("the checksum of a page is wrong: the file is damaged")
	}
	levels := p.defBytes + p.repBytes // never compressed
	if codec == 0 || !p.isPacked {
		return b, nil
	}
	if len(b) == levels && p.unpacked == levels { // no values, possibly not compressed
		return b, nil
	}
	content, err := unpacked(codec, b[levels:], p.unpacked-levels)
	if err == nil && len(content) != p.unpacked-levels {
		err = errUnpack
	}
	if err != nil || levels == 0 {
		return content, err
	}
	return append(bytes.Clone(b[:levels]), content...), nil
}

var errUnpack = errors.New("a page cannot be decompressed: the file is damaged")

// unpacked decompresses exactly size bytes.
func unpacked(codec int, b []byte, size int) ([]byte, error) {
	switch codec {
	case 1:
		if n, err := snappy.DecodedLen(b); err != nil || n != size {
			return nil, errUnpack
		}
		out, err := snappy.Decode(nil, b)
		if err != nil {
			err = errUnpack
		}
		return out, err
	case 2:
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, errUnpack
		}
		return readSize(r, size)
	case 5:
		return unpackedLZ4(b, size)
	case 6:
		r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, errUnpack
		}
		defer r.Close()
		return readSize(r, size)
	case 7:
		out, err := columns.UnpackLZ4(nil, b, size)
		if err != nil {
			err = errUnpack
		}
		return out, err
	}
	names := map[int]string{3: "LZO", 4: "Brotli"}
	return nil, fmt.Errorf("compression %s is not supported; use zstd, snappy, gzip or lz4_raw", cmpName(names[codec], codec))
}

// unpackedLZ4 decompresses what other software writes under the deprecated name LZ4:
// blocks after both sizes, as in Hadoop, or one block.
func unpackedLZ4(b []byte, size int) ([]byte, error) {
	var out []byte
	for rest := b; ; {
		if len(rest) == 0 && len(out) == size {
			return out, nil
		}
		if len(rest) < 8 {
			break
		}
		unpacked, packed := uint64(binary.BigEndian.Uint32(rest)), uint64(binary.BigEndian.Uint32(rest[4:]))
		if rest = rest[8:]; packed > uint64(len(rest)) || unpacked > uint64(size-len(out)) {
			break
		}
		block, err := columns.UnpackLZ4(nil, rest[:packed], int(unpacked))
		if err != nil || len(block) != int(unpacked) {
			break
		}
		out, rest = append(out, block...), rest[packed:]
	}
	out, err := columns.UnpackLZ4(nil, b, size)
	if err != nil {
		err = errUnpack
	}
	return out, err
}

func cmpName(name string, codec int) string {
	if name == "" {
		return fmt.Sprintf("codec %d", codec)
	}
	return name
}

// readSize reads exactly size bytes up to the end.
func readSize(r io.Reader, size int) ([]byte, error) {
	var b bytes.Buffer // grows with the actual data, whatever size was declared
	n, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	if err != nil || n != int64(size) {
		return nil, errUnpack
	}
	return b.Bytes(), nil
}

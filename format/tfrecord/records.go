package tfrecord

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// A record has 8 bytes of length, 4 of its checksum, the data, and 4 of the checksum of
// the data; all numbers are little-endian. The checksums are CRC-32C, masked as in
// TensorFlow.
const (
	headBytes = 12
	tailBytes = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns the masked checksum of a record, because a plain one would be weak for
// data that contains checksums.
func masked(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// isHead reports whether a record begins with b, by the checksum of its length.
func isHead(b []byte) bool {
	return len(b) >= headBytes && masked(b[:8]) == binary.LittleEndian.Uint32(b[8:])
}

// An index has the positions of the records of a file, and the end of the last one, in 8
// bytes each.
type index []byte

func (x index) records() int { return max(0, len(x)/8-1) }

// record returns the position and size of a record's data.
func (x index) record(i int) (at int64, size int) {
	start, end := binary.LittleEndian.Uint64(x[8*i:]), binary.LittleEndian.Uint64(x[8*i+8:])
	return int64(start) + headBytes, int(end-start) - headBytes - tailBytes
}

// check returns an error if bytes are not a valid index.
func (x index) check() error {
	if len(x)%8 != 0 {
		return errIndex
	}
	for i := 8; i < len(x); i += 8 {
		start, end := binary.LittleEndian.Uint64(x[i-8:]), binary.LittleEndian.Uint64(x[i:])
		if end < start || end-start < headBytes+tailBytes || end > 1<<62 {
			return errIndex
		}
	}
	return nil
}

var errIndex = errors.New("tfrecord: unknown format of a cached index")

// scan finds the records of a file by their lengths, whose checksums it verifies. Data
// is verified when it is read.
func scan(ctx context.Context, path string, from io.ReaderAt, size int64, incomplete bool) (index, error) {
	r := &skipper{from: from, size: size}
	var x index
	for at := int64(0); at < size; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var head [headBytes]byte
		if size-at < headBytes {
			return x.broken(path, at, incomplete)
		}
		if err := r.read(head[:], at); err != nil {
			return nil, fmt.Errorf("%s: byte %d: %w", path, at, err)
		}
		n := binary.LittleEndian.Uint64(head[:])
		switch {
		case !isHead(head[:]) && at == 0 && head[0] == 0x78 && binary.BigEndian.Uint16(head[:])%31 == 0:
			return nil, fmt.Errorf("%s: zlib compression is not supported; use GZIP, or decompress the file", path)
		case !isHead(head[:]):
			return nil, fmt.Errorf("%s: byte %d: not TFRecord, or damaged: wrong checksum of a record length", path, at)
		case n > math.MaxInt64:
			return nil, fmt.Errorf("%s: byte %d: record of %d bytes: the file is damaged", path, at, n)
		case int64(n) > size-at-headBytes-tailBytes:
			return x.broken(path, at, incomplete)
		}
		x = x.add(at)
		at += headBytes + int64(n) + tailBytes
	}
	return x.add(size), nil
}

func (x index) add(at int64) index { return binary.LittleEndian.AppendUint64(x, uint64(at)) }

// broken returns the index or the error of a file that is truncated in the record at an
// offset.
func (x index) broken(path string, at int64, incomplete bool) (index, error) {
	if incomplete {
		return x.add(at), nil
	}
	return nil, fmt.Errorf("%s: byte %d: truncated in record %d; set incomplete: true to read earlier records", path, at, len(x)/8)
}

// A skipper reads small parts of a file in ascending order.
type skipper struct {
	from  io.ReaderAt
	size  int64
	ahead *bufio.Reader
	at    int64 // of ahead
}

// aheadBytes is the size of a read.
const aheadBytes = 64 << 10

func (s *skipper) read(b []byte, at int64) error {
	if s.ahead == nil || at < s.at || at-s.at > int64(s.ahead.Buffered()) {
		s.ahead, s.at = bufio.NewReaderSize(io.NewSectionReader(s.from, at, s.size-at), aheadBytes), at
	}
	n, err := s.ahead.Discard(int(at - s.at))
	s.at += int64(n)
	if err != nil {
		return err
	}
	n, err = io.ReadFull(s.ahead, b)
	s.at += int64(n)
	return err
}

// verified returns the data of a record, after comparing the checksum at its end.
func verified(b []byte) ([]byte, error) {
	data := b[:len(b)-tailBytes]
	if masked(data) != binary.LittleEndian.Uint32(b[len(data):]) {
		return nil, errors.New("wrong checksum: the file is damaged")
	}
	return data, nil
}

// framed appends a record.
func framed(to, data []byte) []byte {
	start := len(to)
	to = binary.LittleEndian.AppendUint64(to, uint64(len(data)))
	to = binary.LittleEndian.AppendUint32(to, masked(to[start:]))
	to = append(to, data...)
	return binary.LittleEndian.AppendUint32(to, masked(data))
}

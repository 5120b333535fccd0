package zip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	zstandard "github.com/klauspost/compress/zstd"

	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/format/internal/members"
)

// A place is the position of a member in the index.
type place struct {
	at, extent, packed, unpacked int64
	sum                          uint32
	method                       uint16
}

const placeBytes = 4*8 + 4 + 2

// place returns the encoded position of a member.
func (f *found) place() []byte {
	b := make([]byte, 0, placeBytes)
	for _, n := range []int64{f.at, f.extent, f.packed, f.unpacked} {
		b = le.AppendUint64(b, uint64(n))
	}
	return le.AppendUint16(le.AppendUint32(b, f.sum), f.method)
}

func placed(b []byte) place {
	number := func(i int) int64 { return int64(le.Uint64(b[8*i:])) }
	return place{number(0), number(1), number(2), number(3), le.Uint32(b[32:]), le.Uint16(b[36:])}
}

const localBytes = 30 // of the local header, without its name

// part returns a member of an archive.
func part(f *indexed.File, n members.Name, at []byte) *indexed.Part {
	p, name, ext := placed(at), n.Member, n.Ext
	fail := func(err error) error { return fmt.Errorf("%s: %s: %w", f.Path, shown(name), err) }
	return f.PartBy(name, ext, p.unpacked, []any{name, n.Integer, at}, func(ctx context.Context, b []byte) error {
		return f.Through(ctx, func(from io.ReaderAt) error {
			if err := p.read(from, name, b); err != nil {
				return fail(err)
			}
			if n.Integer {
				return members.Integer(name, b)
			}
			return nil
		})
	})
}

// read reads a member into b, which has the size that the directory declares.
func (p place) read(from io.ReaderAt, name string, b []byte) error {
	start, err := p.start(from, name)
	if err != nil {
		return err
	}
	r, done, err := unpacked(p.method, io.NewSectionReader(from, start, p.packed))
	if err != nil {
		return err
	}
	defer done()
	if _, err := io.ReadFull(r, b); err != nil {
		return damaged(err)
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return damaged(err) // it is larger, or not at its end
	}
	if crc32.ChecksumIEEE(b) != p.sum {
		return errors.New("damaged: the checksum differs from that in the central directory")
	}
	return nil
}

// start returns the offset of a member's content, after checking its local header.
func (p place) start(from io.ReaderAt, name string) (int64, error) {
	head, err := header(from, p.at, name)
	if err != nil {
		return 0, err
	}
	if le.Uint16(head[8:]) != p.method || le.Uint16(head[6:])&encrypted != 0 {
		return 0, errHeader
	}
	length := int64(len(head)) + int64(le.Uint16(head[28:]))
	if length > p.extent-p.packed {
		return 0, errors.New("overlap with the next member: the archive is damaged")
	}
	return p.at + length, nil
}

var errHeader = errors.New("the local header differs from the central directory: the archive is damaged")

// header returns the local header of a member up to its name, which must be the given
// one.
func header(from io.ReaderAt, at int64, name string) ([]byte, error) {
	head := make([]byte, localBytes+len(name))
	if _, err := from.ReadAt(head, at); err != nil {
		return nil, damaged(err)
	}
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) || int(le.Uint16(head[26:])) != len(name) || string(head[localBytes:]) != name {
		return nil, errHeader
	}
	return head, nil
}

// damaged returns the error of a damaged member. Errors of reading are returned
// unchanged.
func damaged(err error) error {
	if indexed.Unread(err) {
		return err
	}
	return errors.New("damaged, or of another size than in the central directory")
}

// maxWindow bounds the memory of a decompressor: the default of zstd.
const maxWindow = 128 << 20

var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// unpacked returns the decompressed content of a member. done must be called at the end.
func unpacked(method uint16, packed io.Reader) (r io.Reader, done func(), err error) {
	switch method {
	case deflate:
		z := inflaters.Get().(io.ReadCloser)
		if err := z.(flate.Resetter).Reset(packed, nil); err != nil {
			return nil, nil, err
		}
		return z, func() { inflaters.Put(z) }, nil
	case zstd:
		z, err := zstandard.NewReader(packed, zstandard.WithDecoderConcurrency(1), zstandard.WithDecoderMaxWindow(maxWindow), zstandard.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, damaged(err)
		}
		return z, z.Close, nil
	}
	return packed, func() {}, nil
}

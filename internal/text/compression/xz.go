package compression

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// An xzGuard passes on the bytes of an xz file, and checks its structure
// (https://tukaani.org/xz/xz-file-format.txt, version 1.2.1) before a decoder sees it.
// The decoder allocates any dictionary that a block requests, and remembers all blocks.
// It accepts a file that ends where a block would begin. The guard leaves other errors
// to the decoder.
type xzGuard struct {
	from   *bufio.Reader
	pass   int          // bytes to pass before the structure continues
	next   func() error // parses what follows
	check  int64        // bytes of the checksum after each block
	block  int64        // bytes of the block so far, without its header
	blocks int          // of the stream
	seen   error        // error at the end of the file
}

// maxBlocks bounds the blocks of a stream: those of xz have at least a MiB.
const maxBlocks = 1 << 20

var errFilter = errors.New("it uses a filter other than LZMA2, which is not supported; compress it without the filter (xz -6)")

func newXZGuard(from io.Reader) *xzGuard {
	g := &xzGuard{from: bufio.NewReaderSize(from, 1<<16)}
	g.next = g.stream
	return g
}

// Read implements io.Reader.
func (g *xzGuard) Read(b []byte) (int, error) {
	for g.pass == 0 && g.seen == nil {
		g.seen = g.next()
	}
	if g.seen != nil {
		return 0, g.seen
	}
	n, err := g.from.Read(b[:min(len(b), g.pass)])
	g.pass -= n
	return n, inside(err)
}

// inside converts the end of the file to an error.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// peek returns the next bytes without consuming them.
func (g *xzGuard) peek(n int) ([]byte, error) {
	b, err := g.from.Peek(n)
	return b, inside(err)
}

const (
	xzHeader = 12 // bytes of the header of a stream, and of its footer
	xzCheck  = 7  // offset of the checksum type in the header
)

// stream parses the header of a stream, padding between streams, or the end.
func (g *xzGuard) stream() error {
	if _, err := g.from.Peek(1); err != nil {
		return err // io.EOF is the end
	}
	b, err := g.peek(4)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b) == 0 {
		g.pass = 4
		return nil
	}
	if b, err = g.peek(xzHeader); err != nil {
		return err
	}
	g.check = 0
	if id := int64(b[xzCheck] & 0xf); id > 0 {
		g.check = 4 << ((id - 1) / 3)
	}
	g.blocks, g.pass, g.next = 0, xzHeader, g.header
	return nil
}

// header parses the header of a block, or finds the index.
func (g *xzGuard) header() error {
	b, err := g.peek(1)
	if err != nil {
		return err
	}
	if b[0] == 0 {
		return g.index()
	}
	if g.blocks++; g.blocks > maxBlocks {
		return errWindow
	}
	n := (int(b[0]) + 1) * 4
	if b, err = g.peek(n); err != nil {
		return err
	}
	g.block, g.pass, g.next = 0, n, g.chunk
	return dictionary(b)
}

// dictionary refuses a block header that requests a large dictionary.
func dictionary(header []byte) error {
	end := len(header) - 4
	if crc32.ChecksumIEEE(header[:end]) != binary.LittleEndian.Uint32(header[end:]) {
		return nil // the decoder reports the damage
	}
	flags, b := header[1], header[2:]
	for _, present := range []byte{0x40, 0x80} { // sizes
		if flags&present != 0 {
			_, n := binary.Uvarint(b)
			b = b[max(n, 0):]
		}
	}
	if flags&3 != 0 || len(b) < 3 || b[0] != 0x21 {
		return errFilter
	}
	bits := uint64(b[2]) // 2 or 3 times a power of two
	if bits > 40 || (2|bits&1)<<(bits/2+11) > maxWindow {
		return errWindow
	}
	return nil
}

// chunk parses a chunk of LZMA2, or the end of the block.
func (g *xzGuard) chunk() error {
	b, err := g.peek(1)
	if err != nil {
		return err
	}
	switch control := b[0]; {
	case control == 0:
		g.pass, g.next = 1+int(-(g.block+1)&3+g.check), g.header
		return nil
	case control < 0x80: // not compressed
		if b, err = g.peek(3); err == nil {
			g.pass = 3 + 1 + int(binary.BigEndian.Uint16(b[1:]))
		}
	default:
		if b, err = g.peek(5); err == nil {
			g.pass = 5 + 1 + int(binary.BigEndian.Uint16(b[3:]))
		}
		if control >= 0xc0 { // with properties
			g.pass++
		}
	}
	g.block += int64(g.pass)
	return err
}

// index parses the index of the blocks, after which the stream ends.
func (g *xzGuard) index() error {
	numbers := 1 + 2*g.blocks
	read := 0
	g.next = func() error {
		if numbers == 0 {
			g.pass, g.next = -read&3+4+xzHeader, g.stream
			return nil
		}
		b, err := g.peek(1)
		if err == nil && b[0] < 0x80 {
			numbers--
		}
		g.pass = 1
		read++
		return err
	}
	g.pass = 1 // the index indicator
	read = 1
	return nil
}

package compression

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// An xzGuard hands on the bytes of a file of xz, and looks at its structure
// (https://tukaani.org/xz/xz-file-format.txt, version 1.2.1) before a decoder does. The decoder
// takes memory for whatever dictionary a block asks for, and remembers all blocks; and it takes
// a file that ends where a block would begin for one that is complete. What is wrong otherwise
// is left to it.
type xzGuard struct {
	from   *bufio.Reader
	pass   int          // bytes to hand on before the structure goes on
	next   func() error // says what comes then
	check  int64        // bytes of the checksum after each block
	block  int64        // bytes of the block that were seen, its header not counted
	blocks int          // of the stream
	seen   error        // what the file ended with
}

// mostBlocks bounds the blocks of a stream: xz makes them of a MiB at least.
const mostBlocks = 1 << 20

var errFilter = errors.New("it went through a filter beside LZMA2, which is not read; compress it without one (xz -6)")

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

// inside says that a file must not end here.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// peek returns the next bytes, which are not handed on by that.
func (g *xzGuard) peek(n int) ([]byte, error) {
	b, err := g.from.Peek(n)
	return b, inside(err)
}

const (
	xzHeader = 12 // bytes of the header of a stream, and of its footer
	xzCheck  = 7  // where the header says which checksum there is
)

// stream is at the header of a stream, at padding between two, or at the end.
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

// header is at the header of a block, or at the index.
func (g *xzGuard) header() error {
	b, err := g.peek(1)
	if err != nil {
		return err
	}
	if b[0] == 0 {
		return g.index()
	}
	if g.blocks++; g.blocks > mostBlocks {
		return errWindow
	}
	n := (int(b[0]) + 1) * 4
	if b, err = g.peek(n); err != nil {
		return err
	}
	g.block, g.pass, g.next = 0, n, g.chunk
	return dictionary(b)
}

// dictionary refuses the header of a block that asks for a large one.
func dictionary(header []byte) error {
	end := len(header) - 4
	if crc32.ChecksumIEEE(header[:end]) != binary.LittleEndian.Uint32(header[end:]) {
		return nil // it is damaged, as the decoder says
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

// chunk is at a chunk of LZMA2, or behind the last one.
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

// index is at the index of the blocks, after which the stream ends.
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
	g.pass = 1 // what says that this is the index
	read = 1
	return nil
}

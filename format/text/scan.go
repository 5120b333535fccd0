package text

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// An index has the begin and end of each sample of a file, in 8 bytes each,
// little-endian.
type index []byte

const placeBytes = 16

func (x index) len() int { return len(x) / placeBytes }

// place returns the position and size of a sample.
func (x index) place(i int) (at, size int64) {
	start, end := x.ends(i)
	return int64(start), int64(end - start)
}

func (x index) ends(i int) (start, end uint64) {
	return binary.LittleEndian.Uint64(x[placeBytes*i:]), binary.LittleEndian.Uint64(x[placeBytes*i+8:])
}

// A builder builds an index in chunks that never move, because a growing slice would
// leave garbage larger than itself.
type builder struct {
	full [][]byte
	last []byte
}

const pieceBytes = 1 << 20

func (b *builder) add(start, end int64) {
	if len(b.last) == cap(b.last) {
		if b.last != nil {
			b.full = append(b.full, b.last)
		}
		b.last = make([]byte, 0, pieceBytes)
	}
	b.last = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b.last, uint64(start)), uint64(end))
}

func (b *builder) index() index {
	if len(b.full) == 0 {
		return index(b.last)
	}
	x := make([]byte, 0, len(b.full)*pieceBytes+len(b.last))
	for i, piece := range b.full {
		x, b.full[i] = append(x, piece...), nil
	}
	return append(x, b.last...)
}

// check returns an error if bytes are not a valid index.
func (x index) check() error {
	if len(x)%placeBytes != 0 {
		return errIndex
	}
	last := uint64(0)
	for i := range x.len() {
		start, end := x.ends(i)
		if start < last || end < start || end > 1<<62 {
			return errIndex
		}
		last = end
	}
	return nil
}

var errIndex = errors.New("text: unknown format of a cached index")

// scan finds the samples of a file.
func scan(ctx context.Context, r io.Reader, by By) (index, error) {
	var x builder
	if by != Paragraph {
		err := eachLine(ctx, r, func(l line) { x.add(l.start, l.end) })
		return x.index(), err
	}
	start, end := int64(-1), int64(0) // of the paragraph; start is -1 outside of one
	err := eachLine(ctx, r, func(l line) {
		switch {
		case !l.blank && start < 0:
			start, end = l.start, l.end
		case !l.blank:
			end = l.end
		case start >= 0:
			x.add(start, end)
			start = -1
		}
	})
	if start >= 0 {
		x.add(start, end)
	}
	return x.index(), err
}

// A line is the position of a line, without its end.
type line struct {
	start, end int64
	blank      bool // only blanks
}

const (
	byteOrderMark = "\ufeff"
	blanks        = " \t\r"
	chunkBytes    = 256 << 10
)

// eachLine calls add for each line of a file. A line ends with LF or CRLF, or at the end
// of the file.
func eachLine(ctx context.Context, r io.Reader, add func(line)) error {
	chunk := make([]byte, chunkBytes)
	var at int64  // of the chunk
	var last byte // before it
	l := line{blank: true}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := io.ReadFull(r, chunk)
		if at == 0 && bytes.HasPrefix(chunk[:n], []byte(byteOrderMark)) {
			l.start = int64(len(byteOrderMark))
		}
		for rest := chunk[min(n, max(0, int(l.start-at))):n]; len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			text := rest
			if i >= 0 {
				text = rest[:i]
			}
			l.blank = l.blank && len(bytes.Trim(text, blanks)) == 0
			if len(text) > 0 {
				last = text[len(text)-1]
			}
			if i < 0 {
				break
			}
			next := at + int64(n-len(rest)+i+1)
			if l.end = next - 1; last == '\r' && l.end > l.start {
				l.end--
			}
			add(l)
			l, last, rest = line{start: next, blank: true}, '\n', rest[i+1:]
		}
		at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if at > l.start {
				l.end = at
				add(l)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

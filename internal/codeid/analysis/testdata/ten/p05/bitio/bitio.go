// Package bitio reads and writes bits.
package bitio

import (
	"bufio"
	"errors"
	"io"
)

// ErrCode is returned for codes that are too long.
var ErrCode = errors.New("bitio: bad code")

// A Writer writes bits, high ones first.
type Writer struct {
	w   *bufio.Writer
	acc uint64
	n   uint
	err error
}

// NewWriter returns a writer.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriter(w)} }

// Write writes the n low bits of v.
func (w *Writer) Write(v uint64, n uint) {
	if w.err != nil {
		return
	}
	if n > 32 {
		w.err = ErrCode
		return
	}
	w.acc = w.acc<<n | v&(1<<n-1)
	w.n += n
	for w.n >= 8 && w.err == nil {
		w.n -= 8
		w.err = w.w.WriteByte(byte(w.acc >> w.n))
	}
}

// Close writes what is left.
func (w *Writer) Close() error {
	if w.n > 0 {
		w.Write(0, 8-w.n)
	}
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

// A Reader reads bits.
type Reader struct {
	r   io.ByteReader
	acc byte
	n   uint
}

// NewReader returns a reader.
func NewReader(r io.ByteReader) *Reader { return &Reader{r: r} }

// Bit reads one.
func (r *Reader) Bit() (uint, error) {
	if r.n == 0 {
		b, err := r.r.ReadByte()
		if err != nil {
			return 0, err
		}
		r.acc, r.n = b, 8
	}
	r.n--
	return uint(r.acc>>r.n) & 1, nil
}

// Bits reads several.
func (r *Reader) Bits(n uint) (uint64, error) {
	var v uint64
	for range n {
		b, err := r.Bit()
		if err != nil {
			return 0, err
		}
		v = v<<1 | uint64(b)
	}
	return v, nil
}

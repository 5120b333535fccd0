// Package codec compresses.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"programs/p05/copied/crc32"
	"programs/p05/copied/flate"
	"programs/p05/copied/lzw"
)

// A Codec encodes and decodes.
type Codec interface {
	Name() string
	Encode([]byte) ([]byte, error)
	Decode([]byte) ([]byte, error)
}

// ErrChecksum is returned for damaged data.
var ErrChecksum = errors.New("codec: checksum")

var (
	registry = map[string]Codec{}
	castagn  = crc32.MakeTable(crc32.Castagnoli)
	buffers  = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

func register(c Codec) { registry[c.Name()] = c }

func init() {
	register(RLE{})
	register(Huffman{})
	register(LZW{8})
	register(Flate{Level: 6})
}

// Lookup finds a codec; a name such as "rle+huffman" is a chain.
func Lookup(name string) (Codec, error) {
	parts := strings.Split(name, "+")
	if len(parts) > 1 {
		var ch Chain
		for _, p := range parts {
			c, err := Lookup(p)
			if err != nil {
				return nil, err
			}
			ch = append(ch, c)
		}
		return ch, nil
	}
	c, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("codec: unknown %q", name)
	}
	return c, nil
}

// Names lists the codecs.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// RLE is run lengths.
type RLE struct{}

// Name implements Codec.
func (RLE) Name() string { return "rle" }

// Encode implements Codec.
func (RLE) Encode(src []byte) ([]byte, error) {
	var out []byte
	for i := 0; i < len(src); {
		j := i
		for j < len(src) && src[j] == src[i] && j-i < 255 {
			j++
		}
		out = append(out, byte(j-i), src[i])
		i = j
	}
	return out, nil
}

// Decode implements Codec.
func (RLE) Decode(src []byte) ([]byte, error) {
	if len(src)%2 != 0 {
		return nil, io.ErrUnexpectedEOF
	}
	var out []byte
	for p := range slices.Chunk(src, 2) {
		out = append(out, bytes.Repeat(p[1:], int(p[0]))...)
	}
	return out, nil
}

// LZW is that of package lzw.
type LZW struct{ Width int }

// Name implements Codec.
func (LZW) Name() string { return "lzw" }

// Encode implements Codec.
func (l LZW) Encode(src []byte) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer buffers.Put(buf)
	w := lzw.NewWriter(buf, lzw.MSB, l.Width)
	if _, err := w.Write(src); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(buf.Bytes()), nil
}

// Decode implements Codec.
func (l LZW) Decode(src []byte) ([]byte, error) {
	r := lzw.NewReader(bytes.NewReader(src), lzw.MSB, l.Width)
	defer r.Close()
	return io.ReadAll(r)
}

// Flate is that of package flate.
type Flate struct{ Level int }

// Name implements Codec.
func (Flate) Name() string { return "flate" }

// Encode implements Codec.
func (f Flate) Encode(src []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, f.Level)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(w, bytes.NewReader(src)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decode implements Codec.
func (Flate) Decode(src []byte) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(src))
	defer r.Close()
	return io.ReadAll(r)
}

// A Chain is codecs one after another.
type Chain []Codec

// Name implements Codec.
func (c Chain) Name() string {
	names := make([]string, len(c))
	for i, x := range c {
		names[i] = x.Name()
	}
	return strings.Join(names, "+")
}

// Encode implements Codec.
func (c Chain) Encode(b []byte) (_ []byte, err error) {
	for _, x := range c {
		if b, err = x.Encode(b); err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name(), err)
		}
	}
	return b, nil
}

// Decode implements Codec.
func (c Chain) Decode(b []byte) (_ []byte, err error) {
	for _, x := range slices.Backward(c) {
		if b, err = x.Decode(b); err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name(), err)
		}
	}
	return b, nil
}

// A Frame is encoded data with its name and checksum.
type Frame struct {
	Codec string
	Sum   uint32
	Data  []byte
}

// Pack makes a frame.
func Pack(name string, src []byte) (Frame, error) {
	c, err := Lookup(name)
	if err != nil {
		return Frame{}, err
	}
	data, err := c.Encode(src)
	return Frame{c.Name(), crc32.Checksum(src, castagn), data}, err
}

// Unpack checks and decodes.
func (f Frame) Unpack() ([]byte, error) {
	c, err := Lookup(f.Codec)
	if err != nil {
		return nil, err
	}
	b, err := c.Decode(f.Data)
	if err == nil && crc32.Checksum(b, castagn) != f.Sum {
		err = ErrChecksum
	}
	return b, err
}

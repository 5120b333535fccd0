package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// A message reads Parquet's headers and footers in the compact protocol of Thrift. After
// an error it returns only zero values. It allocates memory only for the data it has
// read, whatever sizes are declared.
type message struct {
	b     []byte
	at    int
	depth int
	err   error
}

// The kinds of fields in the compact protocol.
const (
	kindTrue   = 1
	kindFalse  = 2
	kindByte   = 3
	kindI16    = 4
	kindI32    = 5
	kindI64    = 6
	kindDouble = 7
	kindBinary = 8
	kindList   = 9
	kindSet    = 10
	kindMap    = 11
	kindStruct = 12
)

var (
	errShort   = errors.New("truncated")
	errMessage = errors.New("damaged")
)

// maxDepth bounds the nesting of structs and lists.
const maxDepth = 64

func (m *message) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *message) byte() byte {
	if m.err != nil || m.at >= len(m.b) {
		m.fail(errShort)
		return 0
	}
	m.at++
	return m.b[m.at-1]
}

func (m *message) uvarint() uint64 {
	if m.err != nil {
		return 0
	}
	v, n := binary.Uvarint(m.b[m.at:])
	if n <= 0 {
		m.fail(errShort)
		if n < 0 {
			m.err = errMessage
		}
		return 0
	}
	m.at += n
	return v
}

func (m *message) varint() int64 {
	v := m.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// int reads an integer field.
func (m *message) int(kind byte) int64 {
	switch kind {
	case kindByte:
		return int64(int8(m.byte()))
	case kindI16, kindI32, kindI64:
		return m.varint()
	}
	m.fail(errMessage)
	return 0
}

// int32 reads an integer that must fit into 32 bits.
func (m *message) int32(kind byte) int {
	v := m.int(kind)
	if v < math.MinInt32 || v > math.MaxInt32 {
		m.fail(errMessage)
		return 0
	}
	return int(v)
}

func (m *message) bool(kind byte) bool {
	if kind != kindTrue && kind != kindFalse {
		m.fail(errMessage)
	}
	return kind == kindTrue
}

// binary reads bytes, which are shared.
func (m *message) binary(kind byte) []byte {
	if kind != kindBinary {
		m.fail(errMessage)
		return nil
	}
	n := m.uvarint()
	if m.err != nil {
		return nil
	}
	if n > uint64(len(m.b)-m.at) {
		m.fail(errShort)
		return nil
	}
	m.at += int(n)
	return m.b[m.at-int(n) : m.at]
}

// fields calls f for each field of a struct; f reads or skips it.
func (m *message) fields(kind byte, f func(id int, kind byte)) {
	if kind != kindStruct || m.depth >= maxDepth {
		m.fail(errMessage)
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	for id := 0; m.err == nil; {
		head := m.byte()
		if m.err != nil || head == 0 {
			return
		}
		if head>>4 == 0 {
			id = int(m.varint())
		} else {
			id += int(head >> 4)
		}
		f(id, head&15)
	}
}

// list calls f for each element of a list; f reads or skips it.
func (m *message) list(kind byte, f func(kind byte)) {
	if kind != kindList && kind != kindSet || m.depth >= maxDepth {
		m.fail(errMessage)
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	head := m.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = m.uvarint()
	}
	for ; n > 0 && m.err == nil; n-- {
		if k := head & 15; k == kindTrue || k == kindFalse {
			f(m.byte())
		} else {
			f(k)
		}
	}
}

// skip skips a field.
func (m *message) skip(kind byte) {
	switch kind {
	case kindTrue, kindFalse:
	case kindByte, kindI16, kindI32, kindI64:
		m.int(kind)
	case kindDouble:
		for range 8 {
			m.byte()
		}
	case kindBinary:
		m.binary(kind)
	case kindList, kindSet:
		m.list(kind, m.skip)
	case kindStruct:
		m.fields(kind, func(_ int, kind byte) { m.skip(kind) })
	default: // maps, which Parquet does not use
		m.fail(errMessage)
	}
}

// A writing encodes a struct in the compact protocol.
type writing struct {
	b    []byte
	last int // ID of the previous field
}

func (w *writing) head(id int, kind byte) {
	w.b = append(w.b, byte(id-w.last)<<4|kind) // IDs here are never 16 apart
	w.last = id
}

func (w *writing) i32(id, v int)         { w.head(id, kindI32); w.b = binary.AppendVarint(w.b, int64(v)) }
func (w *writing) i64(id int, v int64)   { w.head(id, kindI64); w.b = binary.AppendVarint(w.b, v) }
func (w *writing) i8(id int, v byte)     { w.head(id, kindByte); w.b = append(w.b, v) }
func (w *writing) text(id int, v string) { w.head(id, kindBinary); w.b = appendBinary(w.b, v) }

func (w *writing) bool(id int, v bool) {
	kind := byte(kindFalse)
	if v {
		kind = kindTrue
	}
	w.head(id, kind)
}

func appendBinary(b []byte, v string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// group writes a struct as a field.
func (w *writing) group(id int, fill func(w *writing)) {
	w.head(id, kindStruct)
	w.b = appendStruct(w.b, fill)
}

func appendStruct(b []byte, fill func(w *writing)) []byte {
	w := writing{b: b}
	fill(&w)
	return append(w.b, 0)
}

// list writes a list of n elements of a kind, each appended by add.
func (w *writing) list(id int, kind byte, n int, add func(b []byte, i int) []byte) {
	w.head(id, kindList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|kind)
	} else {
		w.b = binary.AppendUvarint(append(w.b, 15<<4|kind), uint64(n))
	}
	for i := range n {
		w.b = add(w.b, i)
	}
}

package ipc

import (
	"encoding/binary"
	"errors"
)

// A table is a FlatBuffers table, the encoding of Arrow's metadata. Reads never leave
// its bytes: an offset that would do so is damage, recorded in fail for all tables of a
// message.
type table struct {
	b    []byte
	at   uint64
	fail *error
}

var errDamaged = errors.New("damaged")

// rootOf returns the root table of a message.
func rootOf(b []byte) table {
	t := table{b: b, fail: new(error)}
	t.at = uint64(t.u32(0))
	return t
}

func (t table) bytes(at uint64, n uint64) []byte {
	if at > uint64(len(t.b)) || n > uint64(len(t.b))-at {
		*t.fail = errDamaged
		return make([]byte, min(n, 8))
	}
	return t.b[at : at+n]
}

func (t table) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(t.bytes(at, 4)) }

// field returns the position of a field; 0 if it is missing.
func (t table) field(slot int) uint64 {
	vtable := uint64(int64(t.at) - int64(int32(t.u32(t.at))))
	size := uint64(binary.LittleEndian.Uint16(t.bytes(vtable, 2)))
	place := uint64(4 + 2*slot)
	if place+2 > size || *t.fail != nil {
		return 0
	}
	offset := uint64(binary.LittleEndian.Uint16(t.bytes(vtable+place, 2)))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

// int returns an integer of some bytes, or otherwise if it is missing.
func (t table) int(slot, bytes int, otherwise int64) int64 {
	at := t.field(slot)
	if at == 0 {
		return otherwise
	}
	b := t.bytes(at, uint64(bytes))
	switch bytes {
	case 1:
		return int64(b[0])
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (t table) bool(slot int) bool { return t.int(slot, 1, 0) != 0 }

// to follows the offset at a position.
func (t table) to(at uint64) uint64 { return at + uint64(t.u32(at)) }

func (t table) table(slot int) (table, bool) {
	at := t.field(slot)
	if at == 0 {
		return t, false
	}
	return table{t.b, t.to(at), t.fail}, true
}

func (t table) text(slot int) string {
	at := t.field(slot)
	if at == 0 {
		return ""
	}
	at = t.to(at)
	return string(t.bytes(at+4, uint64(t.u32(at))))
}

// structs returns the elements of a vector, of size bytes each, in sequence.
func (t table) structs(slot, size int) []byte {
	at := t.field(slot)
	if at == 0 {
		return nil
	}
	at = t.to(at)
	n := uint64(t.u32(at)) * uint64(size)
	if b := t.bytes(at+4, n); uint64(len(b)) == n {
		return b
	}
	return nil
}

// tables returns the tables of a vector.
func (t table) tables(slot int) (all []table) {
	at := t.field(slot)
	if at == 0 {
		return nil
	}
	at = t.to(at)
	n := uint64(t.u32(at))
	if b := t.bytes(at+4, 4*n); uint64(len(b)) != 4*n {
		return nil
	}
	for i := range n {
		all = append(all, table{t.b, t.to(at + 4 + 4*i), t.fail})
	}
	return all
}

// Package records provides the kinds of records that the engine stores besides
// plain values: bookkeeping about computations, and the computed items of a sample
// as one value ([Encode]).
package records

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// Format names the encoding; a change of the encoding needs a new name.
const Format = "larder parcel 2"

// Type is the type of records that hold parcels.
var Type = xxh3.HashString(Format)

// An Item is the stored form of an item.
type Item struct {
	Key    string
	From   string // not empty: passed on from this key of the input
	Ext    string
	Shared bool
	Digest key.Digest // of Bytes, or zero if they are so few that computing it is faster
	Bytes  []byte
}

const (
	shared = 1 << iota
	passed
	digested
	flags
)

const (
	// Aligned is the size from which on an item is aligned to 64 bytes, so that an
	// array can be used in place.
	Aligned = 1 << 10
	align   = 64
	// MaxBytes bounds an item.
	MaxBytes = 1<<32 - 1
)

// Encode returns the encoding.
func Encode(items []Item) []byte {
	size := binary.MaxVarintLen64
	for _, it := range items {
		size += 64 + len(it.Key) + len(it.From) + len(it.Ext)
		if it.From == "" {
			size += align + len(it.Bytes)
		}
	}
	b := binary.AppendUvarint(make([]byte, 0, size), uint64(len(items)))
	for i := range items {
		b = items[i].appendHead(b)
	}
	var zeros [align]byte
	for _, it := range items {
		if it.From == "" {
			b = append(b, zeros[:padding(len(b), len(it.Bytes))]...)
			b = append(b, it.Bytes...)
		}
	}
	return b
}

// padding returns the number of bytes between pos and an item of this length.
func padding(pos, length int) int {
	if length < Aligned {
		return 0
	}
	return -pos & (align - 1)
}

func (it *Item) appendHead(b []byte) []byte {
	var f byte
	if it.Shared {
		f |= shared
	}
	if it.From != "" {
		return appendText(appendText(append(b, f|passed), it.Key), it.From)
	}
	if !it.Digest.IsZero() {
		f |= digested
	}
	b = appendText(appendText(append(b, f), it.Key), it.Ext)
	if !it.Digest.IsZero() {
		b = append(b, it.Digest[:]...)
	}
	return binary.AppendUvarint(b, uint64(len(it.Bytes)))
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errParcel = errors.New("not a parcel")

// Decode decodes a parcel; the items refer to b. Its length bounds the memory.
func Decode(b []byte) ([]Item, error) {
	r := reader{b: b}
	n := r.number()
	if n > uint64(len(b))/leastItem {
		return nil, errParcel
	}
	items := make([]Item, n)
	var few [8]uint64
	lengths := append(few[:0], make([]uint64, n)...)
	for i := range items {
		lengths[i] = r.head(&items[i])
	}
	for i := range items {
		if items[i].From == "" {
			if lengths[i] > uint64(len(b)) {
				return nil, errParcel
			}
			r.take(uint64(padding(r.pos, int(lengths[i]))))
			items[i].Bytes = r.take(lengths[i])
		}
	}
	if r.bad || r.pos != len(b) {
		return nil, errParcel
	}
	return items, nil
}

// leastItem is the minimum size of an item: flags, a key, an extension or the key
// of the input, and a length or its first byte.
const leastItem = 4

// reader reads from a parcel; after an error it is bad and returns zero values.
type reader struct {
	b   []byte
	pos int
	bad bool
}

// head reads the header of an item, and returns the size of its data.
func (r *reader) head(it *Item) uint64 {
	f := r.take(1)
	if r.bad || f[0] >= flags {
		r.bad = true
		return 0
	}
	it.Shared = f[0]&shared != 0
	it.Key = r.text()
	if f[0]&passed != 0 {
		it.From = r.text()
		r.bad = r.bad || it.From == ""
		return 0
	}
	it.Ext = r.text()
	if f[0]&digested != 0 {
		copy(it.Digest[:], r.take(key.Size))
	}
	return r.number()
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)-r.pos) {
		r.bad = true
		return nil
	}
	b := r.b[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return b
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b[r.pos:])
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.pos += size
	return n
}

func (r *reader) text() string { return string(r.take(r.number())) }

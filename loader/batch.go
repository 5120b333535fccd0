package loader

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/larder-data/larder/array"
)

// A Batch is samples laid out in one piece of memory. It may be read by many goroutines
// until it is released.
type Batch struct {
	Epoch uint64
	// From and To are where it begins and ends in the epoch's order, as in [State].
	From, To int
	// Samples are those that it has, in their order: what is number k of a field is made
	// of Samples[k].
	Samples []Key
	// Padding is how many of them, at the end, are there only to fill up: each of them
	// is another one's, of this or of the last batch.
	Padding int
	// Skipped are those that it should have had, and that could not be read.
	Skipped []Skip
	// Rows say where the samples lie in rows, if they are packed. Fields of form Packed
	// have their pieces in this order.
	Rows   []Row
	Fields []Field
	// Data is the memory of all fields.
	Data []byte

	rooms Rooms
}

// A Skip is a sample that was passed over, as it could not be read.
type Skip struct {
	Key
	Part     string // name of the part
	Epoch    uint64
	Position int // in the epoch's order
	Err      error
}

// Release gives the memory of the batch back. Nothing of it may be looked at afterwards.
// Not to call it is no error: memory from Go is then collected.
func (b *Batch) Release() {
	if b.rooms != nil && b.Data != nil {
		b.rooms.Give(b.Data)
	}
	b.Data, b.rooms = nil, nil
}

// Field returns the field of a name, or an error that lists the names there are.
func (b *Batch) Field(name string) (*Field, error) {
	names := make([]string, len(b.Fields))
	for i := range b.Fields {
		if names[i] = b.Fields[i].Name; names[i] == name {
			return &b.Fields[i], nil
		}
	}
	return nil, fmt.Errorf("no field %q: the batch has %q", name, names)
}

// Array returns a field's array. It shares the memory of the batch.
func (b *Batch) Array(name string) (*array.Array, error) {
	f, err := b.Field(name)
	if err != nil {
		return nil, err
	}
	return b.ArrayOf(&f.Block), nil
}

// ArrayOf returns the array of a block of the batch, whose memory it shares.
func (b *Batch) ArrayOf(block *Block) *array.Array {
	return &array.Array{DType: block.DType, Shape: slices.Clone(block.Shape), Data: block.in(b.Data)}
}

// Pieces returns what each sample has of a field that has Offsets and is not Packed, as
// bytes. They share the memory of the batch.
func (b *Batch) Pieces(name string) ([][]byte, error) {
	f, err := b.Field(name)
	if err != nil {
		return nil, err
	}
	if f.Offsets == nil || f.Form == Packed {
		return nil, fmt.Errorf("field %s is %v and has no pieces", name, f.Form)
	}
	offsets, data := f.Offsets.in(b.Data), f.in(b.Data)
	at := func(i int) int { return int(binary.LittleEndian.Uint64(offsets[8*i:])) * f.DType.Size() }
	pieces := make([][]byte, f.Offsets.Shape[0]-1)
	for i := range pieces {
		pieces[i] = data[at(i):at(i+1):at(i+1)]
	}
	return pieces, nil
}

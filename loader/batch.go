package loader

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/larder-data/larder/array"
)

// A Batch holds samples in one piece of memory. It may be read concurrently
// until it is released.
type Batch struct {
	Epoch uint64
	// From and To are the range of the batch in the epoch's order, as in
	// [State].
	From, To int
	// Samples are the samples of the batch in order: element k of a field comes
	// from Samples[k].
	Samples []Key
	// Padding is the number of samples at the end that only fill up the batch.
	// Each repeats a sample of this or of the last batch.
	Padding int
	// Skipped are the samples that are missing because they could not be read.
	Skipped []Skip
	// Rows are the positions of packed samples in rows. Fields of collation Packed
	// have their pieces in this order.
	Rows   []Row
	Fields []Field
	// Data is the memory of all fields.
	Data []byte

	allocator Allocator
}

// A Skip is a sample that was skipped because it could not be read.
type Skip struct {
	Key
	Part     string // name of the part
	Epoch    uint64
	Position int // in the epoch's order
	Err      error
}

// Release frees the memory of the batch, which must not be read afterwards.
// Calling it is optional: otherwise the garbage collector frees memory of Go.
func (b *Batch) Release() {
	if b.allocator != nil && b.Data != nil {
		b.allocator.Free(b.Data)
	}
	b.Data, b.allocator = nil, nil
}

// Field returns the field with a name, or an error that lists the names.
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

// ArrayOf returns the array of a block of the batch. It shares the memory of
// the batch.
func (b *Batch) ArrayOf(block *Block) *array.Array {
	return &array.Array{DType: block.DType, Shape: slices.Clone(block.Shape), Data: block.in(b.Data)}
}

// Pieces returns the bytes of each sample in a field that has Offsets and is
// not Packed. They share the memory of the batch.
func (b *Batch) Pieces(name string) ([][]byte, error) {
	f, err := b.Field(name)
	if err != nil {
		return nil, err
	}
	if f.Offsets == nil || f.Collation == Packed {
		return nil, fmt.Errorf("field %s is %v and has no pieces", name, f.Collation)
	}
	offsets, data := f.Offsets.in(b.Data), f.in(b.Data)
	at := func(i int) int { return int(binary.LittleEndian.Uint64(offsets[8*i:])) * f.DType.Size() }
	pieces := make([][]byte, f.Offsets.Shape[0]-1)
	for i := range pieces {
		pieces[i] = data[at(i):at(i+1):at(i+1)]
	}
	return pieces, nil
}

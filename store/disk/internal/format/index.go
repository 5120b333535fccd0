package format

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"
)

// An index file saves a scan of its pack. It begins with a header:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest
//	16 8 id of the pack
//	24 8 bytes of the pack that are covered
//	32 8 number of slots
//
// Slots of 40 bytes follow, in the order of the pack. They hold entries:
//
//	 0 8 fingerprint of the key
//	 8 8 stamp
//	16 8 bytes of the blob, 0 for none
//	24 4 offset, in units of 8 bytes
//	28 4 bytes of header and inline payload; bit 31: blob, bit 30: tombstone, both: group
//	32 4 bytes of the record, in units of 8 bytes
//	36 4 how often Collect moved it
//
// An entry of a group has the number of members in place of the fingerprint. In place of
// the bytes of a blob it has 1 if the members have their own stamps. The next slots hold
// the fingerprints of the members, 8 bytes each. Each is followed by its own stamp if it
// has one. Zeros fill the last slot.
const (
	indexMagic      = "LARDIDX\x01"
	indexHeaderSize = 40
	EntrySize       = 40
	MaxIndex        = 1 << 30 // bytes of an index file
)

// EncodeIndex returns the index of the first covered bytes of a pack, whose records are
// entries, in their order.
func EncodeIndex(pack uint64, covered int64, entries []Entry) []byte {
	le := binary.LittleEndian
	b := make([]byte, indexHeaderSize, indexHeaderSize+EntrySize*len(entries))
	copy(b, indexMagic)
	le.PutUint64(b[16:], pack)
	le.PutUint64(b[24:], uint64(covered))
	for len(entries) > 0 {
		if !entries[0].IsGroup() {
			b = appendEntry(b, &entries[0])
			entries = entries[1:]
			continue
		}
		n := SameRecord(entries)
		b = appendMembers(b, entries[:n])
		entries = entries[n:]
	}
	le.PutUint64(b[32:], uint64((len(b)-indexHeaderSize)/EntrySize))
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

func appendEntry(b []byte, e *Entry) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, e.FP)
	b = le.AppendUint64(b, uint64(e.Stamp))
	b = le.AppendUint64(b, e.Blob)
	b = le.AppendUint32(b, e.Off)
	b = le.AppendUint32(b, e.Read)
	b = le.AppendUint32(b, e.Length)
	return le.AppendUint32(b, e.Moves)
}

// appendMembers appends the entries of a group.
func appendMembers(b []byte, members []Entry) []byte {
	le := binary.LittleEndian
	group := members[0]
	group.FP = uint64(len(members))
	own := ownStamps(members)
	if own {
		group.Blob = 1
	}
	from := len(b)
	b = appendEntry(b, &group)
	for i := range members {
		b = le.AppendUint64(b, members[i].FP)
		if own {
			b = le.AppendUint64(b, uint64(members[i].Stamp))
		}
	}
	return append(b, make([]byte, memberSlots(len(members), own)*EntrySize-(len(b)-from))...)
}

// ListedSize returns the size of the entries of one record in an index.
func ListedSize(entries []Entry) int64 {
	if !entries[0].IsGroup() {
		return EntrySize
	}
	return int64(memberSlots(len(entries), ownStamps(entries))) * EntrySize
}

// ownStamps reports whether members have their own stamps.
func ownStamps(members []Entry) bool {
	return slices.ContainsFunc(members, func(e Entry) bool { return e.Stamp != members[0].Stamp })
}

// memberSlots returns how many slots the members of a group take.
func memberSlots(members int, own bool) int {
	each := 8
	if own {
		each = 16
	}
	return 1 + (members*each+EntrySize-1)/EntrySize
}

// decodeIndex reads the index of a pack of size bytes, without the entries of records
// before from.
func decodeIndex(b []byte, pack uint64, size, from int64) (entries []Entry, covered int64, err error) {
	le := binary.LittleEndian
	if len(b) < indexHeaderSize || string(b[:len(indexMagic)]) != indexMagic || le.Uint64(b[8:]) != xxh3.Hash(b[16:]) {
		return nil, 0, fmt.Errorf("%w: bad checksum", ErrDamaged)
	}
	n := (len(b) - indexHeaderSize) / EntrySize
	covered = int64(le.Uint64(b[24:]))
	switch {
	case le.Uint64(b[16:]) != pack:
		return nil, 0, fmt.Errorf("%w: it belongs to another pack", ErrDamaged)
	case le.Uint64(b[32:]) != uint64(n) || len(b) != indexHeaderSize+n*EntrySize:
		return nil, 0, fmt.Errorf("%w: wrong number of entries", ErrDamaged)
	case covered < 0 || covered%align != 0 || covered > min(size, MaxPack):
		return nil, 0, fmt.Errorf("%w: the pack is shorter than in its index", ErrDamaged)
	}
	b = b[indexHeaderSize:]
	if from == 0 {
		entries = make([]Entry, 0, n)
	}
	for end := int64(0); len(b) > 0; {
		e := decodeEntry(b)
		if e.Offset() < end {
			return nil, 0, fmt.Errorf("%w: entries overlap", ErrDamaged)
		}
		end = e.Offset() + e.Bytes()
		if e.ReadSize() < HeaderSize || e.Offset()+e.Bytes() > covered || int64(e.ReadSize()) > e.Bytes() {
			return nil, 0, fmt.Errorf("%w: an entry lies outside the pack", ErrDamaged)
		}
		slots := 1
		if e.IsGroup() {
			if e.FP > MaxMembers || e.Blob > 1 || memberSlots(int(e.FP), e.Blob == 1)*EntrySize > len(b) {
				return nil, 0, fmt.Errorf("%w: a group lies outside the index", ErrDamaged)
			}
			slots = memberSlots(int(e.FP), e.Blob == 1)
		}
		switch {
		case e.Offset() < from:
		case e.IsGroup():
			entries = decodeMembers(entries, e, b[EntrySize:])
		default:
			entries = append(entries, e)
		}
		b = b[slots*EntrySize:]
	}
	return entries, covered, nil
}

func decodeEntry(b []byte) Entry {
	le := binary.LittleEndian
	return Entry{
		FP:     le.Uint64(b),
		Stamp:  int64(le.Uint64(b[8:])),
		Blob:   le.Uint64(b[16:]),
		Place:  Place{Off: le.Uint32(b[24:]), Read: le.Uint32(b[28:])},
		Length: le.Uint32(b[32:]),
		Moves:  le.Uint32(b[36:]),
	}
}

// decodeMembers appends the entries of the members of a group, whose fingerprints are at
// the start of b.
func decodeMembers(entries []Entry, group Entry, b []byte) []Entry {
	le := binary.LittleEndian
	one := group
	one.Blob = 0
	for range group.FP {
		one.FP = le.Uint64(b)
		b = b[8:]
		if group.Blob == 1 {
			one.Stamp = int64(le.Uint64(b))
			b = b[8:]
		}
		entries = append(entries, one)
	}
	return entries
}

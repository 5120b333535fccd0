package disk

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"
)

// An index file spares a scan of its pack. It begins with a header:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest
//	16 8 id of the pack
//	24 8 bytes of the pack that are covered
//	32 8 number of slots
//
// and goes on with slots of 40 bytes, in the order of the pack: entries,
//
//	 0 8 fingerprint of the key
//	 8 8 stamp
//	16 8 bytes of the blob, 0 for none
//	24 4 offset, in units of 8 bytes
//	28 4 bytes of header and inline payload; bit 31: blob, bit 30: tombstone, both: group
//	32 4 bytes of the record, in units of 8 bytes
//	36 4 how often Collect moved it
//
// An entry of a group has the number of members in place of the fingerprint, and
// in place of the bytes of a blob 1 if they have stamps of their own. Then slots
// follow with the fingerprints of the members, 8 bytes each, behind each one its
// stamp if it has one of its own, and zeros to the end of the last.
const (
	indexMagic      = "LARDIDX\x01"
	indexHeaderSize = 40
	entrySize       = 40
	maxIndexFile    = 1 << 30
)

func encodeIndex(pack uint64, covered int64, entries []entry) []byte {
	le := binary.LittleEndian
	b := make([]byte, indexHeaderSize, indexHeaderSize+entrySize*len(entries))
	copy(b, indexMagic)
	le.PutUint64(b[16:], pack)
	le.PutUint64(b[24:], uint64(covered))
	for len(entries) > 0 {
		if !entries[0].isGroup() {
			b = appendEntry(b, &entries[0])
			entries = entries[1:]
			continue
		}
		n := sameRecord(entries)
		b = appendMembers(b, entries[:n])
		entries = entries[n:]
	}
	le.PutUint64(b[32:], uint64((len(b)-indexHeaderSize)/entrySize))
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

func appendEntry(b []byte, e *entry) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, e.fp)
	b = le.AppendUint64(b, uint64(e.stamp))
	b = le.AppendUint64(b, e.blob)
	b = le.AppendUint32(b, e.off)
	b = le.AppendUint32(b, e.read)
	b = le.AppendUint32(b, e.length)
	return le.AppendUint32(b, e.moves)
}

// appendMembers writes the entries of a group.
func appendMembers(b []byte, members []entry) []byte {
	le := binary.LittleEndian
	group := members[0]
	group.fp = uint64(len(members))
	own := ownStamps(members)
	if own {
		group.blob = 1
	}
	from := len(b)
	b = appendEntry(b, &group)
	for i := range members {
		b = le.AppendUint64(b, members[i].fp)
		if own {
			b = le.AppendUint64(b, uint64(members[i].stamp))
		}
	}
	return append(b, make([]byte, memberSlots(len(members), own)*entrySize-(len(b)-from))...)
}

// listedSize is what the entries of one record take in an index.
func listedSize(entries []entry) int64 {
	if !entries[0].isGroup() {
		return entrySize
	}
	return int64(memberSlots(len(entries), ownStamps(entries))) * entrySize
}

// ownStamps reports whether members have stamps of their own.
func ownStamps(members []entry) bool {
	return slices.ContainsFunc(members, func(e entry) bool { return e.stamp != members[0].stamp })
}

// memberSlots is how many slots a group takes.
func memberSlots(members int, own bool) int {
	each := 8
	if own {
		each = 16
	}
	return 1 + (members*each+entrySize-1)/entrySize
}

// decodeIndex reads the index of a pack that is size bytes long, but for the
// entries of records before from.
func decodeIndex(b []byte, pack uint64, size, from int64) (entries []entry, covered int64, err error) {
	le := binary.LittleEndian
	if len(b) < indexHeaderSize || string(b[:len(indexMagic)]) != indexMagic || le.Uint64(b[8:]) != xxh3.Hash(b[16:]) {
		return nil, 0, fmt.Errorf("%w: bad checksum", errDamaged)
	}
	n := (len(b) - indexHeaderSize) / entrySize
	covered = int64(le.Uint64(b[24:]))
	switch {
	case le.Uint64(b[16:]) != pack:
		return nil, 0, fmt.Errorf("%w: it belongs to another pack", errDamaged)
	case le.Uint64(b[32:]) != uint64(n) || len(b) != indexHeaderSize+n*entrySize:
		return nil, 0, fmt.Errorf("%w: wrong number of entries", errDamaged)
	case covered < 0 || covered%align != 0 || covered > min(size, maxPack):
		return nil, 0, fmt.Errorf("%w: the pack is shorter than its index says", errDamaged)
	}
	b = b[indexHeaderSize:]
	if from == 0 {
		entries = make([]entry, 0, n)
	}
	for len(b) > 0 {
		e := decodeEntry(b)
		if e.readSize() < headerSize || e.offset()+e.bytes() > covered || int64(e.readSize()) > e.bytes() {
			return nil, 0, fmt.Errorf("%w: an entry lies outside the pack", errDamaged)
		}
		slots := 1
		if e.isGroup() {
			if e.fp > maxMembers || e.blob > 1 || memberSlots(int(e.fp), e.blob == 1)*entrySize > len(b) {
				return nil, 0, fmt.Errorf("%w: a group lies outside the index", errDamaged)
			}
			slots = memberSlots(int(e.fp), e.blob == 1)
		}
		switch {
		case e.offset() < from:
		case e.isGroup():
			entries = decodeMembers(entries, e, b[entrySize:])
		default:
			entries = append(entries, e)
		}
		b = b[slots*entrySize:]
	}
	return entries, covered, nil
}

func decodeEntry(b []byte) entry {
	le := binary.LittleEndian
	return entry{
		fp:     le.Uint64(b),
		stamp:  int64(le.Uint64(b[8:])),
		blob:   le.Uint64(b[16:]),
		place:  place{off: le.Uint32(b[24:]), read: le.Uint32(b[28:])},
		length: le.Uint32(b[32:]),
		moves:  le.Uint32(b[36:]),
	}
}

// decodeMembers appends the entries of the members of a group, whose fingerprints
// b begins with.
func decodeMembers(entries []entry, group entry, b []byte) []entry {
	le := binary.LittleEndian
	one := group
	one.blob = 0
	for range group.fp {
		one.fp = le.Uint64(b)
		b = b[8:]
		if group.blob == 1 {
			one.stamp = int64(le.Uint64(b))
			b = b[8:]
		}
		entries = append(entries, one)
	}
	return entries
}

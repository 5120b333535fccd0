package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// A merged index holds the positions of the latest records of many packs. Processes map its
// file: opening a store reads the list of packs, and all processes share the memory of the
// rest. It begins with a header:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest of the header, the packs and the directory
//	16 8 highest stamp
//	24 8 number of packs
//	32 8 number of entries
//	40 8 bits of the directory
//
// Packs of 32 bytes follow:
//
//	 0 8 id
//	 8 8 bytes of the pack that are covered
//	16 8 bytes of the blobs of the records there
//	24 8 number of entries of the pack
//
// Then a directory: for each prefix of a fingerprint with that many bits, the number of the
// first entry with it, and last the number of entries, in 4 bytes each. Last are entries of
// 24 bytes, ordered by fingerprint:
//
//	 0 8 fingerprint of the key
//	 8 4 number of the pack, in the order above
//	12 4 offset, in units of 8 bytes
//	16 4 bytes of header and inline payload; bit 31: blob, bit 30: tombstone, both: group
//	20 4 low half of the XXH3 of these 20 bytes
//
// A newer record in a pack or part of a pack that is not covered takes precedence. Entries
// of packs that are gone do not count.
const (
	mergedMagic      = "LARDMRG\x01"
	mergedHeaderSize = 48
	mergedPackSize   = 32
	MergedEntrySize  = 24
	// perBucket is how many entries share a prefix, on average and at most.
	perBucket      = 8
	maxDirBits     = 27
	directoryEntry = 4 // bytes of an entry of the directory
	// MergedCost bounds the size of an entry with its part of the directory.
	MergedCost = MergedEntrySize + 2*directoryEntry/perBucket
)

// A MergedPack describes a pack in a merged index.
type MergedPack struct {
	ID      uint64
	Covered int64  // bytes of it whose records are known
	Blobs   uint64 // bytes of the blobs of the records there
	Entries uint64
}

// A Merged is a merged index, in the bytes of its file.
type Merged struct {
	head      []byte
	Latest    int64 // the highest stamp
	Packs     []MergedPack
	bits      uint64
	directory []byte
	entries   []byte
	damaged   atomic.Bool
}

// DecodeMerged reads all but the entries, which are checked when they are used: b must not
// change.
func DecodeMerged(b []byte) (*Merged, error) {
	le := binary.LittleEndian
	if len(b) < mergedHeaderSize || string(b[:len(mergedMagic)]) != mergedMagic {
		return nil, fmt.Errorf("%w: not a merged index", ErrDamaged)
	}
	m := &Merged{head: b[:mergedHeaderSize], Latest: int64(le.Uint64(b[16:])), bits: le.Uint64(b[40:])}
	packs, entries := le.Uint64(b[24:]), le.Uint64(b[32:])
	n := uint64(len(b))
	if packs > n/mergedPackSize || entries > n/MergedEntrySize || entries > 1<<32-1 || m.bits > maxDirBits {
		return nil, fmt.Errorf("%w: wrong lengths", ErrDamaged)
	}
	directory := mergedHeaderSize + packs*mergedPackSize
	first := directory + (1<<m.bits+1)*directoryEntry
	if first+entries*MergedEntrySize != n {
		return nil, fmt.Errorf("%w: wrong lengths", ErrDamaged)
	}
	if err := CheckZeros(b[:first]); err != nil {
		return nil, err
	}
	if le.Uint64(b[8:]) != xxh3.Hash(b[16:first]) {
		return nil, fmt.Errorf("%w: bad checksum", ErrDamaged)
	}
	m.directory, m.entries = b[directory:first], b[first:]
	for from := b[mergedHeaderSize:directory]; len(from) > 0; from = from[mergedPackSize:] {
		p := MergedPack{le.Uint64(from), int64(le.Uint64(from[8:])), le.Uint64(from[16:]), le.Uint64(from[24:])}
		if p.Covered < 0 || p.Covered%align != 0 || p.Covered > MaxPack {
			return nil, fmt.Errorf("%w: a pack cannot be as long", ErrDamaged)
		}
		m.Packs = append(m.Packs, p)
	}
	return m, nil
}

// encodeHead returns the bytes before the entries.
func (m *Merged) encodeHead(entries uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, mergedHeaderSize, mergedHeaderSize+len(m.Packs)*mergedPackSize+len(m.directory))
	copy(b, mergedMagic)
	le.PutUint64(b[16:], uint64(m.Latest))
	le.PutUint64(b[24:], uint64(len(m.Packs)))
	le.PutUint64(b[32:], entries)
	le.PutUint64(b[40:], m.bits)
	for _, p := range m.Packs {
		for _, v := range [...]uint64{p.ID, uint64(p.Covered), p.Blobs, p.Entries} {
			b = le.AppendUint64(b, v)
		}
	}
	b = append(b, m.directory...)
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

// appendMergedEntry appends an entry; at.Pack is the position in the list.
func appendMergedEntry(b []byte, fp uint64, at Place) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, fp)
	b = le.AppendUint32(b, at.Pack)
	b = le.AppendUint32(b, at.Off)
	b = le.AppendUint32(b, at.Read)
	return le.AppendUint32(b, uint32(xxh3.Hash(b[len(b)-20:])))
}

// directoryBits returns how many bits suffice to find an entry among n in a few steps.
func directoryBits(n int) uint64 {
	return uint64(min(bits.Len(uint(n/perBucket)), maxDirBits))
}

// MergedSize returns the size of a merged index of packs, without MergedCost for each
// entry.
func MergedSize(packs int) int64 { return mergedHeaderSize + int64(packs)*mergedPackSize }

func (m *Merged) bucket(fp uint64) uint64 { return fp >> (64 - m.bits) }

// Same reports whether m is the same index as other, which was read at another time.
func (m *Merged) Same(other *Merged) bool { return bytes.Equal(m.head, other.head) }

// IsDamaged reports whether a damaged entry was found.
func (m *Merged) IsDamaged() bool { return m.damaged.Load() }

// Len returns the number of entries.
func (m *Merged) Len() int { return len(m.entries) / MergedEntrySize }

// Entry returns entry i, whose pack is a position in packs. It returns false for a damaged
// entry.
func (m *Merged) Entry(i int) (l Located, ok bool) {
	le := binary.LittleEndian
	b := m.entries[i*MergedEntrySize:][:MergedEntrySize]
	l.FP = le.Uint64(b)
	l.Place = Place{Pack: le.Uint32(b[8:]), Off: le.Uint32(b[12:]), Read: le.Uint32(b[16:])}
	ok = le.Uint32(b[20:]) == uint32(xxh3.Hash(b[:20])) && uint64(l.Pack) < uint64(len(m.Packs)) &&
		l.ReadSize() >= HeaderSize && l.Offset()+int64(l.ReadSize()) <= m.Packs[l.Pack].Covered
	if !ok {
		m.damaged.Store(true)
	}
	return l, ok
}

// Find returns the position of the record of fp; its pack is a position in packs.
func (m *Merged) Find(fp uint64) (Place, bool) {
	le := binary.LittleEndian
	to := m.directory[m.bucket(fp)*directoryEntry:]
	from, end := int(le.Uint32(to)), int(le.Uint32(to[directoryEntry:]))
	if end > m.Len() || from > end {
		m.damaged.Store(true)
		return Place{}, false
	}
	for i := from; i < end; i++ {
		if le.Uint64(m.entries[i*MergedEntrySize:]) == fp {
			l, ok := m.Entry(i)
			return l.Place, ok
		}
	}
	// A damaged fingerprint looks like a missing one.
	for i := from; i < end; i++ {
		m.Entry(i)
	}
	return Place{}, false
}

// Position returns the position of a pack in the list, if it is there.
func (m *Merged) Position(id uint64) (i int, ok bool) {
	i = slices.IndexFunc(m.Packs, func(p MergedPack) bool { return p.ID == id })
	return i, i >= 0
}

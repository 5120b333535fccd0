package disk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// A merged index says where the latest records of many packs are. Processes
// map its file: whoever opens a store reads the list of packs, and all share
// the memory of the rest. It begins with a header:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest of the header, the packs and the directory
//	16 8 highest stamp
//	24 8 number of packs
//	32 8 number of entries
//	40 8 bits of the directory
//
// and goes on with packs of 32 bytes:
//
//	 0 8 id
//	 8 8 bytes of the pack that are covered
//	16 8 bytes of the blobs of the records there
//	24 8 number of entries of the pack
//
// a directory: for each beginning of a fingerprint of so many bits, the number
// of the first entry that has it, and last the number of entries, in 4 bytes
// each; and entries of 24 bytes, ordered by fingerprint:
//
//	 0 8 fingerprint of the key
//	 8 4 number of the pack, in the order above
//	12 4 offset, in units of 8 bytes
//	16 4 bytes of header and inline payload; bit 31: blob, bit 30: tombstone, both: group
//	20 4 low half of the XXH3 of these 20 bytes
//
// A newer record in a pack that is not covered, or behind what is covered,
// counts more. Packs that are gone count nothing.
const (
	mergedMagic      = "LARDMRG\x01"
	mergedHeaderSize = 48
	mergedPackSize   = 32
	mergedEntrySize  = 24
	// perBucket is how many entries begin alike, on average and at most.
	perBucket      = 8
	maxDirBits     = 27
	directoryEntry = 4 // bytes of an entry of the directory
	// mergedCost bounds what an entry takes, with its part of the directory.
	mergedCost = mergedEntrySize + 2*directoryEntry/perBucket
)

// A mergedPack is what a merged index says of a pack.
type mergedPack struct {
	id      uint64
	covered int64  // bytes of it
	blobs   uint64 // bytes of the blobs of the records there
	entries uint64
}

// A merged is a merged index, as its file holds it.
type merged struct {
	head      []byte
	latest    int64 // the highest stamp
	packs     []mergedPack
	bits      uint64
	directory []byte
	entries   []byte
	damaged   atomic.Bool
}

// decodeMerged reads all but the entries, which are checked when looked at: b must
// not change.
func decodeMerged(b []byte) (*merged, error) {
	le := binary.LittleEndian
	if len(b) < mergedHeaderSize || string(b[:len(mergedMagic)]) != mergedMagic {
		return nil, fmt.Errorf("%w: not a merged index", errDamaged)
	}
	m := &merged{head: b[:mergedHeaderSize], latest: int64(le.Uint64(b[16:])), bits: le.Uint64(b[40:])}
	packs, entries := le.Uint64(b[24:]), le.Uint64(b[32:])
	n := uint64(len(b))
	if packs > n/mergedPackSize || entries > n/mergedEntrySize || entries > 1<<32-1 || m.bits > maxDirBits {
		return nil, fmt.Errorf("%w: wrong lengths", errDamaged)
	}
	directory := mergedHeaderSize + packs*mergedPackSize
	first := directory + (1<<m.bits+1)*directoryEntry
	if first+entries*mergedEntrySize != n {
		return nil, fmt.Errorf("%w: wrong lengths", errDamaged)
	}
	if le.Uint64(b[8:]) != xxh3.Hash(b[16:first]) {
		return nil, fmt.Errorf("%w: bad checksum", errDamaged)
	}
	m.directory, m.entries = b[directory:first], b[first:]
	for from := b[mergedHeaderSize:directory]; len(from) > 0; from = from[mergedPackSize:] {
		p := mergedPack{le.Uint64(from), int64(le.Uint64(from[8:])), le.Uint64(from[16:]), le.Uint64(from[24:])}
		if p.covered < 0 || p.covered%align != 0 || p.covered > maxPack {
			return nil, fmt.Errorf("%w: a pack cannot be as long", errDamaged)
		}
		m.packs = append(m.packs, p)
	}
	return m, nil
}

// encodeHead returns what comes before the entries.
func (m *merged) encodeHead(entries uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, mergedHeaderSize, mergedHeaderSize+len(m.packs)*mergedPackSize+len(m.directory))
	copy(b, mergedMagic)
	le.PutUint64(b[16:], uint64(m.latest))
	le.PutUint64(b[24:], uint64(len(m.packs)))
	le.PutUint64(b[32:], entries)
	le.PutUint64(b[40:], m.bits)
	for _, p := range m.packs {
		for _, v := range [...]uint64{p.id, uint64(p.covered), p.blobs, p.entries} {
			b = le.AppendUint64(b, v)
		}
	}
	b = append(b, m.directory...)
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

// appendMergedEntry writes an entry; at.pack is the position in the list.
func appendMergedEntry(b []byte, fp uint64, at place) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, fp)
	b = le.AppendUint32(b, at.pack)
	b = le.AppendUint32(b, at.off)
	b = le.AppendUint32(b, at.read)
	return le.AppendUint32(b, uint32(xxh3.Hash(b[len(b)-20:])))
}

// directoryBits returns how many bits find the entry among n in a few steps.
func directoryBits(n int) uint64 {
	return uint64(min(bits.Len(uint(n/perBucket)), maxDirBits))
}

// mergedSize is what a merged index of so many packs takes, without mergedCost for
// each entry.
func mergedSize(packs int) int64 { return mergedHeaderSize + int64(packs)*mergedPackSize }

func (m *merged) bucket(fp uint64) uint64 { return fp >> (64 - m.bits) }

// same reports whether m is the same index as other, which was read at another
// time.
func (m *merged) same(other *merged) bool { return bytes.Equal(m.head, other.head) }

// isDamaged reports whether an entry was found that is not what was written.
func (m *merged) isDamaged() bool { return m.damaged.Load() }

// len is how many entries there are.
func (m *merged) len() int { return len(m.entries) / mergedEntrySize }

// entry returns entry i, whose pack is a position in packs. An entry that is not
// what was written is not ok.
func (m *merged) entry(i int) (l located, ok bool) {
	le := binary.LittleEndian
	b := m.entries[i*mergedEntrySize:][:mergedEntrySize]
	l.fp = le.Uint64(b)
	l.place = place{pack: le.Uint32(b[8:]), off: le.Uint32(b[12:]), read: le.Uint32(b[16:])}
	ok = le.Uint32(b[20:]) == uint32(xxh3.Hash(b[:20])) && uint64(l.pack) < uint64(len(m.packs)) &&
		l.readSize() >= headerSize && l.offset()+int64(l.readSize()) <= m.packs[l.pack].covered
	if !ok {
		m.damaged.Store(true)
	}
	return l, ok
}

// find returns where the record of fp is, in a pack that is a position in packs.
func (m *merged) find(fp uint64) (place, bool) {
	le := binary.LittleEndian
	to := m.directory[m.bucket(fp)*directoryEntry:]
	from, end := int(le.Uint32(to)), int(le.Uint32(to[directoryEntry:]))
	if end > m.len() || from > end {
		m.damaged.Store(true)
		return place{}, false
	}
	for i := from; i < end; i++ {
		if le.Uint64(m.entries[i*mergedEntrySize:]) == fp {
			l, ok := m.entry(i)
			return l.place, ok
		}
	}
	// A fingerprint that was damaged looks like one that is missing.
	for i := from; i < end; i++ {
		m.entry(i)
	}
	return place{}, false
}

// position returns where a pack stands in the list, if it does.
func (m *merged) position(id uint64) (i int, ok bool) {
	i = slices.IndexFunc(m.packs, func(p mergedPack) bool { return p.id == id })
	return i, i >= 0
}

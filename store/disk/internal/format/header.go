// Package format reads and writes the bytes of the files of a store: packs, indexes,
// touches and manifests. docs/internals/store.md specifies them. It checks what it reads
// and returns ErrDamaged if a check fails. It uses only an io.ReaderAt, no files, paths or
// locks.
package format

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// A record in a pack is a header of HeaderSize bytes, the payload unless it is in a blob,
// the provenance, and zeros up to a multiple of 8 bytes. Small records that were put
// together are one record, a group: see MaxMembers. Numbers are little-endian. The header:
//
//	 0  8 magic
//	 8  8 XXH3 of bytes 16 to 152, seeded with the pack's id and the offset
//	16  1 kind
//	17 33 key
//	50 33 key linked to, or digest of the blob
//	83  5 zero
//	88  8 type
//	96  8 bytes of payload
//	104 8 XXH3 of the payload
//	112 8 XXH3 of the provenance
//	120 8 cost, ns
//	128 8 created, ns since 1970
//	136 8 stamp: orders records of one key; about when it was written, ns
//	144 4 bytes of provenance
//	148 4 how often Collect moved it
//
// The seed makes a record valid only at its own position, so a pack stored as a payload is
// not mistaken for records.
const (
	magic         = "LARDREC\x01"
	HeaderSize    = 152
	align         = 8
	MaxInline     = 512 << 20 // bytes of a payload in a pack
	MaxProvenance = 16 << 20  // bytes of a provenance
	MaxPack       = 1 << 30   // bytes of a pack: no record ends after it
)

// Kinds of record.
const (
	KindInline    byte = iota // the payload follows the header
	KindBlob                  // the payload is a blob
	KindLink                  // no payload, but another key
	KindTombstone             // earlier records of the key are deleted
	KindGroup                 // the payload is many small records, its members
	kinds
)

// A Header holds the fields before a record's payload.
type Header struct {
	Kind           byte
	Key            key.Key
	Ref            [key.Size]byte // the key linked to, or the digest of the blob
	Type           uint64
	Size           uint64 // of the payload, in bytes
	Sum            uint64 // of the payload
	ProvenanceSum  uint64
	Cost           int64 // ns
	Created        int64 // ns since 1970
	Stamp          int64 // of two records of a key, the higher one counts
	ProvenanceSize uint32
	Moves          uint32 // how often Collect moved it
}

// ErrDamaged reports bytes that differ from those written, and ErrNoRecord bytes of a pack
// that are not a record at all.
var (
	ErrDamaged  = errors.New("damaged")
	ErrNoRecord = fmt.Errorf("%w: no record begins here", ErrDamaged)
)

// inline returns the number of bytes of payload in the pack.
func (h *Header) inline() int64 {
	if h.Kind == KindInline || h.Kind == KindGroup {
		return int64(h.Size)
	}
	return 0
}

// Seal fills in the lengths and checksums of the payload and provenance.
func (h *Header) Seal(payload, provenance []byte) {
	h.ProvenanceSize, h.ProvenanceSum = uint32(len(provenance)), xxh3.Hash(provenance)
	if h.Kind == KindInline || h.Kind == KindGroup {
		h.Size, h.Sum = uint64(len(payload)), xxh3.Hash(payload)
	}
}

// ReadSize returns how many bytes a reader of the value needs: header and inline payload.
func (h *Header) ReadSize() int64 { return HeaderSize + h.inline() }

// Length returns the size of the whole record in bytes, a multiple of 8.
func (h *Header) Length() int64 { return roundUp(h.ReadSize() + int64(h.ProvenanceSize)) }

func roundUp(n int64) int64 { return (n + align - 1) &^ (align - 1) }

func seed(pack uint64, off int64) uint64 { return pack + uint64(off) }

// encodeHead writes h to the first HeaderSize bytes of b.
func (h *Header) encodeHead(b []byte, pack uint64, off int64) {
	b = b[:HeaderSize]
	clear(b)
	le := binary.LittleEndian
	copy(b, magic)
	b[16] = h.Kind
	copy(b[17:], h.Key[:])
	copy(b[50:], h.Ref[:])
	le.PutUint64(b[88:], h.Type)
	le.PutUint64(b[96:], h.Size)
	le.PutUint64(b[104:], h.Sum)
	le.PutUint64(b[112:], h.ProvenanceSum)
	le.PutUint64(b[120:], uint64(h.Cost))
	le.PutUint64(b[128:], uint64(h.Created))
	le.PutUint64(b[136:], uint64(h.Stamp))
	le.PutUint32(b[144:], h.ProvenanceSize)
	le.PutUint32(b[148:], h.Moves)
	le.PutUint64(b[8:], xxh3.HashSeed(b[16:], seed(pack, off)))
}

// Encode writes the record, with an inline payload, to b, which has h.Length() bytes.
func (h *Header) Encode(b []byte, pack uint64, off int64, payload, provenance []byte) {
	h.encodeHead(b, pack, off)
	at := HeaderSize + copy(b[HeaderSize:], payload)
	at += copy(b[at:], provenance)
	clear(b[at:])
}

// decode reads a header from the first HeaderSize bytes of b. It returns false for bytes
// that are not a record of this pack at this offset.
func (h *Header) decode(b []byte, pack uint64, off int64) bool {
	b = b[:HeaderSize]
	le := binary.LittleEndian
	if string(b[:len(magic)]) != magic || le.Uint64(b[8:]) != xxh3.HashSeed(b[16:], seed(pack, off)) {
		return false
	}
	h.Kind = b[16]
	copy(h.Key[:], b[17:])
	copy(h.Ref[:], b[50:])
	h.Type = le.Uint64(b[88:])
	h.Size = le.Uint64(b[96:])
	h.Sum = le.Uint64(b[104:])
	h.ProvenanceSum = le.Uint64(b[112:])
	h.Cost = int64(le.Uint64(b[120:]))
	h.Created = int64(le.Uint64(b[128:]))
	h.Stamp = int64(le.Uint64(b[136:]))
	h.ProvenanceSize = le.Uint32(b[144:])
	h.Moves = le.Uint32(b[148:])
	return h.plausible()
}

// plausible bounds what a reader allocates.
func (h *Header) plausible() bool {
	switch h.Kind {
	case KindInline:
		return h.Size <= MaxInline && h.ProvenanceSize <= MaxProvenance
	case KindBlob:
		return h.Size <= 1<<62 && h.ProvenanceSize <= MaxProvenance
	case KindGroup:
		return h.Size <= MaxGroupBody && h.ProvenanceSize == 0 && h.Type <= MaxMembers
	default:
		return h.Kind < kinds && h.Size == 0 && h.ProvenanceSize <= MaxProvenance
	}
}

// Verify checks the payload of an inline record, or a group.
func (h *Header) Verify(payload []byte) error {
	if xxh3.Hash(payload) != h.Sum {
		return fmt.Errorf("%w: payload has a bad checksum", ErrDamaged)
	}
	return nil
}

// Fingerprint returns the part of a key that the index holds. Readers compare whole keys.
func Fingerprint(k key.Key) uint64 { return xxh3.Hash(k[:]) }
